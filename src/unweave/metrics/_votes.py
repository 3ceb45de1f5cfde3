"""Votes of codes for factors: the code whose variance stands out in a batch names the factor."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics._groups import membership
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
    per_factor: int = 0,
    columns: list[NDArray[np.int64]] | None = None,
) -> Votes:
    """Cast votes for the code of lowest or highest variance relative to its own.

    `sizes` are the training votes, the test votes and the rows of a batch. Constant
    codes, and those whose deviation is below the threshold, do not vote; `standardize`
    scales codes to deviation 1 before, so that the threshold finds none but constants.
    With `per_factor` votes for each factor the votes that choose are also the ones that are
    judged. `columns` are the codes of each concept, where concepts vote instead of codes.
    """
    rng = np.random.default_rng(seed)
    train, test, batch = sizes
    if standardize and columns is None:  # concepts were standardised before they were formed
        source = standardized(source, rng)
    looked_at = source.rows if per_factor else REFERENCE_ROWS
    reference = source.codes_of(source.sampler.any_rows(looked_at, rng))
    mean, variance = reference.mean(axis=1), reference.var(axis=1, ddof=1)
    active = varying_codes(reference.T) & (np.sqrt(variance) >= threshold)
    factors = len(source.sampler.sizes)
    chance = 1 / factors
    of_codes = np.eye(len(variance)) if columns is None else membership(columns)
    votes = np.zeros((2, len(of_codes), factors), dtype=np.int64)
    if active.any():
        # A concept's variance is the sum over its codes, relative to that sum over all rows.
        total = of_codes @ np.where(active, variance, 0.0)
        weights = (of_codes * active) / np.where(total > 0, total, 1.0)[:, None]
        weights *= 1.0 if lowest else -1.0
        if per_factor:
            train = test = per_factor * factors
            votes[:] = _count(
                source, batches, np.full(factors, per_factor), batch, mean, weights, rng
            )
        else:
            for part, count in enumerate((train, test)):
                drawn = np.bincount(rng.integers(factors, size=count), minlength=factors)
                votes[part] = _count(source, batches, drawn, batch, mean, weights, rng)
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
    counts: NDArray[np.int64],
    batch: int,
    mean: NDArray[np.float64],
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Cast so many votes for each factor, (voter, factor).

    `weights`, (voter, code), turn variances of codes into those of who votes; a voter
    without weights casts none.
    """
    voters = np.flatnonzero(weights.any(axis=1))
    active = np.flatnonzero(weights.any(axis=0))
    table = np.zeros((len(weights), len(counts)), dtype=np.int64)
    of_codes = weights[np.ix_(voters, active)]
    # Each code votes for itself, unless concepts do.
    alone = len(voters) == len(active) and np.count_nonzero(of_codes) == len(active)
    for factor, remaining in enumerate(counts.tolist()):
        while remaining:
            step = min(remaining, max(CHUNK // batch, 1))
            codes = source.codes_of(batches(factor, step, batch, rng))
            if len(active) < len(codes):
                codes = codes[active]
            # Centred codes lose no digits when the square of their sum is subtracted.
            codes -= mean[active, None, None]
            variance = np.einsum("cbr,cbr->cb", codes, codes) - codes.sum(axis=2) ** 2 / batch
            relative = variance * np.diag(of_codes)[:, None] if alone else of_codes @ variance
            chosen = relative.argmin(axis=0)
            table[:, factor] += np.bincount(voters[chosen], minlength=len(weights))
            remaining -= step
    return table
