"""The cells of a CSV file, before anyone says what they mean.

Commas, semicolons and tabs are told apart by the first line. Nothing is read that is
larger than the caller allows, and lines of another length than the first are refused.
"""

import csv
from pathlib import Path

from unweave.errors import DataError


def read_csv_cells(path: Path, limit: int) -> list[tuple[int, list[str]]]:
    """Return the lines that are not empty, each with its number and its stripped cells."""
    size = path.stat().st_size
    if size > limit:
        raise DataError(
            f"{path} has {size / 2**30:.1f} GiB; at most {limit / 2**30:.1f} GiB of CSV are read. "
            "Save it as .npy."
        )
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            delimiter = max(",;\t", key=first.count)
            file.seek(0)
            lines = [
                (number, [cell.strip() for cell in cells])
                for number, cells in enumerate(csv.reader(file, delimiter=delimiter), 1)
                if cells
            ]
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise DataError(f"{path} is not a readable CSV file in UTF-8 ({error}).") from error
    for number, cells in lines:
        if len(cells) != len(lines[0][1]):
            raise DataError(
                f"{path}, line {number} has {len(cells)} cells; expected {len(lines[0][1])}."
            )
    return lines
