"""FactorVAE score: the code that varies least should name the factor that is fixed.

H. Kim and A. Mnih, ICML 2018, arXiv:1802.05983. Fix a value of factor k in a
batch; the vote is the code with the lowest variance relative to its own:

    d* = argmin_d Var_batch(c_d) / Var(c_d)

A majority vote maps d* to k; the score is its accuracy on new votes, the chance
level 1/K. Codes whose deviation is below a threshold are left out.

Differs from the paper: from a table, batches are drawn with replacement from the
rows that share a value. `factor_vae_score_of_model` draws as the paper does. The
sizes of `kim2018` are those of Carbonneau et al.'s code, not checked in the paper.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics import _protocol
from unweave.metrics._sampling import (
    EncodedRows,
    Encoder,
    Grid,
    GridSampler,
    Sampler,
    TableCodes,
    TableSampler,
)
from unweave.metrics._score import Score
from unweave.tables import Continuous, varying_codes

PROTOCOLS = {
    "locatello2019": "10,000 and 5,000 votes of 64 rows, codes with deviation < 0.05 left out",
    "kim2018": "800 and 800 votes of 200 rows",
    "carbonneau2022": "800 and 800 votes of 200 rows, rescaled so that chance is 0",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1, chance 1/K (carbonneau2022: chance 0)"

FEWEST = 4
"""Rows that must share a value: the variance of fewer says little."""

CHUNK = 1 << 15
"""Rows held at once; their codes stay in the cache."""


def factor_vae_score(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2019",
    train_votes: int | None = None,
    test_votes: int | None = None,
    batch: int | None = None,
    threshold: float = 0.05,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score how reliably the code of lowest variance names the fixed factor."""
    table, known = _protocol.read(
        codes, factors, continuous=continuous, bins=bins, least_factors=2, metric="factor_vae_score"
    )
    sampler = TableSampler(known, FEWEST)
    sizes = train_votes, test_votes, batch
    return _score(TableCodes(table), sampler, seed, protocol, sizes, threshold, "rows of the table")


def factor_vae_score_of_model(
    encode: Encoder,
    data: Grid,
    *,
    seed: int = 0,
    protocol: str = "locatello2019",
    train_votes: int | None = None,
    test_votes: int | None = None,
    batch: int | None = None,
    threshold: float = 0.05,
) -> Score:
    """Score a callable from images to codes with the paper's own sampler on a full grid."""
    sizes = train_votes, test_votes, batch
    return _score(
        EncodedRows(encode, data), GridSampler(data), seed, protocol, sizes, threshold, "full grid"
    )


def _score(
    codes_of: Any,
    sampler: Sampler,
    seed: int,
    protocol: str,
    sizes: tuple[int | None, int | None, int | None],
    threshold: float,
    source: str,
) -> Score:
    _protocol.choose(protocol, PROTOCOLS, "factor_vae_score")
    usual = (10_000, 5_000, 64) if protocol == "locatello2019" else (800, 800, 200)
    train, test, batch = (given or default for given, default in zip(sizes, usual, strict=True))
    rng = np.random.default_rng(seed)
    reference = codes_of(sampler.any_rows(10_000, rng))
    mean, variance = reference.mean(axis=1), reference.var(axis=1, ddof=1)
    active = varying_codes(reference.T) & (np.sqrt(variance) >= threshold)
    count = len(sampler.sizes)
    chance = 1 / count
    votes = np.zeros((2, len(variance), count), dtype=np.int64)
    if active.any():
        # Constant codes must not win with a variance of zero.
        weights = np.where(active, 1 / np.where(active, variance, 1.0), np.inf)
        votes[0] = _votes(codes_of, sampler, train, batch, mean, weights, rng)
        votes[1] = _votes(codes_of, sampler, test, batch, mean, weights, rng)
    majority = votes[0].argmax(axis=1)
    rows = np.arange(len(majority))
    train_accuracy, accuracy = (
        float(table[rows, majority].sum() / max(table.sum(), 1)) for table in votes
    )
    value = accuracy
    if protocol == "carbonneau2022":
        value = (accuracy - chance) / (1 - chance)
    return Score(
        "factor_vae_score",
        value,
        protocol,
        {
            "factor_names": sampler.names,
            "votes": votes[0],
            "majority": majority,
            "active_codes": active,
            "train_accuracy": train_accuracy,
            "test_accuracy": accuracy,
            "chance": chance,
            "sampled_from": source,
        },
    )


def _votes(
    codes_of: Any,
    sampler: Sampler,
    count: int,
    batch: int,
    mean: NDArray[np.float64],
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Cast votes and count them, (code, factor)."""
    active = np.flatnonzero(np.isfinite(weights))
    fixed = rng.integers(len(sampler.sizes), size=count)
    table = np.zeros((len(weights), len(sampler.sizes)), dtype=np.int64)
    for factor in range(len(sampler.sizes)):
        remaining = int((fixed == factor).sum())
        while remaining:
            step = min(remaining, max(CHUNK // batch, 1))
            rows = sampler.alike(factor, step, batch, rng)
            codes = codes_of(rows)
            if len(active) < len(codes):
                codes = codes[active]
            # Centred codes lose no digits when the square of their sum is subtracted.
            codes -= mean[active, None, None]
            variance = np.einsum("cbr,cbr->cb", codes, codes) - codes.sum(axis=2) ** 2 / batch
            lowest = (variance * weights[active, None]).argmin(axis=0)
            table[:, factor] += np.bincount(active[lowest], minlength=len(weights))
            remaining -= step
    return table
