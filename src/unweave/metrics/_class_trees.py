"""Boosted trees of all classes at once: the study's trees, many times cheaper.

The algorithm is that of `_trees`, scikit-learn's GradientBoostingClassifier: 100 rounds of one
depth-3 regression tree per class, splits by squared error, leaves set by one Newton step,
shrinkage 0.1. The trees of a round are grown together, level by level, with the cuts of
`_cuts`, which are those of every threshold.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics._cuts import Floats, Nodes, Places, SortedCodes, best_cuts
from unweave.metrics._trees import (
    LEAVES,
    RATE,
    Boosted,
    each_column,
    most_frequent,
    of_labelled,
    share_among_alike,
    threads,
    varying_columns,
)
from unweave.tables import UNKNOWN

DEPTH = 3
LEAF_NUMBERS = np.arange(LEAVES, dtype=np.int8)

TOGETHER = 32
"""Trees that are grown at a time, at most: the sums of more do not stay in the cache."""


def boost_each_class(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    sizes: Sequence[int],
    others: NDArray[np.float64],
    *,
    rounds: int = 100,
) -> list[Boosted]:
    """Fit trees to each column of labels, several columns at a time."""
    whole = [k for k in range(len(sizes)) if (labels[:, k] != UNKNOWN).all()]
    alone = [k for k in range(len(sizes)) if k not in whole]
    shared = SortedTable(x, others) if whole else None
    jobs = [*_dealt(whole, sizes, threads()), *([k] for k in alone)]

    def fit(job: int) -> list[Boosted]:
        columns = jobs[job]
        if shared is not None and columns[0] in whole:
            return shared.fit(labels[:, columns], rounds)
        column = labels[:, columns[0]]
        return [
            of_labelled(
                column,
                lambda rows: SortedTable(x[rows], others).fit(column[rows, None], rounds)[0],
            )
        ]

    fitted = each_column(fit, [sum(sizes[k] for k in columns) for columns in jobs])
    found = {
        k: boosted
        for columns, of_columns in zip(jobs, fitted, strict=True)
        for k, boosted in zip(columns, of_columns, strict=True)
    }
    return [found[k] for k in range(len(sizes))]


def _dealt(columns: list[int], sizes: Sequence[int], hands: int) -> list[list[int]]:
    """Deal columns into as many parts as there are threads, with about as many classes each."""
    parts: list[list[int]] = [[] for _ in range(min(hands, len(columns)))]
    for k in sorted(columns, key=lambda k: -sizes[k]):
        min(parts, key=lambda part: sum(sizes[i] for i in part)).append(k)
    return parts


class SortedTable:
    """A table of codes, sorted for the trees of any labels of its rows."""

    def __init__(self, x: NDArray[np.float64], others: NDArray[np.float64]) -> None:
        self.x, self.others = x, others
        self.varying = varying_columns(x)
        self.codes: SortedCodes | None = None
        if self.varying:
            self.codes = SortedCodes(x[:, self.varying], others[:, self.varying])

    def fit(self, labels: NDArray[np.int64], rounds: int) -> list[Boosted]:
        """Fit trees to columns of labels, all at once."""
        rows = len(self.x)
        dense = [np.unique(column, return_inverse=True) for column in labels.T]
        told = [k for k, (present, _) in enumerate(dense) if len(present) > 1 and self.varying]
        found = [most_frequent(self.x, column, self.others) for column in labels.T]
        if self.codes is None or not told:
            return found
        factors = _Factors(np.stack([dense[k][1] for k in told], axis=1))
        importance, scores = _boost(self.codes, factors, rounds)
        for place, k in enumerate(told):
            whole = np.zeros(self.x.shape[1])
            predicted = dense[k][0][scores[factors.trees(place)].argmax(axis=0)]
            shared = share_among_alike(self.codes.ranks[:, :rows], importance[place])
            whole[self.varying] = shared
            found[k] = Boosted(whole, predicted[:rows], predicted[rows + 1 :])
        return found


class _Factors:
    """Labels of several factors, whose classes each have a tree in every round."""

    def __init__(self, labels: NDArray[np.int64]) -> None:
        self.labels = labels
        self.classes = labels.max(axis=0) + 1
        self.starts = np.concatenate([[0], np.cumsum(self.classes)])
        self.members = np.zeros((self.starts[-1], len(labels)), dtype=np.float32)
        """Whether a row is of the class that a tree belongs to, (tree, row)."""
        self.members[labels + self.starts[:-1], np.arange(len(labels))[:, None]] = 1

    def trees(self, factor: int) -> slice:
        """Return the trees of a factor's classes."""
        return slice(self.starts[factor], self.starts[factor + 1])


