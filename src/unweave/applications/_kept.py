"""What run folders keep of applications: applications/NAME.json and NAME.png.

A folder may come from anywhere, so what is read back is checked: words and numbers, not too
many of them, of applications that there are.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unweave import catalog
from unweave.applications._applied import Applied, ResultTable
from unweave.errors import DataError, shown
from unweave.files.json_files import read_json
from unweave.runs.run import Run

FOLDER = "applications"
PACKAGE = "unweave.applications"
MOST_LINES, MOST_COLUMNS, LONGEST = 2_000, 40, 20_000


@dataclass(frozen=True)
class Kept:
    """One application as a run folder keeps it."""

    name: str
    model: str
    step: int
    paragraph: str
    caveats: tuple[str, ...]
    tables: tuple[ResultTable, ...]
    picture: Path | None


def names() -> tuple[str, ...]:
    """Return the applications that there are."""
    return catalog.own_names(PACKAGE)


def keep(run: Run, applied: Applied) -> list[Path]:
    """Write a result into the folder of its run."""
    return applied.save(run.path / FOLDER)


def kept_by(run: Run) -> list[Kept]:
    """Return what a run's folder keeps, in the order of the names."""
    if run.folder is None:
        return []
    return kept_in(run.path / FOLDER)


def kept_in(folder: Path, model: str | None = None) -> list[Kept]:
    """Return what a folder keeps, in the order of the names; of one model, if it is named."""
    files = [folder / f"{name}.json" for name in names()]
    found = [_read(file) for file in files if _is_own(file)]
    return [kept for kept in found if model is None or kept.model == model]


def _is_own(file: Path) -> bool:
    """Whether a file is there and no link, which could show a page what is elsewhere."""
    return file.is_file() and not file.is_symlink() and not file.parent.is_symlink()


def _read(file: Path) -> Kept:
    content = read_json(file)
    if not isinstance(content, dict):
        raise DataError(f"{file}: expected the result of an application, found {shown(content)}")
    step = content.get("step")
    if type(step) is not int or step < 0:
        raise DataError(f"{file}: expected a step of 0 or more, found {shown(step)}")
    caveats = content.get("caveats")
    tables = content.get("tables")
    if not isinstance(caveats, list) or not isinstance(tables, list):
        raise DataError(f"{file}: expected lists of caveats and tables")
    picture = file.with_suffix(".png")
    return Kept(
        file.stem,
        _words(content.get("model"), file),
        step,
        _words(content.get("paragraph"), file),
        tuple(_words(caveat, file) for caveat in caveats[:MOST_LINES]),
        tuple(_table(table, file) for table in tables[:MOST_LINES]),
        picture if _is_own(picture) else None,
    )


def _table(table: Any, file: Path) -> ResultTable:
    if not isinstance(table, dict) or not all(
        isinstance(table.get(key), list) for key in ("header", "lines")
    ):
        raise DataError(f"{file}: expected a table with header and lines, found {shown(table)}")
    header = tuple(_words(cell, file) for cell in table["header"][:MOST_COLUMNS])
    lines = []
    for line in table["lines"][:MOST_LINES]:
        if not isinstance(line, list) or len(line) != len(header):
            raise DataError(f"{file}: expected lines of {len(header)} cells, found {shown(line)}")
        lines.append(tuple(_cell(cell, file) for cell in line))
    return ResultTable(_words(table.get("title"), file), header, tuple(lines))


def _cell(cell: Any, file: Path) -> Any:
    if cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)):
        return cell
    return _words(cell, file)


def _words(value: Any, file: Path) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise DataError(f"{file}: expected words, found {shown(value)}")
    return value
