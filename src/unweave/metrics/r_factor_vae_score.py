"""R-FactorVAE score: the code that varies most should name the one factor that changes.

M. Kim et al., 2019, arXiv:1902.01568. Let only factor k change in a batch; the vote
is the code with the highest variance relative to its own:

    d* = argmax_d Var_batch(c_d) / Var(c_d)

A majority vote maps d* to k; the score is its accuracy on new votes, the chance
level 1/K. Codes whose deviation is below a threshold are left out; the default scales
codes to deviation 1 before, so that only constant codes are. Unlike the FactorVAE score
it does not ask whether other factors move the code as well.

Differs from the paper: a table hardly has rows that share all factors but one, so
each factor is cut into `bins` parts of equal width, and the other factors stay within
their parts, as Carbonneau et al. do (arXiv:2012.09276).
From a full grid and a function it draws as the paper does. The sizes are those of
Carbonneau et al.; the paper's were not at hand.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from unweave.metrics import _protocol
from unweave.metrics._sampling import Source, from_model, from_table
from unweave.metrics._score import Score
from unweave.metrics._votes import vote
from unweave.tables import Continuous, bin_equal_width

PROTOCOLS = {
    "kim2019_standardized": "codes scaled to deviation 1, then as kim2019",
    "kim2019": "800 and 800 votes of 200 rows, codes with deviation < 0.05 left out",
    "carbonneau2022": "the same, rescaled so that chance is 0",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
TAKES_A_MODEL = True
RANGE = "0 to 1, chance 1/K (carbonneau2022: chance 0)"

VOTES = 800
"""Votes to fit on, and to test on, by either protocol."""


def r_factor_vae_score(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "kim2019_standardized",
    train_votes: int | None = None,
    test_votes: int | None = None,
    batch: int = 200,
    threshold: float = 0.05,
    bins: int = 3,
    continuous: Continuous = None,
) -> Score:
    """Score how reliably the code of highest variance names the factor that changes.

    `codes` may be a function from images to codes, and `factors` a data set with a full grid:
    then images are drawn as in the paper.
    """
    _protocol.choose(protocol, PROTOCOLS, "r_factor_vae_score")
    if callable(codes):
        source = from_model(codes, factors)
    else:
        table, known = _protocol.read(
            codes, factors, continuous=continuous, least_factors=2, metric="r_factor_vae_score"
        )
        parts = np.stack([bin_equal_width(column, bins) for column in known.values.T], axis=1)
        coarse = replace(known, labels=parts, sizes=(bins,) * len(known.names))
        source = from_table(table, coarse)
    sizes = train_votes or VOTES, test_votes or VOTES, batch
    return _score(source, seed, protocol, sizes, threshold)


def _score(
    source: Source, seed: int, protocol: str, sizes: tuple[int, int, int], threshold: float
) -> Score:
    scaled = protocol == "kim2019_standardized"
    cast = vote(
        source, source.sampler.apart, sizes, threshold, seed, lowest=False, standardize=scaled
    )
    return cast.score("r_factor_vae_score", protocol, rescaled=protocol == "carbonneau2022")
