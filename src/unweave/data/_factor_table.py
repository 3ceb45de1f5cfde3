"""The factors of own images: columns of whole numbers, real numbers or names.

A column of whole numbers takes the values it has; they are numbered 0, 1, … in
rising order and keep the originals as labels unless they are 0, 1, … already.
Names are numbered in alphabetical order and have no order of their own. Any
other column of numbers is continuous.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from unweave.data._dataset import Column, Factor
from unweave.errors import DataError
from unweave.files.arrays import ArrayArchive, Header, map_array, text_of
from unweave.files.csv_cells import read_csv_cells
from unweave.files.row_names import count_rows, lines_of, name_rows
from unweave.tables import WHOLE, as_numbers, is_missing, to_numpy

FILE_COLUMNS = ("file", "filename", "file_name", "path", "image", "image_id", "name")
"""A column of a CSV called so says which image a line is about."""
WHOLE_TABLES = ("factors", "labels", "latents_classes", "y", "targets")
"""Arrays of an .npz called so hold the factors, one column each."""
NAME_ARRAYS = ("factor_names", "latents_names", "label_names")
ID_COLUMNS = ("pair", "clip", "time", "segment")
"""Columns called so say which rows belong together; they are no factors."""
LABEL_COLUMN = "label"
"""A column whose name begins so may have empty cells; if it has any it is no factor."""
LARGEST_CSV = 2_000_000_000


class RowFacts(TypedDict):
    """What is known of the rows, as `FactorImages` takes it."""

    factors: tuple[Factor, ...]
    table: np.ndarray | None
    columns: tuple[Column, ...]


def as_factors(columns: Mapping[str, np.ndarray], count: int, where: str) -> RowFacts:
    """Turn columns into factors, their table (none for a full grid) and columns beside them."""
    factors, values, beside = [], [], []
    for name, column in columns.items():
        if len(column) != count:
            raise DataError(
                f"{where}: expected one value of {name!r} for each of the {count:,} images, "
                f"found {len(column):,}"
            )
        name = name.lower() if name.lower() in ID_COLUMNS else name
        if name in ID_COLUMNS or name.lower().startswith(LABEL_COLUMN):
            known, column = _known_part(column)
            if name in ID_COLUMNS or len(column) < count:
                beside.append(_beside(name, known, column, where))
                continue
        factor, indices = _as_factor(name, column, where)
        factors.append(factor)
        values.append(indices)
    facts = RowFacts(factors=tuple(factors), table=None, columns=tuple(beside))
    if factors:
        table = np.stack(values, axis=1)  # becomes float64 if any column is
        facts["table"] = None if _is_full_grid(factors, table) else table
    return facts


def _known_part(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows have a value, and those values."""
    if column.dtype == object:
        column = np.array(["" if value is None else str(value) for value in column])
    known = ~is_missing(column)
    return known, column[known]


def _beside(name: str, known: np.ndarray, column: np.ndarray, where: str) -> Column:
    if not len(column):
        raise DataError(f"{where}: column {name!r} is empty in every row; leave it out")
    factor, indices = _as_factor(name, column, where)
    values = np.full(len(known), np.nan if factor.continuous else -1, dtype=indices.dtype)
    values[known] = indices
    return Column(factor, values)


def as_columns(factors: Any, names: Sequence[str] | None, where: str) -> dict[str, np.ndarray]:
    """Read columns from a table in memory: a mapping of columns, or an array (row[, factor])."""
    if hasattr(factors, "items"):  # a dict or a data frame
        columns = {str(name): to_numpy(column) for name, column in factors.items()}
    else:
        array = to_numpy(factors)
        if array.ndim == 1:
            array = array[:, None]
        if array.ndim != 2:
            raise DataError(f"{where}: expected factors (row, factor), found shape {array.shape}")
        default = [f"factor_{i}" for i in range(array.shape[1])]
        columns = _named(names or default, array, where)
        names = None
    if names is not None:
        missing = [name for name in names if name not in columns]
        if missing:
            raise DataError(f"{where} has no factor {missing[0]!r}; it has {', '.join(columns)}")
        columns = {name: columns[name] for name in names}
    for name, column in columns.items():
        if column.ndim != 1:
            raise DataError(f"{where}: factor {name!r} has shape {column.shape}; expected one axis")
    return columns


