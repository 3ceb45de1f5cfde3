"""How evenly importance is spread: the entropies of DCI and of scores that follow it."""

import numpy as np
from numpy.typing import NDArray


def even_entropy(importance: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return entropies of the shares along an axis, 1 where importance is spread evenly.

    The base is the number of entries; no importance at all counts as spread evenly.
    """
    total = importance.sum(axis=axis, keepdims=True)
    even = np.full_like(importance, 1 / importance.shape[axis])
    shares = np.where(total > 0, importance / np.where(total > 0, total, 1.0), even)
    logs = np.log(np.where(shares > 0, shares, 1.0))
    entropies: NDArray[np.float64] = -(shares * logs).sum(axis=axis) / np.log(shares.shape[axis])
    return entropies
