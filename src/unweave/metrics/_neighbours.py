"""Mutual information of a continuous code and a discrete factor by nearest neighbours.

B. C. Ross, PLoS ONE 2014. In one dimension, the k-th neighbour within a class
lies in a window of the sorted values, so no tree is needed.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma


def neighbour_information(
    column: NDArray[np.float64],
    labels: NDArray[np.int64],
    neighbours: int,
    rng: np.random.Generator,
) -> float:
    """Estimate I(code; factor) in nats, at least 0.

    A trace of noise keeps repeated values apart, as scikit-learn's estimator does.
    """
    scale = max(1.0, float(np.abs(column).mean()))
    column = column + 1e-10 * scale * rng.standard_normal(len(column))
    radius = np.zeros(len(column))
    used = np.zeros(len(column), dtype=bool)
    reach, sizes = np.zeros(len(column)), np.zeros(len(column))
    for value in np.unique(labels):
        rows = np.flatnonzero(labels == value)
        if len(rows) < 2:  # a lone row has no neighbour in its class
            continue
        k = min(neighbours, len(rows) - 1)
        rows = rows[np.argsort(column[rows])]
        radius[rows] = _distance_to_neighbour(column[rows], k)
        reach[rows], sizes[rows], used[rows] = k, len(rows), True
    if not used.any():
        return 0.0
    kept = np.sort(column[used])
    # Sums round, so the neighbour at the radius itself is kept out by a few last digits.
    below = np.maximum(radius[used] - 4 * np.spacing(np.abs(column[used]) + radius[used]), 0.0)
    inside = np.searchsorted(kept, column[used] + below, side="right") - np.searchsorted(
        kept, column[used] - below, side="left"
    )
    information = (
        digamma(len(kept))
        + digamma(reach[used]).mean()
        - digamma(sizes[used]).mean()
        - digamma(np.maximum(inside, 1)).mean()
    )
    return max(float(information), 0.0)


def _distance_to_neighbour(ordered: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return each sorted value's distance to its k-th nearest neighbour."""
    padded = np.concatenate([np.full(k, -np.inf), ordered, np.full(k, np.inf)])
    count = len(ordered)
    nearest = np.full(count, np.inf)
    for left in range(k + 1):
        low = ordered - padded[k - left : k - left + count]
        high = padded[2 * k - left : 2 * k - left + count] - ordered
        nearest = np.minimum(nearest, np.maximum(low, high))
    return nearest