def read_columns(path: Path, count: int, files: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Read the factors of `count` images from a CSV, .npy or .npz file.

    A CSV with a column of file names, whatever it is called, is matched to `files`; anything
    else has one line per image, in the order of the images.
    """
    path = path.expanduser()
    if not path.is_file():
        raise DataError(f"no such file of factors: {path}")
    suffix = path.suffix.lower()
    if suffix == ".npy":
        table = map_array(path)
        if len(table) != count or table.ndim > 2:
            raise DataError(
                f"{path} has shape {table.shape}; expected {count:,} lines, one per image"
            )
        return as_columns(np.array(table), None, str(path))
    if suffix == ".npz":
        columns = archive_columns(ArrayArchive(path), count, skip=())
        if not columns:
            raise DataError(f"{path} holds no array of {count:,} values; expected one per image")
        return columns
    return _read_csv(path, count, files)


def archive_columns(
    archive: ArrayArchive, count: int, skip: Sequence[str]
) -> dict[str, np.ndarray]:
    """Read the factors an .npz holds: one array of them all, or one array each.

    Arrays that are not one line per image, or are pickled, are no factors.
    """
    headers = {name: header for name, header in archive.headers().items() if name not in skip}
    known = {name.lower(): name for name in headers}
    for table in (known[called] for called in WHOLE_TABLES if called in known):
        shape = headers[table].shape
        if shape == (count,):
            return {table: archive.load(table)}
        if len(shape) == 2 and shape[0] == count:
            return as_columns(archive.load(table), _names_in(archive, headers), str(archive.path))
        raise DataError(
            f"{table!r} in {archive.path} has shape {shape}; expected {count:,} lines, "
            f"one per image"
        )
    return {
        name: archive.load(name) for name, header in headers.items() if header.shape == (count,)
    }


def _names_in(archive: ArrayArchive, headers: Mapping[str, Header]) -> list[str] | None:
    for name, header in headers.items():
        if name.lower() in NAME_ARRAYS and header.dtype.kind in "US":
            return [
                str(text) for text in text_of(archive.load(name).reshape(-1), str(archive.path))
            ]
    return None


def _named(names: Sequence[str], array: np.ndarray, where: str) -> dict[str, np.ndarray]:
    if len(names) != array.shape[1]:
        raise DataError(
            f"{where}: {len(names)} factor names for {array.shape[1]} columns of factors"
        )
    if len(set(names)) < len(names):
        raise DataError(f"{where}: two factors have the same name: {', '.join(names)}")
    return {str(name): array[:, i] for i, name in enumerate(names)}


def _as_factor(name: str, column: np.ndarray, where: str) -> tuple[Factor, np.ndarray]:
    if column.dtype == object and all(isinstance(value, str) for value in column):
        column = column.astype(str)
    if column.dtype.kind in "US":
        column = text_of(column, where)
        numbers = _as_numbers(column)
        if numbers is None:
            return _categories(name, column, where)
        column = numbers
    if column.dtype.kind not in "biuf":
        raise DataError(
            f"{where}: factor {name!r} holds {column.dtype}; expected numbers or strings"
        )
    if column.dtype.kind == "f":
        unusable = np.flatnonzero(~np.isfinite(column))
        if len(unusable):
            raise DataError(
                f"{where}: factor {name!r} is {column[unusable[0]]} in row {unusable[0]}; "
                f"every image needs a value "
                f"(missing='mask', --missing mask, keeps it beside the factors; a column that may "
                f"have gaps anyway is called label or label_{name})"
            )
        if (column != np.rint(column)).any() or abs(column).max() > 2**53:
            return Factor(name, 0), column.astype(np.float64)
    values, indices = np.unique(column, return_inverse=True)
    values = values.astype(object)  # whole numbers as Python's, whatever their type was
    labels = tuple(str(int(value)) for value in values)
    plain = labels == tuple(map(str, range(len(labels))))
    factor = Factor(name, len(values), None if plain else labels)
    return factor, indices.reshape(-1).astype(np.int64)


def _categories(name: str, column: np.ndarray, where: str) -> tuple[Factor, np.ndarray]:
    blank = np.flatnonzero(is_missing(column))
    if len(blank):
        found = column[blank[0]].strip() or "empty"
        raise DataError(
            f"{where}: factor {name!r} is {found} in row {blank[0]}; every image needs a value "
            f"(--missing mask, or missing='mask', keeps it beside the factors; a column that may "
            f"have gaps anyway is called label or label_{name})"
        )
    labels, indices = np.unique(column, return_inverse=True)
    factor = Factor(name, len(labels), tuple(map(str, labels)), categorical=True)
    return factor, indices.reshape(-1).astype(np.int64)


def _as_numbers(column: np.ndarray) -> np.ndarray | None:
    """Return words as numbers; None if they are names, as whole numbers of any length are."""
    try:
        return column.astype(np.int64)
    except (ValueError, OverflowError):
        if all(WHOLE.fullmatch(word.strip()) for word in map(str, column)):
            return None
        return as_numbers(column)


def _is_full_grid(factors: Sequence[Factor], table: np.ndarray) -> bool:
    """Whether every combination is there once and in order, the last factor fastest."""
    sizes = tuple(factor.size for factor in factors)
    total = 1
    for size in sizes:
        total *= size  # Python's integers do not overflow
    if total != len(table):
        return False
    return bool((table == np.stack(np.unravel_index(np.arange(total), sizes), axis=1)).all())


def _read_csv(path: Path, count: int, files: Sequence[str] | None) -> dict[str, np.ndarray]:
    lines = read_csv_cells(path, LARGEST_CSV)
    header = lines[0][1] if lines else []
    _check_header(header, path)
    rows = [cells for _, cells in lines[1:]]
    columns = {
        name: np.array([cells[i] for cells in rows], dtype=str) for i, name in enumerate(header)
    }
    file_column = next((name for name in header if name.lower() in FILE_COLUMNS), None)
    if file_column is None or files is None:
        file_column = _naming_column(columns, files, path)
    if file_column is None or files is None:
        if len(rows) != count:
            raise DataError(
                f"{path} has {len(rows):,} lines after its header for {count:,} images. Give "
                f"one line per image, in order, or a column 'file' with their names"
            )
        return columns
    order = lines_of(files, columns.pop(file_column), path)
    if not columns:
        raise DataError(f"{path} has no column besides the file names; expected factors")
    return {name: column[order] for name, column in columns.items()}


def _check_header(header: Sequence[str], path: Path) -> None:
    if not header or not all(header):
        raise DataError(f"{path} must begin with a line that names every column")
    if len(set(header)) < len(header):
        raise DataError(f"{path} has two columns of the same name: {', '.join(header)}"[:300])
    if _as_numbers(np.array(header)) is not None:
        raise DataError(
            f"{path} begins with numbers ({', '.join(header[:5])}); its first line must name "
            f"the columns"
        )


def _naming_column(
    columns: Mapping[str, np.ndarray], files: Sequence[str] | None, path: Path
) -> str | None:
    """Find the column that names images whatever it is called, or refuse to go by the order."""
    naming = [
        name
        for name, column in columns.items()
        if name.lower() not in ID_COLUMNS and name_rows(name, column)
    ]
    for name in naming:
        if files is None:
            if count_rows(list(columns[name])):
                continue
            raise DataError(
                f"{path}: column {name!r} names images ({columns[name][0]!r}), but images of an "
                "array have no names. Leave the column out if lines are in the order of the images"
            )
        try:
            lines_of(files, columns[name], path)
        except DataError:
            continue
        return name
    left = [name for name in naming if not count_rows(list(columns[name]))]
    if left:
        raise DataError(
            f"{path}: column {left[0]!r} has another word in each line ({columns[left[0]][0]!r}), "
            f"which match no images such as {(files or [''])[0]!r}. Name the images in a column "
            "'file', or leave the column out if lines are in the order of the images"
        )
    return None