def _boost(
    codes: SortedCodes, factors: _Factors, rounds: int
) -> tuple[NDArray[np.float64], Floats]:
    """Return each code's share in the squared error removed, (factor, code), and all scores."""
    rows, count = codes.rows, len(factors.members)
    prior = np.log(factors.members.mean(axis=1))
    scores = np.repeat(prior[:, None], codes.ranks.shape[1], axis=1)
    residual, probability = np.zeros_like(scores), np.empty((count, rows), dtype=np.float32)
    factor_of = np.repeat(np.arange(len(factors.classes)), factors.classes)
    rate = RATE * (1 - 1 / factors.classes[factor_of])
    importance = np.zeros((count, codes.codes))
    together = -(-count // -(-count // TOGETHER))  # parts of about as many trees
    for _ in range(rounds):
        for k in range(len(factors.classes)):
            trees = factors.trees(k)
            own = np.subtract(
                scores[trees, :rows], scores[trees, :rows].max(axis=0), out=probability[trees]
            )
            np.exp(own, out=own)
            own /= own.sum(axis=0)
        np.subtract(factors.members, probability, out=residual[:, :rows])
        for first in range(0, count, together):
            some = slice(first, min(first + together, count))
            leaf, gains = _grow(codes, residual[some])
            importance[some] += gains
            _step(scores[some], leaf, residual[some], probability[some], rate[some])
    importance = np.add.reduceat(importance, factors.starts[:-1])
    total = importance.sum(axis=1, keepdims=True)
    return importance / np.where(total > 0, total, 1.0), scores


def _grow(codes: SortedCodes, residual: Floats) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Grow a tree on each row of residuals.

    Returns the leaf of each row of the tables, and what cuts at each code removed, (tree, code).
    """
    trees, rows = len(residual), codes.rows
    gains = np.zeros(trees * codes.codes)
    leaf = np.zeros(residual.shape, dtype=np.int8)
    leaf[:, codes.nothing] = -1
    turns: list[NDArray[np.bool_]] = []
    tree = np.arange(trees)
    # Zero where a tree has nothing left to do.
    most, least = np.maximum(residual.max(axis=1), 1e-6), np.minimum(residual.min(axis=1), -1e-6)
    # What is summed over blocks: residuals, rows and positive residuals.
    summed = np.ones((rows, 1, 3, trees), dtype=np.float32)
    summed[:, 0, 0] = residual[:, :rows].T
    np.maximum(summed[:, 0, 0], 0.0, out=summed[:, 0, 2])
    blocks = codes.sums(summed).swapaxes(0, 1)
    for depth in range(DEPTH):
        width = 2**depth
        if depth:
            leaf_by_row = np.empty(summed.shape, dtype=np.int8)
            leaf_by_row[:] = leaf[:, :rows].T[:, None, None]
            left = (leaf_by_row == LEAF_NUMBERS[:width:2, None, None]).astype(np.float32)
            left *= summed
            blocks = _with_siblings(blocks, codes.sums(left).swapaxes(0, 1))
            tree, most, least = (np.concatenate([each, each]) for each in (tree, most, least))
        nodes = Nodes(tree, LEAF_NUMBERS[:width].repeat(trees), residual, leaf, most, least)
        cuts = best_cuts(codes, nodes, blocks.reshape(3, width * trees, -1))
        gains += np.bincount(tree * codes.codes + cuts.code, cuts.gain, gains.size)
        turns.append(
            _goes_right(
                codes, turns, cuts.code.reshape(width, trees), cuts.rank.reshape(width, trees, 1)
            )
        )
        leaf += leaf
        leaf += turns[-1]
    return leaf, gains.reshape(trees, -1)


def _goes_right(
    codes: SortedCodes,
    turns: list[NDArray[np.bool_]],
    code: Places,
    rank: NDArray[np.signedinteger[Any]],
) -> NDArray[np.bool_]:
    """Tell which rows of a tree go right at their node, after the turns that led them there."""
    sides = [codes.ranks.take(c, axis=0) > r for c, r in zip(code, rank, strict=True)]
    for right in reversed(turns):
        sides = [a ^ (right & (a ^ b)) for a, b in zip(sides[::2], sides[1::2], strict=True)]
    return sides[0]


def _with_siblings(parents: Floats, left: Floats) -> Floats:
    """Return sums of left children, and what they leave of their parents, (sum, node, …)."""
    both = np.empty((*left.shape[:2], 2, *left.shape[2:]), dtype=np.float32)
    both[:, :, 0] = left
    np.subtract(parents, left, out=both[:, :, 1])
    return both.reshape(len(left), -1, *left.shape[2:])


def _step(
    scores: Floats,
    leaf: NDArray[np.int8],
    residual: Floats,
    probability: Floats,
    rate: NDArray[np.float64],
) -> None:
    """Add each leaf's Newton step to the scores of its rows."""
    trees, rows = probability.shape
    places = leaf + (np.arange(trees) * LEAVES)[:, None]
    inside = places[:, :rows].ravel()
    curvature = probability - probability * probability
    numerator = np.bincount(inside, residual[:, :rows].ravel(), trees * LEAVES)
    weight = np.bincount(inside, curvature.ravel(), trees * LEAVES)
    steps = np.where(weight > 1e-150, numerator / np.maximum(weight, 1e-150), 0.0)
    steps *= np.repeat(rate, LEAVES)
    scores += steps.astype(np.float32).take(places, mode="wrap")
