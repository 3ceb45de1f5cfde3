"""FactorVAE score: the code that varies least should name the factor that is fixed.

H. Kim and A. Mnih, ICML 2018, arXiv:1802.05983. Fix a value of factor k in a
batch; the vote is the code with the lowest variance relative to its own:

    d* = argmin_d Var_batch(c_d) / Var(c_d)

A majority vote maps d* to k; the score is its accuracy on new votes, the chance
level 1/K. Codes whose deviation is below a threshold are left out: the default scales
codes to deviation 1 before, so that only constant codes are, whatever the unit of the
codes; `locatello2019` does not.

Differs from the paper: from a table, batches are drawn with replacement from the
rows that share a value. From a full grid and a function it draws as the paper does. The
paper leaves out latents whose posterior is the prior, which a table does not tell.

`lin2020` is the table of InfoGAN-CR (arXiv:1906.06034): 100 votes of 100 rows for each factor,
no threshold, and the accuracy on the very votes that chose the majority, which reads higher than
new votes do. There a constant code wins every vote, since it divides 0 by 0; here it has none.

With `groups`, several codes form one concept, as in VCT or FDAE: the vote goes to the group
whose sum of variances is lowest relative to its own, whatever its codes' deviations.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._groups import Groups, concepts
from unweave.metrics._sampling import Source, TableSampler, from_model, from_table
from unweave.metrics._score import Score
from unweave.metrics._votes import vote
from unweave.tables import Continuous, standardize

PROTOCOLS = {
    "locatello2019_standardized": "codes scaled to deviation 1, then as locatello2019",
    "locatello2019": "10,000 and 5,000 votes of 64 rows, codes with deviation < 0.05 left out",
    "kim2018": "800 and 800 votes of 100 rows",
    "carbonneau2022": "800 and 800 votes of 200 rows, rescaled so that chance is 0",
    "lin2020": "100 votes of 100 rows for each factor, judged on the same votes",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
TAKES_A_MODEL = True
RANGE = "0 to 1, chance 1/K (carbonneau2022: chance 0)"

SIZES = {
    "locatello2019_standardized": (10_000, 5_000, 64),
    "locatello2019": (10_000, 5_000, 64),
    "kim2018": (800, 800, 100),
    "carbonneau2022": (800, 800, 200),
    "lin2020": (0, 0, 100),
}
"""Training votes, test votes and rows of a batch; lin2020 has 100 votes for each factor."""

ALL_ROWS = ("lin2020",)
"""Protocols that look at every row there is."""

FEWEST = 4
"""Rows that must share a value: the variance of fewer says little."""


def factor_vae_score(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2019_standardized",
    train_votes: int | None = None,
    test_votes: int | None = None,
    batch: int | None = None,
    threshold: float = 0.05,
    bins: int = 20,
    groups: Groups | None = None,
    components: int | None = None,
    continuous: Continuous = None,
) -> Score:
    """Score how reliably the code of lowest variance names the fixed factor.

    `codes` may be a function from images to codes, and `factors` a data set with a full grid:
    then images are drawn as in the paper. `groups` are codes that form one concept, each
    reduced to `components` principal components where these are given.
    """
    columns = None
    if callable(codes):
        if groups is not None:
            raise DataError("factor_vae_score takes groups of a table's codes, not of a model's.")
        source = from_model(codes, factors)
    else:
        table, known = _protocol.read(
            codes,
            factors,
            continuous=continuous,
            bins=bins,
            least_factors=2,
            missing="mask",
            metric="factor_vae_score",
        )
        if groups is not None:
            if protocol == "locatello2019_standardized":
                table = standardize(table)
            table, columns = concepts(table, groups, components)
            threshold = 0.0
        source = from_table(table, known, FEWEST)
    sizes = train_votes, test_votes, batch
    return _score(source, seed, protocol, sizes, threshold, columns)


def _score(
    source: Source,
    seed: int,
    protocol: str,
    sizes: tuple[int | None, int | None, int | None],
    threshold: float,
    columns: list[NDArray[np.int64]] | None,
) -> Score:
    _protocol.choose(protocol, PROTOCOLS, "factor_vae_score")
    train, test, batch = (
        given or usual for given, usual in zip(sizes, SIZES[protocol], strict=True)
    )
    sampler = source.sampler
    if isinstance(sampler, TableSampler) and sampler.smallest < batch:
        note = (
            f"batches of {batch} rows repeat rows: some values have only {sampler.smallest}, "
            "which makes votes less certain"
        )
        source = replace(source, notes=(*source.notes, note))
    in_sample = protocol == "lin2020"
    cast = vote(
        source,
        source.sampler.alike,
        (train, test, batch),
        0.0 if in_sample else threshold,
        seed,
        lowest=True,
        standardize=protocol == "locatello2019_standardized",
        per_factor=100 if in_sample else 0,
        columns=columns,
    )
    return cast.score("factor_vae_score", protocol, rescaled=protocol == "carbonneau2022")
