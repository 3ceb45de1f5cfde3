"""Pages built from parts that escape what they are given."""

import base64
import io
from html import escape
from typing import Any

from PIL import Image

LARGE_PICTURE = 300_000  # bytes of PNG from which a lossy format is tried


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


def table(header: list[Any], lines: list[list[Any]], class_: str | None = None) -> Html:
    """Return a table in a box that scrolls by itself where the page is narrow."""
    head = tag("thead", tag("tr", [tag("th", cell, scope="col") for cell in header]))
    body = tag("tbody", [tag("tr", [tag("td", cell) for cell in line]) for line in lines])
    inner = tag("table", head if any(header) else None, body, class_=class_)
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label="table")


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


STYLE = """
:root { color-scheme: light; --ink: #1f2328; --soft: #59636e; --line: #d8dee4; --accent: #0072B2; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 1.5rem 1.25rem 4rem; color: var(--ink);
  background: #fff; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1.02rem; margin: 1.5rem 0 .5rem; }
p { max-width: 46rem; }
.soft, figcaption { color: var(--soft); }
figure { margin: 1rem 0 1.5rem; }
figcaption { font-size: .9rem; margin-top: .4rem; max-width: 46rem; }
img { display: block; max-width: 100%; height: auto; }
/* Narrow pages scroll what would be too small to read. */
.plot img { max-width: max(100%, 34rem); }
.pictures img { max-width: none; }
@media (min-width: 900px) { .pictures img { max-width: 100%; } }
.scroll { overflow-x: auto; }
.scroll:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .9rem .35rem 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; white-space: nowrap; }
table.numbers th { white-space: normal; vertical-align: bottom; }
table.numbers td { white-space: nowrap; font-variant-numeric: tabular-nums; }
table.numbers .name { display: inline-block; min-width: 11rem; white-space: normal;
  overflow-wrap: anywhere; }
table.scores td:nth-child(2) { white-space: nowrap; font-variant-numeric: tabular-nums; }
table.scores td:nth-child(5) { min-width: 16rem; }
@media (max-width: 700px) {
  table.scores, table.scores tbody, table.scores tr, table.scores td { display: block; }
  table.scores thead { display: none; }
  table.scores tr { border-bottom: 1px solid var(--line); padding: .6rem 0; }
  table.scores td { border: 0; padding: .05rem 0; }
  table.scores td:nth-child(1), table.scores td:nth-child(2) { display: inline-block;
    font-weight: 600; margin-right: 1rem; }
  table.scores td:nth-child(3):not(:empty)::after { content: " is better"; }
}
.warnings { margin: 1rem 0; padding: .75rem 1rem .75rem 2.2rem; border: 1px solid #e2b873;
  border-left: 5px solid #E69F00; background: #fff9ec; border-radius: 4px; }
.fine { margin: 1rem 0; padding: .75rem 1rem; border: 1px solid var(--line);
  border-left: 5px solid #009E73; border-radius: 4px; }
pre { background: #f6f8fa; border: 1px solid var(--line); border-radius: 4px; padding: .8rem 1rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .88rem; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
details { margin: 1rem 0; } summary { cursor: pointer; color: var(--accent); padding: .25rem 0; }
nav a { margin-right: 1rem; display: inline-block; } a { color: var(--accent); }
@media print { .scroll { overflow: visible; } }
"""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page(title: str, *children: Any) -> str:
    """Return a whole page that may load nothing."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("title", title),
        tag("style", Html(STYLE)),
    )
    body = tag("body", tag("main", *children))
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"
