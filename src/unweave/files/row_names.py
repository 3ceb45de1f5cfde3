"""Columns that name rows, and the rows of two tables matched by them.

A column of file names or ids says which sample a row is about. Rows are matched by it, never
by their order: two tables that were sorted differently would give labels of other samples.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from unweave.errors import DataError

NAMES = (
    *("id", "index", "idx", "row", "key", "name", "sample", "sample_id", "image", "image_id"),
    *("file", "filename", "file_name", "path"),
)
"""Columns of whole numbers or of few words called so name rows, if no entry comes twice."""

FEWEST = 8
"""Rows from which on words of which none comes twice are names of rows."""

PLACE = re.compile(
    r".*[/\\].*|.*\.(png|jpe?g|gif|bmp|webp|tiff?|pgm|ppm|npy|npz|pt)", re.IGNORECASE
)


def name_rows(name: str, column: np.ndarray) -> bool:
    """Say whether a column names rows: words of which none comes twice, places of files, ids."""
    words = [str(word).strip() for word in column]
    if len(words) < 2:
        return False
    alone = len(set(words)) == len(words)
    if all(_is_number(word) for word in words):
        whole = all(float(word) == int(float(word)) for word in words if _is_finite(word))
        return alone and whole and name.lower() in NAMES
    if all(PLACE.fullmatch(word) for word in words):
        return True
    # Some numbers among few other words are amounts with gaps; few rows may differ by chance.
    numbers = sum(_is_number(word) for word in words)
    return alone and 2 * numbers < len(words) and (len(words) >= FEWEST or name.lower() in NAMES)


def count_rows(named: Sequence[str]) -> bool:
    """Say whether names are the numbers of rows in order, from 0 or 1."""
    return list(named) in ([str(i + first) for i in range(len(named))] for first in (0, 1))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _is_finite(word: str) -> bool:
    return bool(np.isfinite(float(word)))


def lines_of(
    files: Sequence[str], named: Sequence[str] | np.ndarray, path: str | Path
) -> np.ndarray:
    """Find the line of each image: by its place in the folder, else by its name alone.

    The name alone, with or without its suffix, counts only where it is unique
    among the files and among the lines.
    """
    lines = [PurePosixPath(str(text).replace("\\", "/")) for text in named]
    by_place = {str(place): line for line, place in enumerate(lines)}
    if len(by_place) < len(lines):
        twice = next(place for place, n in Counter(map(str, lines)).items() if n > 1)
        raise DataError(f"{path} has two lines for {twice}")
    places = [PurePosixPath(file) for file in files]
    loose: list[tuple[list[str], dict[str, int]]] = []
    for part in (lambda place: place.name, lambda place: place.stem):
        keys = [part(place) for place in places]
        unique_keys = {key for key, n in Counter(keys).items() if n == 1}
        once = {key for key, n in Counter(map(part, lines)).items() if n == 1} & unique_keys
        loose.append((keys, {part(p): i for i, p in enumerate(lines) if part(p) in once}))
    order = np.empty(len(files), dtype=np.int64)
    without = []
    for row, file in enumerate(files):
        found = [by_place.get(file), *(index.get(keys[row]) for keys, index in loose)]
        line = next((line for line in found if line is not None), None)
        if line is None:
            without.append(file)
        else:
            order[row] = line
    if without:
        raise DataError(f"{path} has no line for {first_of(without, len(files), 'images')}")
    return order


def matching_rows(
    ours: Mapping[Any, Sequence[str]],
    theirs: Mapping[Any, Sequence[str]],
    our_table: str | Path,
    their_table: str | Path,
) -> np.ndarray | None:
    """Find the row of their table for each of ours, by the columns that name the rows of both.

    None where neither names any. A table that names its rows is never taken by order, unless the
    names count them.
    """
    pairs = [(name, name) for name in ours if name in theirs]
    pairs += [(a, b) for a in ours for b in theirs if a != b]
    reasons = []
    for our_column, their_column in pairs:
        try:
            return lines_of(ours[our_column], theirs[their_column], their_table)
        except DataError as error:
            reasons.append(str(error))
    if pairs:
        raise DataError(f"{reasons[0]}, which {our_table} names in column {pairs[0][0]!r}.")
    for named, own, other in ((theirs, their_table, our_table), (ours, our_table, their_table)):
        for name, keys in named.items():
            if not count_rows(keys):
                raise DataError(
                    f"{own}: column {name!r} says which sample a row is about ({keys[0]!r}), and "
                    f"{other} has no such column to match it with. Add it there, or leave it out "
                    "if both have the same order."
                )
    return None


def first_of(found: Sequence[str], total: int, what: str) -> str:
    """Return the one thing there is, or how many of all there are and the first three."""
    if len(found) == 1:
        return found[0]
    more = ", …" if len(found) > 3 else ""
    return f"{len(found):,} of {total:,} {what}: {', '.join(found[:3])}{more}"
