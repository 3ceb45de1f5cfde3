"""MIG-sup: how far the best factor of each code is ahead of the second best.

Z. Li et al., ICLR 2020, arXiv:2002.10549, with I' = I / H(v):

    1/D Σ_j [I'(c_j; v_best) - I'(c_j; v_second)]

over the codes that are not constant. It sees what MIG is blind to, one code
that holds two factors, and is blind to one factor spread over two codes.
"""

from typing import Any

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._information import measure_information, top_two
from unweave.metrics._score import Score
from unweave.tables import Continuous, varying_codes

PROTOCOLS = {
    "li2020": "information over the factor's entropy, 20 bins",
    "carbonneau2022": "information over the code's entropy (arXiv:2012.09276)",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def mig_sup(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "li2020",
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score the gap between the two factors that each code knows most about."""
    _protocol.choose(protocol, PROTOCOLS, "mig_sup")
    table, known = _protocol.read(
        codes,
        factors,
        continuous=continuous,
        bins=bins,
        least_factors=2,
        missing="mask",
        metric="mig_sup",
    )
    information = measure_information(table, known, bins)
    active = varying_codes(table)
    if not active.any():
        raise DataError("every code is constant, so no code has a best factor.")
    if protocol == "carbonneau2022":
        shares = information.mutual[active] / information.code_entropy[active, None]
    else:
        shares = information.mutual[active] / information.factor_entropy
    best, second = top_two(shares, axis=1)
    gaps = best - second
    return Score(
        "mig_sup",
        gaps.mean(),
        protocol,
        {
            **_protocol.named(known),
            "gap_per_active_code": gaps,
            "active_codes": active,
            "mutual_information": information.mutual,
        },
        notes=known.notes,
        made=_protocol.made(table, known, seed=seed, bins=bins, active=active),
    )
