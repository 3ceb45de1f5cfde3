"""Parts of pages that escape what they are given."""

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

from unweave.pages.downloads import MARKUP, downloads, table_files
from unweave.pages.html import Html, data_url, join, tag
from unweave.pages.numbering import FIGURE, TABLE

LARGE_PICTURE = 300_000  # bytes of PNG from which a lossy format is tried
MANY_LETTERS = 30  # from which a cell is a sentence or a long name
NUMBERS = re.compile(r"[-–−+±×≤≥~]?[\d–][-–−+±×.,:%\[\]()\d\s]*")
"""What a cell of figures looks like: 3, 0.25 ± 0.01, 0.250 [0.200, 0.300], 12 %, –."""


def table(
    header: Sequence[Any],
    lines: Sequence[Sequence[Any]],
    class_: str | None = None,
    *,
    title: str = "",
    number: bool = True,
) -> Html:
    """Return a table in a box that scrolls by itself where the page is narrow.

    With a title it can be had as files, called after its first words, and is numbered unless it
    is folded away.
    """
    head = tag("thead", tag("tr", [tag("th", cell, scope="col") for cell in header]))
    body = tag("tbody", [tag("tr", [_cell(cell) for cell in line]) for line in lines])
    inner = tag("table", head if any(header) else None, body, class_=class_)
    named = re.split("[.:]", title)[0] or "table"
    box = tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=named)
    if not title:
        return box
    files = downloads(named, table_files(header, lines), number=number)
    mark = TABLE if number else None
    return tag("figure", tag("figcaption", mark, title, files), box, class_="tabled")


def _cell(content: Any) -> Html:
    """Return a cell: figures stay in one line, and many words get room."""
    if isinstance(content, str) and NUMBERS.fullmatch(content):
        return tag("td", content, class_="number")
    lines = [line for line in MARKUP.split(content) if line] if isinstance(content, Html) else ()
    longest = max(map(len, lines), default=0) if lines else len(str(content))
    return tag("td", content, class_="words" if longest > MANY_LETTERS else None)


def section(title: str, *children: Any, level: int = 2) -> Html:
    """Return a part of the page with its heading; nothing if it has no content.

    Contents of the page name those of level 2.
    """
    content = join(*children)
    if not content:
        return Html("")
    return tag("section", tag(f"h{level}", title), content)


def figure(
    source: str,
    caption: Any,
    alternative: str,
    width: int | None = None,
    files: Mapping[str, bytes] | None = None,
    number: bool = True,
) -> Html:
    """Return a picture with what it shows in words; `files` are it by the ending of a file."""
    image = tag("img", src=source, alt=alternative, width=width)
    box = tag("div", image, class_="scroll", tabindex="0", role="region", aria_label=alternative)
    offered = downloads(alternative, files or {}, number=number)
    return tag("figure", box, tag("figcaption", FIGURE if number else None, caption, offered))


def folded(summary: str, *children: Any, class_: str | None = None) -> Html:
    """Return what opens on a click; on paper it is open, but for what moves (`moving`)."""
    content = join(*children)
    if not content:
        return Html("")
    return tag("details", tag("summary", summary), content, class_=class_)


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
