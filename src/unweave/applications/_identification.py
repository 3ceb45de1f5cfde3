"""Identification by interventions: find the factors in a code that mixes them.

After K. Ahuja et al., ICML 2023, arXiv:2209.11924: for each factor the direction of the code that
varies least within images of one do(factor = value), relative to all images. A curve, for which the
paper trains a network, is then the quadratic function of the code that gives all images of one
intervention the mean which the straight direction has there. Mean correlation with the factors
(MCC) before and after, on other images than they were found on, and with images assigned to
interventions at random.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import eigh

from unweave.applications._inputs import Sample
from unweave.metrics import mcc

RIDGE = 1e-6
RIDGE_OF_CURVES = 1e-3
ROWS_PER_FEATURE = 10
"""Images for each number that a curve is fitted to, at least."""


def identify(codes: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """Return for each factor the direction that varies least within its interventions.

    `groups` has, by factor, the number of the intervention that each row is of, or -1. Directions
    are (factor, code), each of unit variance over all rows.
    """
    centred = codes - codes.mean(axis=0)
    total = centred.T @ centred / len(codes)
    total += RIDGE * np.trace(total) / len(total) * np.eye(len(total))
    found = []
    for numbers in groups:
        within = np.zeros_like(total)
        count = 0
        for number in np.unique(numbers[numbers >= 0]):
            part = codes[numbers == number]
            away = part - part.mean(axis=0)
            within += away.T @ away
            count += len(part)
        _, vectors = eigh(within / max(count, 1), total)
        found.append(vectors[:, 0])
    return np.array(found)


def do_groups(column: np.ndarray, values: int) -> np.ndarray:
    """Number the rows of some interventions on a factor: at values spread over its range."""
    known = np.unique(column)
    if len(known) > 4 * values:  # nearly continuous: rows near a value are taken for one
        centres = np.quantile(column, (np.arange(values) + 0.5) / values)
        near = 0.1 * np.ptp(column) / values
        away = np.abs(column[:, None] - centres)
        return np.where(away.min(axis=1) <= near, away.argmin(axis=1), -1)
    chosen = known[np.unique(np.linspace(0, len(known) - 1, min(values, len(known))).astype(int))]
    numbers = np.full(len(column), -1)
    for number, value in enumerate(chosen):
        numbers[column == value] = number
    return numbers


def with_products(codes: np.ndarray, rows: int) -> np.ndarray:
    """Return standardised codes and their products, in which curves of the code are straight.

    Of a wide code, those of as many principal components as `rows` images can tell apart.
    """
    unit = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    most = max(int(np.sqrt(2 * rows / ROWS_PER_FEATURE)) - 2, 1)
    if unit.shape[1] > most:
        variances, axes = eigh(unit.T @ unit / len(unit))
        kept = np.flatnonzero(variances > RIDGE * variances[-1])[::-1][:most]
        unit = unit @ axes[:, kept] / np.sqrt(variances[kept])
    first, second = np.triu_indices(unit.shape[1])
    return np.concatenate([unit, unit[:, first] * unit[:, second]], axis=1)


def follow(features: np.ndarray, straight: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """Return for each factor the function of all rows that is as still as a straight one was meant.

    `straight` has the values (row, factor) of the first rows, those that groups are known of.
    The stillest function itself will not do: the square of a factor is as still as the factor.
    """
    with_one = np.concatenate([features, np.ones((len(features), 1))], axis=1)
    found = []
    for values, numbers in zip(straight.T, groups, strict=True):
        rows = np.flatnonzero(numbers >= 0)
        _, group = np.unique(numbers[rows], return_inverse=True)
        means = np.bincount(group, values[rows]) / np.bincount(group)
        known = with_one[rows]
        square = known.T @ known + RIDGE_OF_CURVES * len(rows) * np.eye(known.shape[1])
        found.append(with_one @ np.linalg.solve(square, known.T @ means[group]))
    return np.stack(found, axis=1)


def identification(taken: Sample, *, values: int, nulls: int, seed: int) -> dict[str, Any]:
    """Score codes before and after directions were found by interventions.

    `values` of each factor are set from outside; `nulls` times, images are assigned at random.
    """
    ordered = [
        factor.name
        for factor in taken.data.factor_list
        if not factor.categorical and len(np.unique(taken.column(factor.name))) > 1
    ]
    if not ordered:
        return {}
    factors = np.stack([taken.column(name).astype(float) for name in ordered], axis=1)
    half = len(factors) // 2
    moving = taken.codes[:, taken.codes.std(axis=0) > 0]
    if not moving.shape[1]:
        return {}
    groups = [do_groups(column[:half], values) for column in factors.T]
    bent = with_products(moving, half)

    def judged(found: np.ndarray) -> float:
        return float(mcc(found[half:], factors[half:], continuous=True).value)

    def after(numbers: Sequence[np.ndarray]) -> tuple[float, float]:
        straight = moving @ identify(moving[:half], numbers).T
        curved = follow(bent, straight[:half], numbers)
        return judged(straight), judged(curved)

    drawn = [np.random.default_rng((seed, draw, 0xD0)) for draw in range(nulls)]
    at_random = [after([rng.permutation(numbers) for numbers in groups]) for rng in drawn]
    straight, curved = after(groups)
    return {
        "factors": ordered,
        "before": judged(moving),
        "straight": straight,
        "straight_at_random": [null for null, _ in at_random],
        "after": curved,
        "at_random": [null for _, null in at_random],
    }
