"""Largest correlation: how well the best single code follows each factor along a line.

A template for metrics of your own. Here stand the paper, with its arXiv number, and the
formula in the letters of the code:

    1/K Σ_k max_j |r(c_j, v_k)|
"""

from typing import Any

import numpy as np

from unweave.correlation import correlations
from unweave.metrics import CODES, Score, choose_protocol, how_made, read_tables

PROTOCOLS = {"plain": "Pearson's r over all rows"}
NEEDS = CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def largest_correlation(
    codes: Any, factors: Any, *, seed: int = 0, protocol: str = "plain"
) -> Score:
    """Score the largest absolute correlation of each factor with a code, on average.

    Nothing is drawn at random, so the seed has no effect.
    """
    choose_protocol(protocol, PROTOCOLS, "largest_correlation")
    table, known = read_tables(codes, factors, metric="largest_correlation")
    found = np.abs(correlations(table, known.values, ranks=False))
    best = found.max(axis=0)
    details = {"factor_names": known.names, "best_code": found.argmax(axis=0), "largest": best}
    made = how_made(table, known, seed=seed)
    return Score("largest_correlation", best.mean(), protocol, details, made=made)
