"""Votes of codes for factors: the code whose variance stands out in a batch names the factor."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics._sampling import REFERENCE_ROWS, Rows, Source, standardized
from unweave.metrics._score import Made, Score
from unweave.tables import varying_codes

CHUNK = 1 << 15
"""Rows held at once; their codes stay in the cache."""

Batches = Callable[[int, int, int, np.random.Generator], Rows]
"""Draws batches for a factor: (factor, batches, rows each, generator) to (batch, row)."""


@dataclass(frozen=True)
class Votes:
    """Votes that chose a factor for each code, and how often new votes agree."""

    details: dict[str, Any]
    accuracy: float
    chance: float
    made: Made
    notes: tuple[str, ...]

    def score(self, metric: str, protocol: str, *, rescaled: bool) -> Score:
        """Return the accuracy, or where it lies between chance (0) and 1."""
        value, chance = self.accuracy, self.chance
        if rescaled:
            value, chance = (value - chance) / (1 - chance), 0.0
        return Score(
            metric, value, protocol, self.details, chance=chance, made=self.made, notes=self.notes
        )


def vote(
    source: Source,
    batches: Batches,
    sizes: tuple[int, int, int],
    threshold: float,
    seed: int,
    *,
    lowest: bool,
    standardize: bool = False,
) -> Votes:
    """Cast votes for the code of lowest or highest variance relative to its own.

    `sizes` are the training votes, the test votes and the rows of a batch. Constant
    codes, and those whose deviation is below the threshold, do not vote; `standardize`
    scales codes to deviation 1 before, so that the threshold finds none but constants.
    """
    rng = np.random.default_rng(seed)
    train, test, batch = sizes
    if standardize:
        source = standardized(source, rng)
    reference = source.codes_of(source.sampler.any_rows(REFERENCE_ROWS, rng))
    mean, variance = reference.mean(axis=1), reference.var(axis=1, ddof=1)
    active = varying_codes(reference.T) & (np.sqrt(variance) >= threshold)
    chance = 1 / len(source.sampler.sizes)
    votes = np.zeros((2, len(variance), len(source.sampler.sizes)), dtype=np.int64)
    if active.any():
        weights = np.where(active, 1 / np.where(active, variance, 1.0), 0.0)
        weights *= 1.0 if lowest else -1.0
        for part, count in enumerate((train, test)):
            votes[part] = _count(source, batches, count, batch, mean, weights, rng)
    majority = votes[0].argmax(axis=1)
    rows = np.arange(len(majority))
    train_accuracy, accuracy = (
        float(table[rows, majority].sum() / max(table.sum(), 1)) for table in votes
    )
    details = {
        "factor_names": source.sampler.names,
        "votes": votes[0],
        "majority": majority,
        "active_codes": active,
        "train_accuracy": train_accuracy,
        "test_accuracy": accuracy,
        "chance": chance,
        "sampled_from": source.name,
    }
    made = source.made(
        len(variance),
        seed=seed,
        standardized=standardize,
        active=active,
        train_votes=train,
        test_votes=test,
        batch=batch,
    )
    return Votes(details, accuracy, chance, made, source.notes)


def _count(
    source: Source,
    batches: Batches,
    count: int,
    batch: int,
    mean: NDArray[np.float64],
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Cast votes and count them, (code, factor); a code with weight 0 has none."""
    active = np.flatnonzero(weights)
    factors = len(source.sampler.sizes)
    drawn = rng.integers(factors, size=count)
    table = np.zeros((len(weights), factors), dtype=np.int64)
    for factor in range(factors):
        remaining = int((drawn == factor).sum())
        while remaining:
            step = min(remaining, max(CHUNK // batch, 1))
            codes = source.codes_of(batches(factor, step, batch, rng))
            if len(active) < len(codes):
                codes = codes[active]
            # Centred codes lose no digits when the square of their sum is subtracted.
            codes -= mean[active, None, None]
            variance = np.einsum("cbr,cbr->cb", codes, codes) - codes.sum(axis=2) ** 2 / batch
            chosen = (variance * weights[active, None]).argmin(axis=0)
            table[:, factor] += np.bincount(active[chosen], minlength=len(weights))
            remaining -= step
    return table
