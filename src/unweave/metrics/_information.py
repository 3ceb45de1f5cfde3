"""Entropies and mutual information by counting, in nats.

Plug-in estimates over joint histograms: one code column at a time against the
classes of all factors, some rows at once, so that a million rows by 64 codes need
little more memory than the table itself. They are biased upwards by about
(bins-1)(classes-1)/(2·rows).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from unweave.tables import FactorTable, bin_equal_width

CHUNK = 1 << 14
"""Rows counted at once; their cells stay in the cache."""


@dataclass(frozen=True)
class Information:
    """What codes and factors say about each other."""

    mutual: NDArray[np.float64]
    """Mutual information, (code, factor)."""

    joint_entropy: NDArray[np.float64]
    """Entropy of each pair, (code, factor)."""

    code_entropy: NDArray[np.float64]
    factor_entropy: NDArray[np.float64]


def entropy(counts: NDArray[Any]) -> float:
    """Return the entropy of a histogram."""
    frequencies = counts[counts > 0] / counts.sum()
    return float(-(frequencies * np.log(frequencies)).sum())


def measure_information(
    codes: NDArray[Any], factors: FactorTable, bins: int, *, rarest: float = 0.0
) -> Information:
    """Count every code's bins against every factor's classes.

    Cells rarer than `rarest` are skipped in the mutual information, as Ridgeway
    and Mozer do.
    """
    if factors.has_missing:
        return _where_known(codes, factors, bins, rarest)
    shape = codes.shape[1], len(factors.sizes)
    mutual, joint_entropy = np.zeros(shape), np.zeros(shape)
    code_entropy = np.zeros(shape[0])
    # Classes of all factors are numbered through, so that one count serves them all.
    starts = np.concatenate([[0], np.cumsum(factors.sizes)[:-1]])
    places = np.ascontiguousarray((factors.labels + starts).T)
    total = sum(factors.sizes)
    factor_entropy = _entropies(np.bincount(places.ravel(), minlength=total), starts, len(codes))
    for code in range(shape[0]):
        binned = bin_equal_width(codes[:, code], bins)
        counts = _joint_counts(binned, places, bins, total)
        code_entropy[code] = entropy(np.bincount(binned, minlength=bins))
        joint_entropy[code] = _entropies(counts, starts, len(codes))
        if rarest:
            mutual[code] = [
                _skipping(part, rarest) for part in np.split(counts, starts[1:], axis=1)
            ]
    if not rarest:
        mutual = code_entropy[:, None] + factor_entropy - joint_entropy
    # Rounding leaves traces of 1e-15 where nothing is shared.
    mutual = np.where(mutual < 1e-12, 0.0, mutual)
    return Information(mutual, joint_entropy, code_entropy, factor_entropy)


def _where_known(
    codes: NDArray[Any], factors: FactorTable, bins: int, rarest: float
) -> Information:
    """Measure each factor on the rows that have it; entropies of codes are means over factors."""
    each = [
        measure_information(codes[factors.known_rows(k)], factors.only(k), bins, rarest=rarest)
        for k in range(len(factors.sizes))
    ]
    return Information(
        np.concatenate([found.mutual for found in each], axis=1),
        np.concatenate([found.joint_entropy for found in each], axis=1),
        np.mean([found.code_entropy for found in each], axis=0),
        np.concatenate([found.factor_entropy for found in each]),
    )


def _joint_counts(
    binned: NDArray[np.int64], places: NDArray[np.int64], bins: int, total: int
) -> NDArray[np.int64]:
    """Count each bin against each class, (bin, class of all factors)."""
    counts = np.zeros(bins * total, dtype=np.int64)
    rows = max(CHUNK, len(counts))
    for start in range(0, len(binned), rows):
        cells = places[:, start : start + rows] + binned[start : start + rows] * total
        counts += np.bincount(cells.ravel(), minlength=len(counts))
    return counts.reshape(bins, total)


def _entropies(
    counts: NDArray[np.int64], starts: NDArray[np.int64], rows: int
) -> NDArray[np.float64]:
    """Return the entropy of each factor's part of a table of counts."""
    terms = counts * np.log(np.maximum(counts, 1))
    return np.log(rows) - np.add.reduceat(np.atleast_2d(terms).sum(axis=0), starts) / rows


def code_information(codes: NDArray[Any], bins: int) -> NDArray[np.float64]:
    """Return the mutual information of every pair of codes, (code, code)."""
    binned = np.stack([bin_equal_width(column, bins) for column in codes.T])
    single = np.array([entropy(np.bincount(column)) for column in binned])
    count = len(binned)
    shared = np.diag(single)
    for i in range(count):
        for j in range(i):
            both = entropy(np.bincount(binned[i] * bins + binned[j]))
            shared[i, j] = shared[j, i] = max(single[i] + single[j] - both, 0.0)
    return shared


def top_two(
    matrix: NDArray[np.float64], axis: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest and second largest entries of each column (axis 0) or row (axis 1)."""
    ordered = np.sort(matrix, axis=axis)
    if axis == 0:
        return ordered[-1], ordered[-2]
    return ordered[:, -1], ordered[:, -2]


def _skipping(counts: NDArray[Any], rarest: float) -> float:
    joint = counts / counts.sum()
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    common = joint > rarest
    return float((joint[common] * np.log(joint[common] / independent[common])).sum())


@dataclass(frozen=True)
class Dependence:
    """What factors say about each other, (factor, factor)."""

    mutual: NDArray[np.float64]
    normalised: NDArray[np.float64]
    """Information over the root of both entropies, without what chance alone gives."""
    certain: NDArray[np.bool_]
    """Whether a G-test finds a pair dependent at the level 0.001."""


def factor_dependence(factors: FactorTable) -> Dependence:
    """Measure the mutual information of every pair of factors, on the rows that have both."""
    count = len(factors.sizes)
    mutual, normalised = np.zeros((count, count)), np.eye(count)
    certain = np.zeros((count, count), dtype=bool)
    for i in range(count):
        for j in range(i + 1):
            known = (factors.labels[:, [i, j]] >= 0).all(axis=1)
            first, second = factors.labels[known, i], factors.labels[known, j]
            alone = entropy(np.bincount(first)), entropy(np.bincount(second))
            both = entropy(np.bincount(first * factors.sizes[j] + second))
            mutual[i, j] = mutual[j, i] = max(sum(alone) - both, 0.0)
            if i == j or min(alone) == 0:
                continue
            freedom = (len(np.unique(first)) - 1) * (len(np.unique(second)) - 1)
            rows = len(first)
            above = max(mutual[i, j] - freedom / (2 * rows), 0.0)
            normalised[i, j] = normalised[j, i] = above / np.sqrt(alone[0] * alone[1])
            p = float(chi2.sf(2 * rows * mutual[i, j], freedom))
            certain[i, j] = certain[j, i] = p < 0.001
    return Dependence(mutual, normalised, certain)
