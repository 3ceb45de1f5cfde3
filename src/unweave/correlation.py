"""Correlations of columns, of their values or of their ranks; tied values share a mean rank."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from unweave.tables import standardize

FEWEST_ROWS = 3  # fewer have no ranks to speak of


def correlations(a: NDArray[Any], b: NDArray[Any], *, ranks: bool) -> NDArray[np.float64]:
    """Return the correlations of the columns of two tables; a constant has none, which is 0."""
    if ranks:
        a, b = rankdata(a, axis=0), rankdata(b, axis=0)
    return np.clip(standardize(a).T @ standardize(b) / len(a), -1.0, 1.0)


def rank_correlation(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return Spearman's correlation of two columns over the rows where both are finite.

    Not a number where ranks say nothing: fewer than three rows, or all alike.
    """
    both = np.isfinite(first) & np.isfinite(second)
    columns = [np.asarray(column, dtype=np.float64)[both, None] for column in (first, second)]
    if both.sum() < FEWEST_ROWS or any(np.ptp(column) == 0 for column in columns):
        return float("nan")
    return float(correlations(*columns, ranks=True)[0, 0])


def rank_agreement(columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Return the rank correlations of all pairs of columns, over the rows that both have."""
    pairs = [rank_correlation(first, second) for first in columns for second in columns]
    return np.array(pairs).reshape(len(columns), len(columns))
