"""Interventional robustness: how little a code moves while its factor stays fixed.

R. Suter et al., ICML 2019, arXiv:1811.00007. For code j and factor k, with the
rows grouped by the value of v_k:

    IRS_jk = 1 - mean over groups of max |c_j - mean of the group| / max |c_j - mean|

A code's score is its largest IRS_jk; codes are averaged with weights max |c_j -
mean|. A weak but single influence scores as high as a strong one.
"""

from typing import Any

import numpy as np

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._score import Score
from unweave.tables import Continuous, bin_equal_width, varying_codes

PROTOCOLS = {
    "locatello2019": "99 % quantile for the maximum within groups, factors in 20 bins",
    "suter2019": "maximum within groups, factors by their values",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def irs(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2019",
    quantile: float | None = None,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score how far interventions on other factors move each code."""
    _protocol.choose(protocol, PROTOCOLS, "irs")
    table, known = _protocol.read(
        codes, factors, continuous=continuous, bins=bins, missing="mask", metric="irs"
    )
    if quantile is None:
        quantile = 0.99 if protocol == "locatello2019" else 1.0
    active = varying_codes(table)
    if not active.any():
        raise DataError("every code is constant, so no factor can move one.")
    moving = table[:, active].astype(np.float64)
    reach = np.abs(moving - moving.mean(axis=0)).max(axis=0)
    robustness = np.zeros((moving.shape[1], len(known.sizes)))
    for factor in range(len(known.sizes)):
        rows = known.known_rows(factor)
        groups = known.labels[rows, factor]
        if protocol == "locatello2019":
            groups = bin_equal_width(groups, bins)
        order = np.argsort(groups, kind="stable")
        borders = np.flatnonzero(np.diff(groups[order])) + 1
        moved = [
            np.quantile(np.abs(group - group.mean(axis=0)), quantile, axis=0)
            for group in np.split(moving[rows][order], borders)
        ]
        robustness[:, factor] = 1 - np.mean(moved, axis=0) / reach
    per_code = robustness.max(axis=1)
    return Score(
        "irs",
        np.average(per_code, weights=reach / reach.max()),
        protocol,
        {
            **_protocol.named(known),
            "score_per_active_code": per_code,
            "active_codes": active,
            "robustness": robustness,
            "parent": robustness.argmax(axis=1),
        },
        notes=known.notes,
        made=_protocol.made(table, known, seed=seed, bins=bins, active=active),
    )
