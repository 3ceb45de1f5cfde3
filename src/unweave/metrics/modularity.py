"""Modularity: whether each code knows about one factor only.

K. Ridgeway and M. Mozer, NeurIPS 2018, arXiv:1802.05312, with m_jk = I(c_j; v_k)
and k* the factor code j knows most about:

    mean_j [1 - Σ_{k≠k*} m_jk² / (m_jk*² (K-1))]
"""

from typing import Any

import numpy as np

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._information import measure_information
from unweave.metrics._score import Score
from unweave.tables import Continuous

PROTOCOLS = {
    "locatello2019": "codes without information score 0 (arXiv:1811.12359)",
    "ridgeway2018": "cells rarer than 1e-4 are skipped, codes without information left out",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def modularity(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2019",
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score how little each code knows about other factors than its own."""
    _protocol.choose(protocol, PROTOCOLS, "modularity")
    table, known = _protocol.read(
        codes,
        factors,
        continuous=continuous,
        bins=bins,
        least_factors=2,
        missing="mask",
        metric="modularity",
    )
    rarest = 1e-4 if protocol == "ridgeway2018" else 0.0
    information = measure_information(table, known, bins, rarest=rarest)
    squares = information.mutual**2
    largest = squares.max(axis=1)
    informed = largest > 0
    others = squares.sum(axis=1) - largest
    per_code = np.where(
        informed, 1 - others / (np.where(informed, largest, 1.0) * (squares.shape[1] - 1)), 0.0
    )
    if protocol == "ridgeway2018" and not informed.any():
        raise DataError("no code has any information about a factor, so none can be modular.")
    counted = per_code[informed] if protocol == "ridgeway2018" else per_code
    return Score(
        "modularity",
        counted.mean(),
        protocol,
        {
            **_protocol.named(known),
            "modularity_per_code": per_code,
            "informed_codes": informed,
            "mutual_information": information.mutual,
        },
        notes=known.notes,
        made=_protocol.made(table, known, seed=seed, bins=bins),
    )
