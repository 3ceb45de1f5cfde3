"""What a page says that cannot be made again, because the folders of its runs are elsewhere.

A page made of lines of a table alone would lose what needs the networks: scores without labels,
and traversals. Such parts of the page that stands there are kept as they are.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from unweave.studies.report.blocks import Block, Cells, Heading, Picture, Text
from unweave.studies.report.naming import headed

_PICTURE = re.compile(r"!\[(?P<caption>[^\]]*)\]\((?P<file>[^)]+)\.png\)")
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")


def section(page: Path, heading: str) -> Iterator[Block]:
    """Yield a section of a page that was written as Markdown; nothing if it is not there."""
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    found = re.search(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE
    )
    if found is None:
        return
    yield Heading(heading)
    for part in found[1].strip().split("\n\n"):
        if picture := _PICTURE.fullmatch(part):
            file = page.parent / f"{picture['file']}.png"
            if file.is_file():
                yield Picture(file.stem, file.read_bytes(), picture["caption"])
        elif part.startswith("| "):
            header, _, *lines = [_cells(line) for line in part.splitlines()]
            yield Cells([_as_headed_now(cell) for cell in header], lines, heading)
        elif not part.startswith("*"):  # the caption once more
            yield Text(part)


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _BETWEEN_CELLS.split(line)[1:-1]]


def _as_headed_now(cell: str) -> str:
    before, said, metric = cell.rpartition("ρ with ")
    return before + said + headed(metric)


def versions(page: Path) -> str:
    """Return with which versions the page says that its runs were made."""
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    found = re.search(r"^Versions: (.+?)\. Intervals are", text, re.MULTILINE)
    return found[1] if found else ""
