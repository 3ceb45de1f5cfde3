"""Boosted trees of all classes at once: the study's trees, many times cheaper.

The algorithm is that of `_trees`, scikit-learn's GradientBoostingClassifier: 100 rounds of one
depth-3 regression tree per class, splits by squared error, leaves set by one Newton step,
shrinkage 0.1. The trees of a round are grown together, level by level, with the cuts of
`_cuts`, which are those of every threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics._cuts import Floats, Nodes, Places, Scratch, SortedCodes, best_cuts
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
from unweave.row_sums import add_at, sums_at
from unweave.tables import UNKNOWN

DEPTH = 3
LEAF_NUMBERS = np.arange(LEAVES, dtype=np.int8)

APART = 8
"""Sums of a leaf that are added up apart."""

SETTLED = 1e-4
"""Trees of which cuts have left no more of the squared error are cut no further."""

MOST_UNSETTLED = 0.75
"""Where more of the trees are cut further, all are: to part them takes longer."""

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
    scratch = Scratch()
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
            leaf, gains = _grow(codes, residual[some], scratch)
            importance[some] += gains
            _step(scores[some], leaf, residual[some], probability[some], rate[some], scratch)
    importance = np.add.reduceat(importance, factors.starts[:-1])
    total = importance.sum(axis=1, keepdims=True)
    return importance / np.where(total > 0, total, 1.0), scores


def _grow(
    codes: SortedCodes, residual: Floats, scratch: Scratch
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Grow a tree on each row of residuals.

    Returns the leaf of each row of the tables, and what cuts at each code removed, (tree, code).
    Of two children the left one keeps its parent's number, so that a level's left children are
    numbered before the right ones.
    """
    trees, rows = len(residual), codes.rows
    gains = np.zeros((trees, codes.codes))
    leaf = np.zeros(residual.shape, dtype=np.int8)
    leaf[:, codes.nothing] = -1
    # Zero where a tree has nothing left to do.
    most, least = np.maximum(residual.max(axis=1), 1e-6), np.minimum(residual.min(axis=1), -1e-6)
    grown = _Grown(np.arange(trees), residual, most, least, leaf, [])
    # What is summed over blocks: positive residuals, rows and residuals.
    summed = scratch.array("rows", (rows, 3, trees))
    summed[:, 1] = 1.0
    summed[:, 2] = residual[:, :rows].T
    np.maximum(summed[:, 2], 0.0, out=summed[:, 0])
    left = summed[:, :0]
    cells = codes.codes * codes.blocks
    sums = scratch.array("sums of 1", (4, trees, cells))
    codes.sums(summed, sums)
    error = _squared_error(residual[:, :rows], sums[2, :, codes.blocks - 1])
    for depth in range(DEPTH):
        width = 2**depth
        if depth:
            unsettled = np.flatnonzero(error - gains.sum(axis=1)[grown.tree] > SETTLED * error)
            if not len(unsettled):
                break
            if len(unsettled) <= MOST_UNSETTLED * len(grown.tree):
                grown, error = grown.of(unsettled), error[unsettled]
                summed, left = summed[:, :, unsettled], left[:, :, unsettled]
                of_parents = sums.reshape(4, width // 2, -1, cells)[:, :, unsettled]
                sums = of_parents.reshape(4, -1, cells)
            trees = len(grown.tree)
            stay = np.ascontiguousarray(~grown.turns[-1][:, :rows].T).astype(np.float32)[:, None]
            # Rows that go left: of the left one of two parents, then of both.
            before, left = left, scratch.array(f"rows left of {width}", (rows, 3 * depth, trees))
            np.multiply(before, stay, out=left[:, :-3])
            np.multiply(summed, stay, out=left[:, -3:])
            parents, sums = sums, scratch.array(f"sums of {width}", (4, width * trees, cells))
            codes.sums_of_children(parents, left, sums)
        cuts = best_cuts(codes, grown.nodes(width), sums, scratch)
        of_tree = np.tile(np.arange(trees), width)
        removed = np.bincount(of_tree * codes.codes + cuts.code, cuts.gain, trees * codes.codes)
        gains[grown.tree] += removed.reshape(trees, -1)
        shape = (width, trees)
        right = _goes_right(
            codes, grown.turns, cuts.code.reshape(shape), cuts.rank.reshape(shape), scratch
        )
        grown.turns.append(right)
        np.add(grown.leaf, right.view(np.int8) * np.int8(width), out=grown.leaf)
        if grown.leaf is not leaf:
            leaf[grown.tree] = grown.leaf
    return leaf, gains


@dataclass(frozen=True)
class _Grown:
    """Trees that may grow on: which of all, residuals, leaves and turns so far, a row for each."""

    tree: Places
    residual: Floats
    most: Floats
    least: Floats
    leaf: NDArray[np.int8]
    turns: list[NDArray[np.bool_]]

    def of(self, some: Places) -> "_Grown":
        """Return some of the trees."""
        return _Grown(
            self.tree[some],
            self.residual[some],
            self.most[some],
            self.least[some],
            self.leaf[some],
            [right[some] for right in self.turns],
        )

    def nodes(self, width: int) -> Nodes:
        """Return so many nodes of each tree, the first of every tree before the second."""
        tree = np.tile(np.arange(len(self.tree)), width)
        leaf = LEAF_NUMBERS[:width].repeat(len(self.tree))
        return Nodes(tree, leaf, self.residual, self.leaf, self.most[tree], self.least[tree])


def _squared_error(residual: Floats, total: Floats) -> NDArray[np.float64]:
    """Return the squared error of residuals around the mean of their tree, (tree,)."""
    squares = np.einsum("tr,tr->t", residual, residual).astype(np.float64)
    found: NDArray[np.float64] = squares - total.astype(np.float64) ** 2 / residual.shape[1]
    return found


def _goes_right(
    codes: SortedCodes,
    turns: list[NDArray[np.bool_]],
    code: Places,
    rank: NDArray[np.signedinteger[Any]],
    scratch: Scratch,
) -> NDArray[np.bool_]:
    """Tell which rows of a tree go right at their node, after the turns that led them there."""
    ranks = scratch.array("ranks", (*code.shape, codes.ranks.shape[1]), codes.ranks.dtype)
    codes.ranks.take(code, axis=0, out=ranks, mode="clip")
    sides = ranks > rank[..., None]
    for right in reversed(turns):
        half = len(sides) // 2
        left, other = sides[:half], sides[half:]
        other ^= left
        other &= right
        left ^= other
        sides = left
    return sides[0]


def _step(
    scores: Floats,
    leaf: NDArray[np.int8],
    residual: Floats,
    probability: Floats,
    rate: NDArray[np.float64],
    scratch: Scratch,
) -> None:
    """Add each leaf's Newton step to the scores of its rows."""
    trees, rows = probability.shape
    # Neighbouring rows are often of one leaf. They are summed apart, as no sum can be added to
    # before it is known.
    apart = np.arange(leaf.shape[1]) % APART * LEAVES
    places = scratch.array("places", leaf.shape, np.int64)
    np.add(leaf, apart, out=places)
    places[:, rows] = 0  # no row, which has no leaf

    def sums(values: Floats) -> Floats:
        by_place = sums_at(places[:, :rows], values, APART * LEAVES)
        of_leaf: Floats = by_place.reshape(trees, APART, LEAVES).sum(axis=1)
        return of_leaf

    weight = sums(probability - probability * probability)
    steps = np.where(weight > 1e-30, sums(residual[:, :rows]) / np.maximum(weight, 1e-30), 0.0)
    steps = (steps * rate[:, None]).astype(np.float32)
    add_at(scores, np.concatenate([steps] * APART, axis=1), places)
