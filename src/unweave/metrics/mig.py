"""Mutual information gap: how far the best code of each factor is ahead of the second best.

R. T. Q. Chen et al., NeurIPS 2018, arXiv:1802.04942, estimated by histograms:

    1/K Σ_k [I(c_best; v_k) - I(c_second; v_k)] / H(v_k)

Why a gap and not the information itself: turned codes know of every factor what the factors'
own codes know, only spread over more of them, so that the sum of information is the same; and
two codes that both hold one factor know all of it twice. The gap is 0 for both.

With `groups`, several codes form one concept, as in VCT or FDAE: k-means clusters of a
concept, as many as there are bins, take the place of bins.
"""

from typing import Any

from unweave.metrics import _protocol
from unweave.metrics._groups import Groups, clusters, concepts
from unweave.metrics._information import measure_information, top_two
from unweave.metrics._score import Score
from unweave.tables import Continuous

PROTOCOLS = {
    "locatello2019": "gaps over the factor's entropy, 20 bins (arXiv:1811.12359)",
    "carbonneau2022": "information over the code's entropy, then gaps (arXiv:2012.09276)",
    "lin2020": "as locatello2019, of all rows there are (arXiv:1906.06034)",
}
ALL_ROWS = ("lin2020",)
"""Protocols that look at every row there is."""
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def mig(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2019",
    bins: int = 20,
    groups: Groups | None = None,
    components: int | None = None,
    continuous: Continuous = None,
) -> Score:
    """Score the gap between the two codes that know most about each factor.

    Codes and continuous factors are cut into bins of equal width. Nothing is
    drawn at random, so the seed has no effect; only k-means of `groups`, codes that form one
    concept, begins at random. With `components` each concept is reduced to so many principal
    components first.
    """
    _protocol.choose(protocol, PROTOCOLS, "mig")
    table, known = _protocol.read(
        codes,
        factors,
        continuous=continuous,
        bins=bins,
        least_codes=2,
        missing="mask",
        metric="mig",
    )
    if groups is not None:
        columns = concepts(table, groups, components)
        table = clusters(*columns, bins, seed)
        _protocol.need_codes(table, 2, "mig")
    information = measure_information(table, known, bins)
    if protocol == "carbonneau2022":
        # A constant code has no entropy and no information; it keeps its zero.
        entropy = information.code_entropy[:, None]
        shares = information.mutual / (entropy + (entropy == 0))
    else:
        shares = information.mutual / information.factor_entropy
    best, second = top_two(shares, axis=0)
    gaps = best - second
    return Score(
        "mig",
        gaps.mean(),
        protocol,
        {
            **_protocol.named(known),
            "gap_per_factor": gaps,
            "best_code": shares.argmax(axis=0),
            "mutual_information": information.mutual,
            "factor_entropy": information.factor_entropy,
        },
        notes=known.notes,
        made=_protocol.made(table, known, seed=seed, bins=bins),
    )
