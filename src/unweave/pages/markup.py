"""Parts of pages that escape what they are given."""

import base64
import io
import re
from collections.abc import Sequence
from html import escape
from typing import Any

from PIL import Image

LARGE_PICTURE = 300_000  # bytes of PNG from which a lossy format is tried
MANY_LETTERS = 30  # from which a cell is a sentence or a long name
NUMBERS = re.compile(r"[-–−+±×≤≥~]?[\d–][-–−+±×.,:%\[\]()\d\s]*")
"""What a cell of figures looks like: 3, 0.25 ± 0.01, 0.250 [0.200, 0.300], 12 %, –."""


class Html(str):
    """Text that is markup already; any other text is escaped."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Return an element; `class_` is the attribute class, None leaves an attribute out."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in ("img", "meta", "br"):
        return Html(f"<{name}{words}>")
    return Html(f"<{name}{words}>{join(*children)}</{name}>")


def join(*children: Any) -> Html:
    """Put parts one after the other; lists are joined too, None is nothing."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, list | tuple):
            parts.append(join(*child))
        else:
            parts.append(child if isinstance(child, Html) else escape(str(child)))
    return Html("".join(parts))


def table(header: Sequence[Any], lines: Sequence[Sequence[Any]], class_: str | None = None) -> Html:
    """Return a table in a box that scrolls by itself where the page is narrow."""
    head = tag("thead", tag("tr", [tag("th", cell, scope="col") for cell in header]))
    body = tag("tbody", [tag("tr", [_cell(cell) for cell in line]) for line in lines])
    inner = tag("table", head if any(header) else None, body, class_=class_)
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label="table")


def _cell(content: Any) -> Html:
    """Return a cell: figures stay in one line, and many words get room."""
    if isinstance(content, str) and NUMBERS.fullmatch(content):
        return tag("td", content, class_="number")
    return tag("td", content, class_="words" if len(str(content)) > MANY_LETTERS else None)


def section(title: str, *children: Any, level: int = 2) -> Html:
    """Return a part of the page with its heading; nothing if it has no content."""
    content = join(*children)
    if not content:
        return Html("")
    return tag("section", tag(f"h{level}", title), content)


def figure(source: str, caption: Any, alternative: str, width: int | None = None) -> Html:
    """Return a picture with what it shows in words."""
    image = tag("img", src=source, alt=alternative, width=width)
    box = tag("div", image, class_="scroll", tabindex="0", role="region", aria_label=alternative)
    return tag("figure", box, tag("figcaption", caption))


def folded(summary: str, *children: Any) -> Html:
    """Return what opens on a click."""
    content = join(*children)
    return tag("details", tag("summary", summary), content) if content else Html("")


def picture_url(picture: Image.Image) -> str:
    """Return pixels as a data URL: PNG, or WebP where that is much smaller."""
    content = io.BytesIO()
    picture.save(content, "PNG", optimize=True)
    if len(content.getvalue()) <= LARGE_PICTURE:
        return data_url(content.getvalue(), "image/png")
    smaller = io.BytesIO()
    picture.save(smaller, "WEBP", quality=85)
    if len(smaller.getvalue()) < len(content.getvalue()):
        return data_url(smaller.getvalue(), "image/webp")
    return data_url(content.getvalue(), "image/png")


def data_url(content: bytes, kind: str) -> str:
    """Return a file's content as an address that needs no network."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
