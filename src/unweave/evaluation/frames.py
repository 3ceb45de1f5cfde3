"""Frames of codes and factors, matched by the columns that name their rows, as files are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.files.row_names import lines_of, name_rows


def matched_frames(codes: Any, factors: Any) -> tuple[Any, Any]:
    """Bring factors into the order of the codes by a column of names that both frames have.

    The column is left out of both. What has no columns with names, or shares none that names
    rows, is returned as it is.
    """
    for name in _names(codes):
        if name not in _names(factors):
            continue
        ours, theirs = _column(codes, name), _column(factors, name)
        if not (name_rows(str(name), ours) and name_rows(str(name), theirs)):
            continue
        if len(ours) != len(theirs):
            raise DataError(
                f"codes have {len(ours):,} rows and factors {len(theirs):,}, by column {name!r}. "
                "Leave out the rows that only one of them has."
            )
        order = lines_of([str(key) for key in ours], [str(key) for key in theirs], "factors")
        return _without(codes, name, None), _without(factors, name, order)
    return codes, factors


def _names(table: Any) -> list[Any]:
    """Return the columns of a pandas or polars frame; nothing else has any."""
    return list(table.columns) if hasattr(table, "columns") and hasattr(table, "drop") else []


def _column(table: Any, name: Any) -> NDArray[Any]:
    return np.asarray(table[name].to_numpy())


def _without(table: Any, name: Any, order: NDArray[np.int64] | None) -> Any:
    if hasattr(table, "iloc"):
        kept = table.drop(columns=[name])
        return kept if order is None else kept.iloc[order]
    kept = table.drop(name)
    return kept if order is None else kept[order.tolist()]
