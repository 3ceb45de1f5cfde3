"""Read tables of codes or factors from npy, npz, csv and parquet files.

Files may come from anywhere: nothing in them is executed, headers are checked
against the bytes that are there, and what would unpack to more than `LIMIT` bytes
is refused before it is unpacked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import ConfigError, DataError, listed, shown
from unweave.files.arrays import ArrayArchive, map_array, text_of
from unweave.files.csv_cells import LONGEST_WORD, read_csv_cells
from unweave.files.parquet_files import read_parquet
from unweave.files.row_names import matching_rows, name_rows
from unweave.tables import as_numbers, is_missing

LIMIT = 8 << 30
"""Most bytes that a table may take in memory."""

USUAL_KEYS = ("codes", "factors", "mean", "latents", "latents_classes")


@dataclass(frozen=True)
class NamedTable:
    """A table with a name for each column; columns of words are numbered by class."""

    values: NDArray[Any]
    names: tuple[str, ...]
    classes: dict[str, tuple[str, ...]]
    """The words of columns that held words, in the order of their numbers."""
    lines: tuple[int, ...] = ()
    """Where each row stands in the file, if it is a text file."""
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns that name the rows (file names, ids); they are no part of the values."""


def read_codes(path: str | Path, *, key: str | None = None, limit: int = LIMIT) -> NamedTable:
    """Read a table of numbers; a column of words is refused."""
    table = _read(Path(path), key, limit)
    if table.classes:
        column = next(iter(table.classes))
        raise DataError(
            f"{path}: codes must be numbers, but column {column!r} holds words such as "
            f"{table.classes[column][0]!r}. Leave the column out, or pass it as a factor."
        )
    if Path(path).suffix.lower() not in (".npy", ".npz"):  # their NaN are numbers gone wrong
        _refuse_missing(table, str(path), "Fill them in or leave the rows out.")
    return table


def read_factors(
    path: str | Path, *, key: str | None = None, limit: int = LIMIT, missing: str = "refuse"
) -> NamedTable:
    """Read a table of factors; words become class numbers, in alphabetical order.

    Missing values are refused, with their place, or become NaN (`missing="mask"`).
    """
    table = _read(Path(path), key, limit)
    if missing == "refuse":
        way_out = (
            'Fill them in, leave the rows out, or say missing="mask" (--missing mask) to score '
            "each factor on the rows that have it."
        )
        _refuse_missing(table, str(path), way_out)
    return table


def in_rows_of(
    table: NamedTable, path: str | Path, codes: NamedTable, codes_path: str | Path
) -> NamedTable:
    """Bring a table into the order of the codes by the columns that name the rows of both.

    A table that names its rows is never taken by order, unless the names count them.
    """
    order = matching_rows(codes.keys, table.keys, codes_path, path)
    if order is None:
        return table
    lines = tuple(table.lines[row] for row in order) if table.lines else ()
    return replace(table, values=table.values[order], lines=lines)


def _refuse_missing(table: NamedTable, path: str, way_out: str) -> None:
    absent = np.isnan(table.values) if table.values.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if not absent.any():
        return
    rows, columns = np.nonzero(absent)
    word = "line" if table.lines else "row"
    places = [
        f"{word} {table.lines[row] if table.lines else row} ({table.names[column]!r})"
        for row, column in zip(rows[:3].tolist(), columns[:3].tolist(), strict=True)
    ]
    count = (
        f"1 value of {absent.size:,} is"
        if len(rows) == 1
        else (f"{len(rows):,} values of {absent.size:,} are")
    )
    more = ", …" if len(rows) > 3 else ""
    raise DataError(f"{path}: {count} missing, in {', '.join(places)}{more}. {way_out}")


