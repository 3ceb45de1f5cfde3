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
from unweave.row_sums import COLUMNS
from unweave.tables import UNKNOWN

DEPTH = 3

TOGETHER = COLUMNS
"""Trees that are grown at a time, at least: fewer leave columns of sums unused."""

NUMBERS_TOGETHER = 160_000
"""Residuals of trees that are grown at a time: more do not stay in the cache."""


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
        tree_of = (labels + self.starts[:-1]).ravel()
        rows = np.repeat(np.arange(len(labels)), labels.shape[1])
        order = np.argsort(tree_of, kind="stable")
        self.tree_of, self.rows = tree_of[order], rows[order]
        """Each row once for every factor, tree by tree: that of its class."""
        self.counts = np.bincount(tree_of)
        self.ends = np.concatenate([[0], np.cumsum(self.counts)])

    def trees(self, factor: int) -> slice:
        """Return the trees of a factor's classes."""
        return slice(self.starts[factor], self.starts[factor + 1])


def _boost(
    codes: SortedCodes, factors: _Factors, rounds: int
) -> tuple[NDArray[np.float64], Floats]:
    """Return each code's share in the squared error removed, (factor, code), and all scores."""
    rows, count = codes.rows, len(factors.counts)
    prior = np.log(factors.counts / rows).astype(np.float32)
    scores = np.repeat(prior[:, None], codes.ranks.shape[1], axis=1)
    residual, probability = np.zeros_like(scores), np.empty((count, rows), dtype=np.float32)
    factor_of = np.repeat(np.arange(len(factors.classes)), factors.classes)
    rate = RATE * (1 - 1 / factors.classes[factor_of])
    importance = np.zeros((len(factors.classes), codes.codes))
    together = max(TOGETHER, NUMBERS_TOGETHER // rows)
    for _ in range(rounds):
        for k in range(len(factors.classes)):
            trees = factors.trees(k)
            own = np.subtract(
                scores[trees, :rows], scores[trees, :rows].max(axis=0), out=probability[trees]
            )
            np.exp(own, out=own)
            own /= own.sum(axis=0)
        np.negative(probability, out=residual[:, :rows])
        residual[factors.tree_of, factors.rows] += 1
        for first in range(0, count, together):
            some = slice(first, min(first + together, count))
            members = slice(factors.ends[some.start], factors.ends[some.stop])
            leaf, gains = _grow(
                codes, residual[some], factors.rows[members], factors.tree_of[members] - first
            )
            np.add.at(importance, factor_of[some], gains)
            _step(scores[some], leaf, residual[some], probability[some], rate[some])
    total = importance.sum(axis=1, keepdims=True)
    return importance / np.where(total > 0, total, 1.0), scores


def _grow(
    codes: SortedCodes,
    residual: Floats,
    own: Places,
    tree_of: Places,
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Grow a tree on each row of residuals.

    `own` are the rows of the trees' classes and `tree_of` the trees that they belong to. Returns
    the leaf of each row of the tables, and what cuts at each code removed, (tree, code).
    """
    trees, rows = len(residual), codes.rows
    trained = residual[:, :rows]
    size = trained[tree_of, own]
    gains = np.zeros((trees, codes.codes))
    leaf = np.zeros(residual.shape, dtype=np.int8)
    leaf[:, codes.nothing] = -1
    turns: list[list[NDArray[np.bool_]]] = [[] for _ in range(trees)]
    by_row = np.ascontiguousarray(trained.T)
    sums = codes.sums([by_row])[0][:, None]
    counts = np.broadcast_to(codes.counts, sums.shape)
    for depth in range(DEPTH):
        width = 2**depth
        if depth:
            leaf_by_row = np.ascontiguousarray(leaf[:, :rows].T)
            left = [(leaf_by_row == 2 * i).astype(np.float32) for i in range(width // 2)]
            found = codes.sums([*(by_row * inside for inside in left), *left])
            found = np.moveaxis(found, 0, 1)
            sums = _with_siblings(sums, found[:, : width // 2])
            counts = _with_siblings(counts, found[:, width // 2 :])
        shape = (trees * width, codes.codes, codes.blocks + 1)
        cuts = best_cuts(
            codes,
            sums.reshape(shape),
            counts.reshape(shape),
            Nodes(
                np.repeat(np.arange(trees), width),
                np.tile(np.arange(width, dtype=np.int8), trees),
                residual,
                leaf,
                own,
                tree_of * width + leaf[tree_of, own],
                size,
            ),
        )
        gains += np.bincount(
            np.repeat(np.arange(trees), width) * codes.codes + cuts.code, cuts.gain, gains.size
        ).reshape(gains.shape)
        code, rank = cuts.code.reshape(trees, width), cuts.rank.reshape(trees, width)
        for tree in range(trees):
            turns[tree].append(_goes_right(codes, turns[tree], code[tree], rank[tree]))
            leaf[tree] += leaf[tree]
            leaf[tree] += turns[tree][-1]
    return leaf, gains


def _goes_right(
    codes: SortedCodes,
    turns: list[NDArray[np.bool_]],
    code: Places,
    rank: NDArray[np.signedinteger[Any]],
) -> NDArray[np.bool_]:
    """Tell which rows of a tree go right at their node, after the turns that led them there."""
    sides = [codes.ranks[c] > r for c, r in zip(code, rank, strict=True)]
    for right in reversed(turns):
        sides = [a ^ (right & (a ^ b)) for a, b in zip(sides[::2], sides[1::2], strict=True)]
    return sides[0]


def _with_siblings(parents: Floats, left: Floats) -> Floats:
    """Return sums of left children, and what they leave of their parents, (tree, node, …)."""
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
    rows = probability.shape[1]
    for k in range(len(scores)):  # one by one, what is at work stays in the cache
        places = leaf[k].astype(np.intp)
        inside = places[:rows]
        curvature = probability[k] - probability[k] ** 2
        numerator = np.bincount(inside, residual[k, :rows], LEAVES)
        weight = np.bincount(inside, curvature, LEAVES)
        steps = np.where(weight > 1e-150, numerator / np.maximum(weight, 1e-150), 0.0) * rate[k]
        scores[k] += steps.astype(np.float32).take(places, mode="wrap")
