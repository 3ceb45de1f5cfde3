"""Correlations of columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from unweave.tables import standardize


def correlations(a: NDArray[Any], b: NDArray[Any], *, ranks: bool) -> NDArray[np.float64]:
    """Return absolute correlations of the columns of two tables; constants have none."""
    if ranks:
        a, b = rankdata(a, axis=0), rankdata(b, axis=0)
    return np.minimum(np.abs(standardize(a).T @ standardize(b)) / len(a), 1.0)


def rank_correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return Spearman's correlation of two columns; a constant one has none, which is 0."""
    ranks = standardize(np.stack([rankdata(a), rankdata(b)], axis=1))
    return float(np.clip((ranks[:, 0] * ranks[:, 1]).mean(), -1.0, 1.0))
