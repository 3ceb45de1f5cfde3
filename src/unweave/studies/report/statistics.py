"""What holds across seeds: intervals, comparisons, seeds needed, variance explained, agreement.

Scores are skewed and few, so medians with bootstrap intervals are given rather
than means ± deviations, and p-values come from exchanging signs or labels rather
than from a normal distribution. Every random draw is seeded: a report repeats.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave import correlation

Numbers = NDArray[np.float64]

RESAMPLES = 10_000
MOST_SEEDS = 10_000
"""Differences that need more seeds than this are called too small to tell."""


@dataclass(frozen=True)
class Interval:
    """A value and where a bootstrap puts it, in 95 of 100 cases."""

    value: float
    low: float
    high: float
    count: int
    """Runs it is made of."""

    def __str__(self) -> str:
        if self.count < 2:  # an interval without width would pass for certainty
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def median_interval(values: Sequence[float] | Numbers, seed: int = 0) -> Interval:
    """Return the median with the percentiles of the medians of resamples.

    With fewer than five runs such an interval is too narrow; with one it has no width.
    """
    kept = finite(values)
    if len(kept) == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    rng = np.random.default_rng(seed)
    drawn = kept[rng.integers(len(kept), size=(RESAMPLES, len(kept)))]
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return Interval(float(np.median(kept)), float(low), float(high), len(kept))


def finite(values: Sequence[float] | Numbers) -> Numbers:
    array = np.asarray(values, dtype=np.float64)
    return array[np.isfinite(array)]


@dataclass(frozen=True)
class Comparison:
    """Two arms, run by run of the same seed."""

    first: str
    second: str
    difference: Interval
    """Median of first − second, over the seeds that both have."""
    beats: float
    """How often a run of the first beats a run of the second, whatever the seeds; ties half."""
    p_value: float
    """Chance of so large a mean difference if the arms did not differ: signs exchanged."""
    adjusted: float
    """The same, corrected for how many pairs are compared (Holm)."""
    seeds_needed: float
    """Seeds with which `adjusted` is below 5 % in 4 cases of 5; inf if never."""

    @property
    def is_told_apart(self) -> bool:
        return self.adjusted < 0.05


def compare(
    arms: Mapping[str, Mapping[int, float]], *, higher_is_better: bool = True, seed: int = 0
) -> list[Comparison]:
    """Compare arms two by two; an arm is its scores by seed. Pairs with too few seeds are left out.

    Runs of one seed share weights at the start and batches where the networks are
    alike, which is why differences are taken seed by seed.
    """
    found: list[Comparison] = []
    seen: list[Numbers] = []
    for first, second in itertools.combinations(arms, 2):
        a, b = arms[first], arms[second]
        shared = sorted(s for s in a.keys() & b.keys() if math.isfinite(a[s] - b[s]))
        if len(shared) < 2:
            continue
        differences = np.array([a[s] - b[s] for s in shared])
        seen.append(differences)
        winning = probability_of_beating(list(a.values()), list(b.values()))
        found.append(
            Comparison(
                first=first,
                second=second,
                difference=median_interval(differences, seed),
                beats=winning if higher_is_better else 1 - winning,
                p_value=sign_flip_p_value(differences, seed),
                adjusted=math.nan,
                seeds_needed=math.nan,
            )
        )
    corrected = holm([c.p_value for c in found])
    needed = [seeds_needed(differences, comparisons=len(found)) for differences in seen]
    return [
        replace(comparison, adjusted=p, seeds_needed=count)
        for comparison, p, count in zip(found, corrected, needed, strict=True)
    ]


def probability_of_beating(first: Sequence[float], second: Sequence[float]) -> float:
    """Return how often a run of the first is above one of the second; ties count half."""
    a, b = finite(first)[:, None], finite(second)[None, :]
    return float(np.mean((a > b) + 0.5 * (a == b)))


def sign_flip_p_value(differences: Numbers, seed: int = 0) -> float:
    """Return the share of sign patterns with a mean difference at least as large.

    All patterns are tried up to 14 seeds, a sample of them beyond. With n seeds the
    smallest value is 2 / 2ⁿ: fewer than 6 seeds never reach 5 %.
    """
    count = len(differences)
    if count <= 14:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=count)))
        tried = np.abs(signs @ differences)
        return float(np.mean(tried >= abs(differences.sum()) * (1 - 1e-12)))
    rng = np.random.default_rng(seed)
    signs = rng.choice((1.0, -1.0), size=(RESAMPLES, count))
    extreme = np.sum(np.abs(signs @ differences) >= abs(differences.sum()) * (1 - 1e-12))
    return float((extreme + 1) / (RESAMPLES + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number (S. Holm, 1979)."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return [float(p) for p in adjusted]


def seeds_needed(
    differences: Numbers, power: float = 0.8, level: float = 0.05, comparisons: int = 1
) -> float:
    """Return how many seeds `sign_flip_p_value` needs to tell the arms apart with that power.

    With several comparisons the smallest p-value must be below the level over their number
    (Holm). n seeds have p-values that are multiples of 2 / 2ⁿ, of which the largest below the
    level counts; at that level the power is a paired t-test's, which exchanging signs
    approaches. From the mean and deviation of the differences seen, which a few seeds know
    only roughly: read it as an order of size.
    """
    from scipy.stats import nct, t

    mean, deviation = float(np.mean(differences)), float(np.std(differences, ddof=1))
    fewest = fewest_seeds(level / comparisons)
    if deviation == 0:
        return float(fewest) if mean != 0 else math.inf
    effect = abs(mean) / deviation

    def power_of(count: int) -> float:
        shift, freedom = effect * math.sqrt(count), count - 1
        edge = t.ppf(1 - _reached_level(count, level / comparisons) / 2, freedom)
        return float(nct.sf(edge, freedom, shift) + nct.cdf(-edge, freedom, shift))

    if power_of(MOST_SEEDS) < power:
        return math.inf
    low, high = fewest, 2 * fewest
    while high < MOST_SEEDS and power_of(high) < power:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= power else (middle + 1, high)
    return float(low)


def fewest_seeds(level: float) -> int:
    """Return the fewest seeds whose smallest p-value, 2 / 2ⁿ, is below the level."""
    count = 2
    while 2 / 2**count >= level:
        count += 1
    return count


def _reached_level(count: int, level: float) -> float:
    """Return the largest p-value of so many seeds that is below the level."""
    if count > 40:
        return level  # its steps are too small to matter
    step = 2 / 2**count
    return step * (math.ceil(level / step) - 1)


@dataclass(frozen=True)
class Explained:
    """Shares of the variance of a score, over all runs."""

    method: float
    """What the method alone explains: R² of its group means."""
    setting: float
    """What the settings add within methods."""
    seed: float
    """What is left: runs that differ by their seed only."""
    method_adjusted: float
    setting_adjusted: float
    """The first two, freed from what group means explain of pure noise (ε²)."""
    runs: int


def variance_explained(
    scores: Numbers, methods: Sequence[str], arms: Sequence[str]
) -> Explained | None:
    """Split the variance of scores into method, setting and seed, as arXiv:1811.12359 does.

    R² of group means grows with the number of groups even for noise; the adjusted
    shares take that off. None if there are too few runs or no variance.
    """
    good = np.isfinite(scores)
    values = scores[good]
    if len(values) < 3 or values.var() == 0:
        return None
    by_method = _share(values, np.asarray(methods)[good])
    by_arm = _share(values, np.asarray(arms)[good])
    adjusted_method = _adjusted(by_method, len(values), len(set(np.asarray(methods)[good])))
    adjusted_arm = _adjusted(by_arm, len(values), len(set(np.asarray(arms)[good])))
    return Explained(
        method=by_method,
        setting=by_arm - by_method,
        seed=1 - by_arm,
        method_adjusted=adjusted_method,
        setting_adjusted=max(adjusted_arm - adjusted_method, 0.0),
        runs=len(values),
    )


def _share(values: Numbers, groups: NDArray[Any]) -> float:
    total = float(((values - values.mean()) ** 2).sum())
    within = sum(
        float(((values[groups == g] - values[groups == g].mean()) ** 2).sum()) for g in set(groups)
    )
    return 1 - within / total


def _adjusted(share: float, runs: int, groups: int) -> float:
    if runs <= groups:
        return math.nan
    return max(1 - (1 - share) * (runs - 1) / (runs - groups), 0.0)


def rank_agreement(columns: Mapping[str, Numbers]) -> tuple[list[str], Numbers]:
    """Return Spearman's rank correlation between scores over the runs that have both."""
    names = [name for name, values in columns.items() if len(set(finite(values))) > 1]
    return names, correlation.rank_agreement([columns[name] for name in names])
