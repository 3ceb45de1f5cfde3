"""JEMMIG: the mutual information gap, lowered by what else the best code holds.

K. Do and T. Tran, ICLR 2020, arXiv:1908.09961, with j the best code of factor k:

    1 - 1/K Σ_k [H(c_j, v_k) - I(c_j; v_k) + I(c_second; v_k)] / [H(v_k) + log bins]

The joint entropy punishes a best code that also holds other factors or noise.
The authors report the fraction itself (lower is better); this is one minus it.
"""

from typing import Any

import numpy as np

from unweave.errors import ConfigError
from unweave.metrics import _protocol
from unweave.metrics._information import measure_information, top_two
from unweave.metrics._posterior import binned_information, posterior_tables
from unweave.metrics._score import Score
from unweave.tables import Continuous

PROTOCOLS = {
    "carbonneau2022": "codes in bins of equal width over their range (arXiv:2012.09276)",
    "do2020": "posterior mass in 100 bins over [-4, 4]; needs log-variances",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def jemmig(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "carbonneau2022",
    bins: int | None = None,
    continuous: Continuous = None,
    logvar: Any = None,
) -> Score:
    """Score each factor's best code by its gap and its joint entropy with the factor."""
    _protocol.choose(protocol, PROTOCOLS, "jemmig")
    bins = bins or (100 if protocol == "do2020" else 20)
    if (logvar is not None) != (protocol == "do2020"):
        raise ConfigError("jemmig takes log-variances with protocol='do2020', and only then.")
    table, known = _protocol.read(
        codes,
        factors,
        continuous=continuous,
        bins=bins,
        least_codes=2,
        missing="mask" if logvar is None else "refuse",
        metric="jemmig",
    )
    if logvar is None:
        information = measure_information(table, known, bins)
    else:
        information = binned_information(*posterior_tables(table, logvar), known, bins, limit=4.0)
    best, second = top_two(information.mutual, axis=0)
    best_code = information.mutual.argmax(axis=0)
    joint = information.joint_entropy[best_code, np.arange(len(best_code))]
    fraction = (joint - best + second) / (information.factor_entropy + np.log(bins))
    per_factor = 1 - fraction
    return Score(
        "jemmig",
        per_factor.mean(),
        protocol,
        {
            **_protocol.named(known),
            "score_per_factor": per_factor,
            "best_code": best_code,
            "gap_per_factor": (best - second) / information.factor_entropy,
            "mutual_information": information.mutual,
        },
        notes=known.notes,
        made=_protocol.made(table, known, seed=seed, bins=bins),
    )
