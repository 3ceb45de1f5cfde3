"""Renew the measured parts of a page, which stand between marks; the words around them stay."""

from collections.abc import Mapping
from pathlib import Path


def renew(page: Path, parts: Mapping[str, str]) -> None:
    """Write each part between its marks, <!-- name --> and <!-- end of name -->."""
    text = page.read_text(encoding="utf-8")
    for name, part in parts.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, rest = text.split(start)
        text = f"{before}{start}\n\n{part}\n\n{end}{rest.split(end)[1]}"
    page.write_text(text, encoding="utf-8")


def part_of(page: Path, name: str) -> str:
    """Return what stands between the marks of a part."""
    rest = page.read_text(encoding="utf-8").split(f"<!-- {name} -->")[1]
    return rest.split(f"<!-- end of {name} -->")[0]