def _read(path: Path, key: str | None, limit: int) -> NamedTable:
    readers: dict[str, Callable[[Path, str | None, int], NamedTable]] = {
        ".npy": _read_npy,
        ".npz": _read_npz,
        ".csv": _read_csv,
        ".tsv": _read_csv,
        ".parquet": _read_parquet,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(readers)
        raise ConfigError(f"cannot read {path.name!r}: expected a file ending in {known}.")
    if not path.is_file():
        raise DataError(f"no file at {path}. Check the path.")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty. Write it again.")
    if key is not None and reader is not _read_npz:
        raise ConfigError(f"{path.name!r} holds one table, so it has no array named {key!r}.")
    return reader(path, key, limit)


def _read_npy(path: Path, key: str | None, limit: int) -> NamedTable:
    return _named(np.array(map_array(path, limit)), path)


def _read_npz(path: Path, key: str | None, limit: int) -> NamedTable:
    archive = ArrayArchive(path)
    chosen = _choose_key(archive.names, key, path)
    table = _named(archive.load(chosen, limit), path)
    keys = dict(table.keys)
    for name, header in archive.headers().items():
        if name == chosen:
            continue
        if header.shape == (len(table.values),) and header.dtype.kind in "USiu":
            column = archive.load(name, limit)
            column = text_of(column, str(path)) if column.dtype.kind in "US" else column
            if name_rows(name, column):
                keys[name] = tuple(str(word) for word in column)
    return replace(table, keys=keys)


def _choose_key(members: Sequence[str], key: str | None, path: Path) -> str:
    if not members:
        raise DataError(f"{path} holds no array. Save it with numpy.savez.")
    if key is not None:
        if key not in members:
            raise DataError(f"{path} has no array {key!r}; it has {listed(members)}.")
        return key
    if len(members) == 1:
        return members[0]
    usual = [name for name in USUAL_KEYS if name in members]
    if len(usual) == 1:
        return usual[0]
    raise DataError(
        f"{path} has several arrays: {listed(members)}. Say which one, e.g. key={members[0]!r}."
    )


def _read_csv(path: Path, key: str | None, limit: int) -> NamedTable:
    lines = read_csv_cells(path, limit)
    first = lines[0][1] if lines else []
    # The first line holds names when no cell of it is a number.
    has_names = bool(first) and not any(_is_number(cell) for cell in first)
    names = first if has_names else [f"column_{index}" for index in range(len(first))]
    body = lines[1:] if has_names else lines
    if not body:
        raise DataError(f"{path} has no rows of data.")
    columns = [np.array(column) for column in zip(*(row for _, row in body), strict=True)]
    return replace(_join(columns, names), lines=tuple(line for line, _ in body))


def _read_parquet(path: Path, key: str | None, limit: int) -> NamedTable:
    columns = read_parquet(path, limit)
    if not columns or not len(next(iter(columns.values()))):
        raise DataError(f"{path} has no rows of data.")
    for name, column in columns.items():
        if column.dtype == object:
            longest = max((len(word) for word in column if isinstance(word, str)), default=0)
            if longest > LONGEST_WORD:
                raise DataError(
                    f"{path}: column {shown(name)} has a word of {longest:,} characters; at most "
                    f"{LONGEST_WORD:,} are read."
                )
    return _join(list(columns.values()), list(columns), limit)


def _named(array: NDArray[Any], path: Path) -> NamedTable:
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise DataError(f"{path}: expected a table (row, column); found shape {array.shape}.")
    names = [f"column_{index}" for index in range(array.shape[1])]
    if array.dtype.kind in "US":
        return _join(list(text_of(array, str(path)).T), names)
    return NamedTable(array, tuple(names), {})


def _join(columns: list[NDArray[Any]], names: list[str], limit: int = LIMIT) -> NamedTable:
    numbers, classes = [], {}
    keys = {
        name: tuple(str(word).strip() for word in column)
        for column, name in zip(columns, names, strict=True)
        if column.dtype.kind not in "fb" and name_rows(name, column)
    }
    if len(keys) == len(names):
        raise DataError(f"no column holds values: {', '.join(names)} name the rows.")
    for column, name in zip(columns, names, strict=True):
        if name in keys:
            continue
        if column.dtype.kind in "fiub":
            numbers.append(column)
            continue
        absent = is_missing(column)
        words = _as_words(column[~absent], name, limit)
        values: NDArray[Any]
        if (read := as_numbers(words)) is not None:
            values = read
        else:
            known, values = np.unique(words, return_inverse=True)
            classes[name] = tuple(str(word) for word in known)
        if absent.any():
            parsed = np.full(len(column), np.nan)
            parsed[~absent] = values
            numbers.append(parsed)
            continue
        whole = np.isfinite(values).all() and (values == np.round(values)).all()
        numbers.append(values.astype(np.int64) if whole and _is_small(values) else values)
    kept = tuple(name for name in names if name not in keys)
    return NamedTable(np.stack(numbers, axis=1), kept, classes, keys=keys)


def _as_words(column: NDArray[Any], name: str, limit: int) -> NDArray[np.str_]:
    """Return entries as words; an array gives each as much room as the longest has."""
    if column.dtype == object:
        longest = max((len(str(word)) for word in column), default=0)
        if 4 * longest * len(column) > limit:
            raise DataError(
                f"the words of column {shown(name)} would take "
                f"{4 * longest * len(column) / 2**30:.1f} GiB; number them instead."
            )
    return column.astype(str)


def _is_small(numbers: NDArray[Any]) -> bool:
    return bool(np.abs(numbers).max(initial=0.0) < 2**53)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
