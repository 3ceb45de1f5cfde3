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
    share_among_equals,
    varying_columns,
)

DEPTH = 3

TOGETHER = 16
"""Trees that are grown at a time: more do not stay in the cache, fewer leave columns unused."""


def boost_each_class(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    sizes: Sequence[int],
    others: NDArray[np.float64],
    *,
    rounds: int = 100,
) -> list[Boosted]:
    """Fit trees to each column of labels, several columns at a time."""
    codes = varying_columns(x)
    shared = SortedCodes(x[:, codes], others[:, codes]) if codes else None

    def fit(index: int) -> Boosted:
        def fit_rows(rows: NDArray[np.int64] | slice) -> Boosted:
            kept = x[rows]
            varying = codes if isinstance(rows, slice) else varying_columns(kept)
            present, dense = np.unique(labels[rows, index], return_inverse=True)
            if len(present) < 2 or not varying:
                return most_frequent(kept, labels[rows, index], others)
            own = shared
            if own is None or not isinstance(rows, slice):
                own = SortedCodes(kept[:, varying], others[:, varying])
            importance, scores = _boost(own, dense, len(present), rounds)
            whole = np.zeros(x.shape[1])
            whole[varying] = importance
            predicted = present[scores.argmax(axis=0)]
            return Boosted(
                share_among_equals(kept, whole),
                predicted[: len(kept)],
                predicted[len(kept) + 1 :],
            )

        return of_labelled(labels[:, index], fit_rows)

    return each_column(fit, sizes)


def _boost(
    codes: SortedCodes, labels: NDArray[np.int64], classes: int, rounds: int
) -> tuple[NDArray[np.float64], Floats]:
    """Return the share of each code in the squared error removed, and scores, (class, row)."""
    rows = codes.rows
    prior = np.log(np.bincount(labels) / rows).astype(np.float32)
    scores = np.repeat(prior[:, None], codes.ranks.shape[1], axis=1)
    residual = np.zeros_like(scores)
    by_class = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))
    rate = RATE * (classes - 1) / classes
    importance = np.zeros(codes.codes)
    for _ in range(rounds):
        probability = scores[:, :rows] - scores[:, :rows].max(axis=0)
        np.exp(probability, out=probability)
        probability /= probability.sum(axis=0)
        np.negative(probability, out=residual[:, :rows])
        residual[labels, np.arange(rows)] += 1
        for first in range(0, classes, TOGETHER):
            some = slice(first, min(first + TOGETHER, classes))
            own = by_class[ends[first - 1] if first else 0 : ends[some.stop - 1]]
            leaf = _grow(codes, residual[some], own, labels[own] - first, importance)
            _step(scores[some], leaf, residual[some], probability[some], rate)
    total = importance.sum()
    return importance / total if total > 0 else importance, scores


def _grow(
    codes: SortedCodes,
    residual: Floats,
    own: Places,
    tree_of: Places,
    importance: NDArray[np.float64],
) -> NDArray[np.int8]:
    """Grow a tree on each row of residuals; return the leaf of each row of the tables.

    `own` are the rows of the trees' classes and `tree_of` the trees that they belong to. What
    the cuts remove is added to the importance of their codes.
    """
    trees, rows = len(residual), codes.rows
    trained = residual[:, :rows]
    size = trained[tree_of, own]
    leaf = np.zeros(residual.shape, dtype=np.int8)
    leaf[:, codes.nothing] = -1
    turns: list[list[NDArray[np.bool_]]] = [[] for _ in range(trees)]
    sums = codes.sums(trained)[:, None]
    counts = np.broadcast_to(codes.counts, sums.shape)
    for depth in range(DEPTH):
        width = 2**depth
        if depth:
            left = np.stack([leaf[:, :rows] == 2 * i for i in range(width // 2)], axis=1)
            of_left = np.empty((2, *left.shape), dtype=np.float32)
            of_left[1] = left
            np.multiply(of_left[1], trained[:, None], out=of_left[0])
            found = codes.sums(of_left.reshape(-1, rows)).reshape(2, *sums.shape)
            sums, counts = _with_siblings(sums, found[0]), _with_siblings(counts, found[1])
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
        importance += np.bincount(cuts.code, cuts.gain, codes.codes)
        code, rank = cuts.code.reshape(trees, width), cuts.rank.reshape(trees, width)
        for tree in range(trees):
            turns[tree].append(_goes_right(codes, turns[tree], code[tree], rank[tree]))
            leaf[tree] += leaf[tree]
            leaf[tree] += turns[tree][-1]
    return leaf


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
    both = np.stack([left, parents - left], axis=2)
    return both.reshape(len(left), -1, *left.shape[2:])


def _step(
    scores: Floats, leaf: NDArray[np.int8], residual: Floats, probability: Floats, rate: float
) -> None:
    """Add each leaf's Newton step to the scores of its rows."""
    rows = probability.shape[1]
    for k in range(len(scores)):  # one by one, what is at work stays in the cache
        inside = leaf[k, :rows]
        curvature = probability[k] - probability[k] ** 2
        numerator = np.bincount(inside, residual[k, :rows], LEAVES)
        weight = np.bincount(inside, curvature, LEAVES)
        steps = np.where(weight > 1e-150, numerator / np.maximum(weight, 1e-150), 0.0) * rate
        scores[k] += steps.astype(np.float32).take(leaf[k], mode="wrap")
