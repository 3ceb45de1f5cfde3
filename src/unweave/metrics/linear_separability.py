"""Linear separability: does a plane in a generator's codes part images by an attribute?

T. Karras, S. Laine, T. Aila, CVPR 2019, arXiv:1812.04948. For each two-valued attribute of
generated images, a linear support vector machine is fitted from codes to it, and

    value = 2 ^ Σ_attributes H(attribute | side of the plane), in bits

1 is perfect, and an attribute that no plane parts doubles it. Lower is better.

Here attributes are factors above or below their median, as a regressor reads them off the images
or as they are known. Differs from the paper: an attribute with a single value, which the official
code counts as perfect, is left out; the half of the images whose attribute is least certain is
not removed, since factors are known. As there, machines are judged on the rows they were fitted to.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics import _protocol
from unweave.metrics._score import Score
from unweave.tables import Continuous, standardize

PROTOCOLS = {"karras2019": "linear support vector machines, conditional entropy in bits"}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = False
RANGE = "1 to 2^K"


def linear_separability(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "karras2019",
    rows: int = 10_000,
    continuous: Continuous = None,
) -> Score:
    """Score how well planes part the codes by factors that are above or below their median."""
    from sklearn.svm import LinearSVC

    _protocol.choose(protocol, PROTOCOLS, "linear_separability")
    table, known = _protocol.read(
        codes, factors, continuous=continuous, metric="linear_separability"
    )
    if len(table) > rows:
        chosen = np.random.default_rng(seed).permutation(len(table))[:rows]
        table, known = table[chosen], known.rows(chosen)
    inputs = standardize(table)
    left = np.zeros(len(known.sizes))
    used = np.zeros(len(known.sizes), dtype=bool)
    for factor, values in enumerate(known.values.T):
        # The median itself lies below, unless nothing is above it.
        above = values > np.median(values)
        if not above.any():
            above = values >= np.median(values)
        if above.all() or not above.any():
            continue
        model = LinearSVC(dual=False, random_state=seed).fit(inputs, above)
        left[factor] = _conditional_bits(above, model.predict(inputs))
        used[factor] = True
    return Score(
        "linear_separability",
        float(2 ** left.sum()),
        protocol,
        {**_protocol.named(known), "bits_left_per_factor": left, "used_factors": used},
        higher_is_better=False,
        notes=known.notes,
        made=_protocol.made(table, known, seed=seed, standardized=True),
    )


def _conditional_bits(truth: NDArray[np.bool_], side: NDArray[np.bool_]) -> float:
    """Return H(truth | side) in bits."""
    joint = np.bincount(2 * side + truth, minlength=4).reshape(2, 2) / len(truth)
    given = joint.sum(axis=1, keepdims=True)
    shares = joint / np.where(given > 0, given, 1.0)
    return float(-(joint * np.log2(np.where(shares > 0, shares, 1.0))).sum())
