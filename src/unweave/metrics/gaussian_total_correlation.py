"""Total correlation of the codes, as if they were Gaussian.

F. Locatello et al., ICML 2019, arXiv:1811.12359. With C the covariance of the codes:

    ½ (Σ_j log C_jj - log det C)  =  -½ log det of their correlations

It needs no factors. 0 means uncorrelated codes. Codes that determine each other
would make it infinite; eigenvalues of the correlations are kept above 1e-12, so
each such code adds about 13.8. The details also hold the Wasserstein distance to
the independent Gaussian and the mean mutual information of pairs of codes.
"""

from typing import Any

import numpy as np

from unweave.metrics import _protocol
from unweave.metrics._information import code_information
from unweave.metrics._score import Score
from unweave.tables import code_table, standardize, varying_codes

PROTOCOLS = {"locatello2019": "covariance of the codes; constant codes left out"}
NEEDS = _protocol.CODES_ALONE
HIGHER_IS_BETTER = False
RANGE = "0 to about 13.8 per redundant code"

SMALLEST = 1e-12
"""Eigenvalues of a correlation matrix below this are rounding."""


def gaussian_total_correlation(
    codes: Any,
    factors: Any = None,
    *,
    seed: int = 0,
    protocol: str = "locatello2019",
    bins: int = 20,
) -> Score:
    """Score how far the codes are from being uncorrelated; factors are not looked at."""
    _protocol.choose(protocol, PROTOCOLS, "gaussian_total_correlation")
    table = code_table(codes)
    active = varying_codes(table)
    made = _protocol.made(table, None, seed=seed, bins=bins, active=active)
    if not active.any():
        return Score(
            "gaussian_total_correlation",
            0.0,
            protocol,
            {"active_codes": active},
            higher_is_better=False,
            made=made,
        )
    moving = table[:, active].astype(np.float64)
    scaled = standardize(moving)
    correlation = scaled.T @ scaled / len(scaled)
    eigenvalues = np.linalg.eigvalsh(correlation)
    shared = code_information(moving, bins)
    variance = moving.var(axis=0)
    # The largest deviation is the unit, so that squares stay within range.
    unit = float(variance.max())
    deviation = np.sqrt(variance / unit)
    covariance = correlation * deviation[:, None] * deviation
    # W² to N(0, diag C): 2 tr C - 2 tr (D^½ C D^½)^½ with D = diag C.
    mixed = covariance * deviation[:, None] * deviation
    roots = np.sqrt(np.maximum(np.linalg.eigvalsh(mixed), 0.0)).sum()
    distance = max(2 * float((deviation**2).sum()) - 2 * float(roots), 0.0)
    off_diagonal = ~np.eye(len(shared), dtype=bool)
    return Score(
        "gaussian_total_correlation",
        max(float(-0.5 * np.log(np.maximum(eigenvalues, SMALLEST)).sum()), 0.0),
        protocol,
        {
            "active_codes": active,
            "correlation": correlation,
            "redundant_codes": int((eigenvalues < SMALLEST).sum()),
            "wasserstein_correlation": distance * unit,
            "wasserstein_correlation_norm": distance / float((deviation**2).sum()),
            "mean_mutual_information": float(shared[off_diagonal].sum())
            / max(int(off_diagonal.sum()), 1),
            "mutual_information": shared,
        },
        higher_is_better=False,
        made=made,
    )
