"""The cells of a CSV file, before anyone says what they mean.

Commas, semicolons and tabs are told apart by the first line. Nothing is read that is
larger than the caller allows, and lines of another length than the first are refused, as
are more columns than a table has and longer words than a class is called.
"""

import csv
from pathlib import Path

from unweave.errors import DataError, reason

MOST_COLUMNS = 20_000
"""More than an image of 64 × 64 pixels in colour has values."""
LONGEST_WORD = 1_000
"""Characters; an array gives every entry of a column as much room as the longest has."""


def read_csv_cells(path: Path, limit: int) -> list[tuple[int, list[str]]]:
    """Return the lines that are not empty, each with its number and its stripped cells."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    if size > limit:
        raise DataError(
            f"{path} has {size / 2**30:.1f} GiB; at most {limit / 2**30:.1f} GiB of CSV are read. "
            "Save it as .npy."
        )
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            delimiter = max(",;\t", key=first.count)
            if (columns := first.count(delimiter) + 1) > MOST_COLUMNS:
                raise DataError(
                    f"{path} has {columns:,} columns; at most {MOST_COLUMNS:,} are read. "
                    "Save it as .npy."
                )
            file.seek(0)
            lines = [
                (number, [cell.strip() for cell in cells])
                for number, cells in enumerate(csv.reader(file, delimiter=delimiter), 1)
                if cells
            ]
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise DataError(f"{path} is not a readable CSV file in UTF-8 ({reason(error)}).") from error
    for number, cells in lines:
        if (longest := max(map(len, cells))) > LONGEST_WORD:
            raise DataError(
                f"{path}, line {number} has a cell of {longest:,} characters; at most "
                f"{LONGEST_WORD:,} are read."
            )
        if len(cells) != len(lines[0][1]):
            raise DataError(
                f"{path}, line {number} has {len(cells)} cells; expected {len(lines[0][1])}."
            )
    return lines
