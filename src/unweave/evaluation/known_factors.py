"""The factors of a data set's rows, as metrics take them.

A data set numbers the values of a factor. Where a factor is declared to be an amount, its values
count, not their numbers: of the degrees 0, 1, 90 and 359 the second is not half of the third. And
where missing values are masked, the columns that have gaps are scored as well.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.tables import Continuous

BESIDE = ("pair", "clip", "time", "segment")
"""Columns of a data set that say which rows belong together; they are no factors."""


@dataclass(frozen=True)
class KnownFactors:
    """Factors of some rows."""

    values: NDArray[Any] | None
    """(row, factor), NaN where missing; None if the data set has none."""
    names: tuple[str, ...]


def known_factors(
    data: Any, rows: NDArray[np.int64], *, continuous: Continuous = None, missing: str = "refuse"
) -> KnownFactors:
    """Return the factors of rows; columns with gaps among them only if these are to be masked."""
    names = tuple(str(name) for name in data.factor_names)
    columns = list(np.asarray(data.factors(rows)).T) if names else []
    factors = list(getattr(data, "factor_list", [None] * len(names)))
    if missing == "mask":
        for name, column in getattr(data, "columns", {}).items():
            if name in BESIDE:
                continue
            values = column.values[rows].astype(np.float64)
            if not column.factor.continuous:
                values[values < 0] = np.nan
            columns.append(values)
            names += (name,)
            factors.append(column.factor)
    if not names:
        return KnownFactors(None, ())
    measured = [
        _amounts(column, factor) if _is_declared(continuous, place, name, len(names)) else column
        for place, (column, factor, name) in enumerate(zip(columns, factors, names, strict=True))
    ]
    return KnownFactors(np.stack(measured, axis=1), names)


def _is_declared(continuous: Continuous, place: int, name: str, count: int) -> bool:
    if continuous is None or isinstance(continuous, bool):
        return bool(continuous)
    chosen = list(continuous)
    if len(chosen) == count and all(isinstance(entry, bool | np.bool_) for entry in chosen):
        return bool(chosen[place])
    return name in chosen or place in chosen


def _amounts(column: NDArray[Any], factor: Any) -> NDArray[Any]:
    """Return what the values of a factor measure; their numbers where that is not known."""
    values = getattr(factor, "values", None)
    if values is None:
        labels = getattr(factor, "labels", None)
        try:
            values = None if labels is None else [float(label) for label in labels]
        except ValueError:
            return column
    if values is None or getattr(factor, "continuous", True):
        return column
    found = np.full(len(column), np.nan)
    there = ~np.isnan(column.astype(np.float64))
    found[there] = np.asarray(values, dtype=np.float64)[column[there].astype(np.int64)]
    return found
