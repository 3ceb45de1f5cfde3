"""Correlations of the columns of two tables."""

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
