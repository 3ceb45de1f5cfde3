"""The original files of known sets: found, and checked against what they should hold."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unweave.data._factor import Factor
from unweave.errors import DataError


def takes_no_file(name: str, path: Path | None) -> None:
    """Refuse a path for a set that is made on this machine."""
    if path is not None:
        raise DataError(f"{name} is made on this machine and takes no file; write just {name}")


def required_path(name: str, path: Path | None, example: str) -> Path:
    """Return the path of the original file or folder, or say how to give it."""
    if path is None:
        raise DataError(
            f"{name} is read from its original files, which cannot be shipped. "
            f"Give their place as {name}:{example}; `unweave data {name} --where` says where "
            f"they are known to be"
        )
    path = path.expanduser()
    if not path.exists():
        raise DataError(f"no such file or folder: {path} (expected {name}:{example})")
    return path


def find_file(folder: Path, *patterns: str) -> Path:
    """Return the one file in a folder, or below it, that fits a pattern."""
    if not folder.is_dir():
        raise DataError(f"expected a folder with {patterns[0]}, found a file: {folder}")
    for pattern in patterns:
        found = sorted(folder.glob(pattern)) or sorted(folder.rglob(pattern))
        if len(found) > 1:
            raise DataError(f"{folder} holds several files {pattern}: {found[0]}, {found[1]}")
        if found:
            return found[0]
    raise DataError(f"{folder} holds no file {' or '.join(patterns)}")


def check_count(name: str, what: str, found: int, expected: int, path: Path) -> None:
    """Refuse a set of the wrong size: its factors would be wrong."""
    if found != expected:
        raise DataError(
            f"{path}: found {found:,} {what}, expected {expected:,} of {name}; "
            f"is the copy complete? Load it as own data if it is a part"
        )


def grid_size(factors: Sequence[Factor]) -> int:
    """Return the number of combinations of the factors."""
    return int(np.prod([factor.size for factor in factors]))


def check_grid_order(columns: np.ndarray, factors: Sequence[Factor], where: str) -> None:
    """Refuse labels (row, factor) that are not every combination in order, last one fastest.

    The labels may be any numbers that rise with the index of the value.
    """
    sizes = tuple(factor.size for factor in factors)
    if columns.shape != (grid_size(factors), len(factors)) or columns.dtype.kind not in "iuf":
        raise DataError(
            f"{where}: expected labels as numbers of shape {(grid_size(factors), len(factors))}, "
            f"found {columns.dtype} of shape {columns.shape}"
        )
    expected = np.unravel_index(np.arange(len(columns)), sizes)
    for i, factor in enumerate(factors):
        values, indices = np.unique(columns[:, i].round(6), return_inverse=True)
        if len(values) != factor.size or (indices.reshape(-1) != expected[i]).any():
            raise DataError(
                f"{where}: the labels of {factor.name} do not run through its {factor.size} "
                f"values in the order of the original; factors would be wrong"
            )
