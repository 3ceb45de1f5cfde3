"""The files of the page, and how they are put together for a server or into one file.

Scripts import each other as `unweave/NAME`; an import map says where that is: an
address of the server, or text inside the one file. So nothing has to be bundled.
"""

import base64
import hashlib
import json
from pathlib import Path

from unweave.pages import LOOK

HERE = Path(__file__).parent
STYLES = (LOOK, HERE / "page" / "style.css")
FILES = {
    path.name: path
    for path in (LOOK, *sorted((HERE / "page").iterdir()), *sorted((HERE / "runtime").iterdir()))
    if path.suffix in (".js", ".mjs", ".css", ".gz")
}
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css"}

_IMPORT_MAP = json.dumps({"imports": {"unweave/": "/page/"}})
_MAP_HASH = base64.b64encode(hashlib.sha256(_IMPORT_MAP.encode()).digest()).decode()

POLICY = (
    f"default-src 'none'; script-src 'self' 'sha256-{_MAP_HASH}' 'wasm-unsafe-eval'; "
    "style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def media_type(path: Path) -> str:
    return TYPES.get(path.suffix, "application/octet-stream")


def page_html() -> str:
    return (HERE / "page" / "page.html").read_text(encoding="utf-8")


def served_page() -> str:
    """Return the page that reads scripts and figures from the server."""
    links = "".join(f'<link rel="stylesheet" href="/page/{path.name}">\n' for path in STYLES)
    head = (
        links + f'<script type="importmap">{_IMPORT_MAP}</script>\n'
        '<script type="module" src="/page/main.js"></script>'
    )
    return page_html().replace("<!-- head -->", head)


def single_page(data: dict[str, str]) -> str:
    """Return the page with scripts, style and the given texts inside; it asks for nothing."""
    scripts = {
        f"unweave/{name}": f"data:text/javascript;base64,{_base64(path.read_bytes())}"
        for name, path in FILES.items()
        if path.suffix in (".js", ".mjs")
    }
    style = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    policy = (
        "default-src 'none'; script-src 'unsafe-inline' data: 'wasm-unsafe-eval'; "
        "style-src 'unsafe-inline'; img-src data: blob:"
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<style>\n{style}</style>\n"
        f'<script type="importmap">{json.dumps({"imports": scripts})}</script>\n'
        '<script type="module">import "unweave/static_main.js";</script>'
    )
    inside = "\n".join(
        f'<script type="text/plain" id="{name}">{text}</script>' for name, text in data.items()
    )
    return page_html().replace("<!-- head -->", head).replace("<!-- data -->", inside)


def runtime_text() -> str:
    """Return the compressed runtime as text."""
    return _base64(FILES["ort.wasm.gz"].read_bytes())


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
