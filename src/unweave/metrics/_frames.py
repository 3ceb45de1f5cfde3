"""Frames of codes and factors, matched by what names their rows, as files are.

A column of file names or ids is no code and no factor. Rows are matched by such columns, or by
the indexes of pandas frames that are more than counts; where one frame alone names its rows in a
column, or names could not be matched, both are refused: in another order labels would be those of
other samples, and nothing would show it.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.files.row_names import NAMES, count_rows, first_of, matching_rows, name_rows

RESET = "call reset_index(drop=True) on both if they have the same order"


def taking_frames(metric: Callable[..., Any]) -> Callable[..., Any]:
    """Return a metric of codes and factors that matches the rows of frames first."""

    @wraps(metric)
    def matched(codes: Any, factors: Any, *rest: Any, **options: Any) -> Any:
        return metric(*matched_frames(codes, factors), *rest, **options)

    matched.__module__ = "unweave.metrics"  # where it is found by this name
    return matched


def matched_frames(codes: Any, factors: Any) -> tuple[Any, Any]:
    """Bring factors into the order of the codes, and leave out columns that name rows.

    Arrays have no names; what has none is returned as it is.
    """
    if not (is_frame(codes) or is_frame(factors)):
        return codes, factors
    ours, theirs = _names_of_rows(codes), _names_of_rows(factors)
    if not (ours or theirs):
        return codes, _in_order_of_index(codes, factors)
    # A column on one side may name what the index of the other does.
    in_ours = ours or (_index_names(codes) if _alone(theirs) else {})
    in_theirs = theirs or (_index_names(factors) if _alone(ours) else {})
    if in_ours and in_theirs and len(codes) > len(factors):
        raise DataError(
            f"codes have {len(codes):,} rows and factors {len(factors):,}, by column "
            f"{next(iter(in_ours))!r}. Leave out the rows that only one of them has."
        )
    order = matching_rows(in_ours, in_theirs, "codes", "factors")
    codes, factors = _without(codes, ours, None), _without(factors, theirs, order)
    return codes, factors if order is not None else _in_order_of_index(codes, factors)


def is_frame(table: Any) -> bool:
    """Say whether this is a pandas or polars frame; nothing else has columns with names."""
    return hasattr(table, "columns") and hasattr(table, "drop")


def _names_of_rows(table: Any) -> dict[Any, tuple[str, ...]]:
    """Return the columns of a frame that name its rows."""
    found: dict[Any, tuple[str, ...]] = {}
    names = list(table.columns) if is_frame(table) else []
    for place, name in enumerate(names):
        part = table.iloc[:, place] if hasattr(table, "iloc") else table[name]
        column = np.asarray(part.to_numpy())
        if column.dtype.kind in "fbcmM":
            continue
        if column.dtype.kind in "iu" and str(name).lower() not in NAMES:
            continue  # numbers name rows only where they are called so
        if name_rows(str(name), column):
            found[name] = tuple(str(word).strip() for word in column)
    if names and len(found) == len(names):
        raise DataError(f"no column holds values: {', '.join(map(str, names))} name the rows.")
    return found


def _alone(named: dict[Any, tuple[str, ...]]) -> bool:
    return any(not count_rows(names) for names in named.values())


def _index_names(table: Any) -> dict[Any, tuple[str, ...]]:
    """Return the index of a pandas frame as a column that names its rows, if it is no count."""
    if not _has_index(table) or _is_count(table.index) or not table.index.is_unique:
        return {}
    return {table.index.name or "index": tuple(str(label).strip() for label in table.index)}


def _in_order_of_index(codes: Any, factors: Any) -> Any:
    """Bring factors into the order of the codes' index, where both have one that names rows."""
    if not (_has_index(codes) and _has_index(factors)):
        return factors
    ours, theirs = codes.index, factors.index
    if ours.equals(theirs):
        return factors
    counted = _is_count(ours), _is_count(theirs)
    if any(counted):
        if any(map(_is_permuted, (ours, theirs))) and len(ours) == len(theirs):
            raise DataError(
                "the indexes of codes and factors have the same numbers in another order, and one "
                "of them only counts its rows. Give both the index that says which sample a row "
                f"is about, or {RESET}."
            )
        return factors
    if not (ours.is_unique and theirs.is_unique):
        raise DataError(
            "codes and factors name their rows by an index in which some name comes twice; "
            f"make names unique, or {RESET}."
        )
    order = theirs.get_indexer(ours)
    without = [str(ours[row]) for row in np.flatnonzero(order < 0)]
    if without:
        raise DataError(
            f"factors have no row for {first_of(without, len(ours), 'samples')}, which codes name "
            f"in their index. Add them, or {RESET}."
        )
    return factors.iloc[order]


def _has_index(table: Any) -> bool:
    return is_frame(table) and hasattr(table, "iloc")


def _is_count(index: Any) -> bool:
    """Say whether an index counts rows from 0, as that of a frame without names does."""
    labels = np.asarray(index)
    return labels.dtype.kind in "iu" and bool(np.array_equal(labels, np.arange(len(labels))))


def _is_permuted(index: Any) -> bool:
    """Say whether an index has the numbers of rows in another order."""
    labels = np.asarray(index)
    if labels.dtype.kind not in "iu" or _is_count(index):
        return False
    return bool(np.array_equal(np.sort(labels), np.arange(len(labels))))


def _without(table: Any, names: dict[Any, Any], order: NDArray[np.int64] | None) -> Any:
    if not is_frame(table):
        return table
    if hasattr(table, "iloc"):
        kept = table.drop(columns=list(names))
        return kept if order is None else kept.iloc[order]
    kept = table.drop(list(names))
    return kept if order is None else kept[order.tolist()]
