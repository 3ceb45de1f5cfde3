"""DMIG, XMIG and DLIG: information gaps where factors depend on each other.

K. Watcharasupat and A. Lerch, ISMIR 2021 late-breaking, arXiv:2110.05587. Where factors are
dependent, a code of one knows something of the other, and MIG's gap cannot reach 1. With code
a(k) assigned to factor k, and the runner-up r of factor k:

    DMIG_k = [I(c_a(k); v_k) - I(c_r; v_k)] / H(v_k | v_l)   if r is the code of factor l
    XMIG_k = [I(c_a(k); v_k) - I(c_r; v_k)] / H(v_k)         r among the codes of no factor
    DLIG_k = [I(c_a(k); v_k) - I(c_a(k); v_l)] / H(v_k | v_l)  l the runner-up factor of the code

The value is DMIG. It is MIG where the runner-up belongs to no factor, and for independent factors.

Differs from the authors: they know which code was trained for which factor; here codes are
assigned one to one so that the sum of I(c_a(k); v_k) / H(v_k) is largest. Information is counted
in bins. A factor that another one determines has nothing of its own to know and counts 0. XMIG
needs a code that belongs to no factor.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from unweave.metrics import _protocol
from unweave.metrics._information import factor_dependence, measure_information
from unweave.metrics._score import Score
from unweave.tables import Continuous

PROTOCOLS = {"watcharasupat2021": "codes in bins, assigned one to one to factors"}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "at most 1; below 0 where another code knows more than the one assigned"


def dmig(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "watcharasupat2021",
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score gaps relative to what dependent factors leave to know of each other."""
    _protocol.choose(protocol, PROTOCOLS, "dmig")
    table, known = _protocol.read(
        codes,
        factors,
        continuous=continuous,
        bins=bins,
        least_codes=2,
        least_factors=2,
        missing="drop",
        metric="dmig",
    )
    information = measure_information(table, known, bins)
    mutual, own = information.mutual, information.factor_entropy
    dependence = factor_dependence(known)
    conditional = np.maximum(own[:, None] - dependence.mutual, 0.0)
    codes_of, factors_of = linear_sum_assignment(mutual / own, maximize=True)
    assigned = np.full(len(own), -1)
    assigned[factors_of] = codes_of
    belongs = np.full(len(mutual), -1)
    belongs[codes_of] = factors_of
    aware = np.array(
        [_aware(k, mutual, own, conditional, assigned, belongs) for k in range(len(own))]
    )
    latent = np.array([_of_code(k, mutual, conditional, assigned) for k in range(len(own))])
    parts = {"DMIG": float(aware.mean()), "DLIG": float(latent.mean())}
    details: dict[str, Any] = {}
    free = np.flatnonzero(belongs < 0)
    if len(free):
        best = np.where(assigned >= 0, mutual[assigned, np.arange(len(own))], 0.0)
        details["xmig_per_factor"] = (best - mutual[free].max(axis=0)) / own
        parts["XMIG"] = float(details["xmig_per_factor"].mean())
    return Score(
        "dmig",
        parts["DMIG"],
        protocol,
        {
            **_protocol.named(known),
            "dmig_per_factor": aware,
            "dlig_per_factor": latent,
            **details,
            "assigned_code": assigned,
            "factor_dependence": dependence.normalised,
        },
        parts=parts,
        notes=known.notes,
        made=_protocol.made(table, known, seed=seed, bins=bins),
    )


def _aware(
    k: int,
    mutual: NDArray[np.float64],
    own: NDArray[np.float64],
    conditional: NDArray[np.float64],
    assigned: NDArray[np.int64],
    belongs: NDArray[np.int64],
) -> float:
    """Return a factor's gap to the best other code, over what that code's factor leaves."""
    if assigned[k] < 0:
        return 0.0
    others = mutual[:, k].copy()
    others[assigned[k]] = -1.0
    second = int(others.argmax())
    left = own[k] if belongs[second] < 0 else conditional[k, belongs[second]]
    return float((mutual[assigned[k], k] - mutual[second, k]) / left) if left > 1e-12 else 0.0


def _of_code(
    k: int,
    mutual: NDArray[np.float64],
    conditional: NDArray[np.float64],
    assigned: NDArray[np.int64],
) -> float:
    """Return the gap of a factor's code between that factor and the one it knows next best."""
    if assigned[k] < 0:
        return 0.0
    others = mutual[assigned[k]].copy()
    others[k] = -1.0
    second = int(others.argmax())
    left = conditional[k, second]
    gap = mutual[assigned[k], k] - mutual[assigned[k], second]
    return float(gap / left) if left > 1e-12 else 0.0
