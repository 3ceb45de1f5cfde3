"""DCIMIG: information that one code holds about one factor and about no other.

A. Sepliarskaia, J. Kiseleva, M. de Rijke, arXiv:1910.05587. Each code is given
to its best factor k with the gap to its second best; a factor takes the largest
gap of its codes:

    Σ_k max_{j: best(j)=k} [I(c_j; v_k) - I(c_j; v_second)] / Σ_k H(v_k)
"""

from typing import Any

import numpy as np

from unweave.metrics import _protocol
from unweave.metrics._information import measure_information, top_two
from unweave.metrics._score import Score
from unweave.tables import Continuous

PROTOCOLS = {"sepliarskaia2019": "20 bins of equal width"}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def dcimig(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "sepliarskaia2019",
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score the share of the factors' entropy that single-factor codes hold."""
    _protocol.choose(protocol, PROTOCOLS, "dcimig")
    table, known = _protocol.read(
        codes,
        factors,
        continuous=continuous,
        bins=bins,
        least_factors=2,
        missing="mask",
        metric="dcimig",
    )
    information = measure_information(table, known, bins)
    best, second = top_two(information.mutual, axis=1)
    gaps = np.zeros_like(information.mutual)
    rows = np.arange(len(best))
    gaps[rows, information.mutual.argmax(axis=1)] = best - second
    per_factor = gaps.max(axis=0)
    return Score(
        "dcimig",
        per_factor.sum() / information.factor_entropy.sum(),
        protocol,
        {
            **_protocol.named(known),
            "gap_per_factor": per_factor,
            "factor_entropy": information.factor_entropy,
            "mutual_information": information.mutual,
        },
        notes=known.notes,
        made=_protocol.made(table, known, seed=seed, bins=bins),
    )
