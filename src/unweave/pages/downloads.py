"""Figures and tables as files that a page holds in itself, and offers to be saved."""

import base64
import csv
import io
import re
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

from unweave.pages.html import Html, data_url, tag
from unweave.pages.latex import latex_table, latex_text
from unweave.pages.numbering import FILE

KINDS = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "tex": "application/x-tex",
    "bib": "application/x-bibtex",
}
NAMES = {"tex": "LaTeX", "bib": "BibTeX"}
"""What a kind of file is called; others by their ending."""
LARGEST = 400_000
"""Bytes of a file from which a page does not offer it: it is to stay small enough to mail."""
OFFERED = re.compile(r'<a href="data:[^"]*?;base64,([^"]*)" download="([^"]+)"')
MARKUP = re.compile(r"<[^>]*>")


def downloads(name: str, files: Mapping[str, bytes], *, number: bool = True) -> Html | None:
    """Return links that save files, each called after the number and name of what it shows."""
    first = FILE if number else ""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "file"
    links = [
        Html(
            f'<a href="{data_url(content, KINDS[ending])}" '
            f'download="{first}{plain}.{ending}">{NAMES.get(ending, ending.upper())}</a>'
        )
        for ending, content in files.items()
        if len(content) <= LARGEST
    ]
    return tag("span", links, class_="files") if links else None


def files_in(page: str) -> dict[str, bytes]:
    """Return the files that a page offers, by their names."""
    return {found[2]: base64.b64decode(found[1]) for found in OFFERED.finditer(page)}


def table_files(header: Sequence[Any], lines: Sequence[Sequence[Any]]) -> dict[str, bytes]:
    """Return a table as comma-separated values and for LaTeX."""
    rows = [[words_of(cell) for cell in line] for line in lines]
    head = [words_of(cell) for cell in header]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows] if any(head) else rows)
    typeset = latex_table(
        [latex_text(cell) for cell in head], [[latex_text(c) for c in row] for row in rows]
    )
    return {"csv": text.getvalue().encode(), "tex": (typeset + "\n").encode()}


def words_of(cell: Any) -> str:
    """Return the words of a cell, without any markup in it."""
    if not isinstance(cell, Html):
        return str(cell)
    parts = unescape(MARKUP.sub(" ", cell.replace("<div", "; <div")))
    return " ".join(parts.split()).strip("; ").replace(" ;", ";")
