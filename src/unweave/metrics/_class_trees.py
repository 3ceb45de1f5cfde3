"""Boosted trees with the thresholds that matter: beside the rows of each class.

The algorithm is that of `_trees`, scikit-learn's GradientBoostingClassifier. What differs
is where a code may be cut. The tree of class k is grown on residuals that are positive for
rows of that class and negative for all others. Over the rows sorted by a code, let S_i be
the sum of the first i residuals of n: the squared error that a cut after row i removes,

    S_i² / i + (S_n - S_i)² / (n - i) - S_n² / n

is convex in (i, S_i), so the best cut lies at a corner of the line through these points. The
line rises at rows of the class and falls slowly elsewhere: its corners lie beside rows of
the class. Cuts on both sides of each such row, and at some quantiles for the corners that
slowly changing probabilities make, give the trees of every threshold. A class of n / K rows
has some 2 n / K cuts, so all K classes together cost as much as two classes with every cut.

Above `WIDEST` codes thresholds are quantiles, which is cheaper and, there, as good: the
more codes, the less hangs on a threshold of one.

Codes are therefore handed to LightGBM as numbers of intervals, anew for each class. Their
order is all that a tree looks at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics._trees import (
    LEAVES,
    RATE,
    Boosted,
    begin,
    boost_each,
    each_column,
    most_frequent,
    of_labelled,
    share_among_equals,
    varying_columns,
)

WIDEST = 128
"""Codes beyond which thresholds are quantiles: so many codes leave each threshold less to say."""

QUANTILES_OF_WIDE = 63

QUANTILES = 1024
"""Parts of equal counts that every code is cut into whatever the class: 32 cost as much, and
take the importance of a noisy code at 10,000 rows from 0.688 to 0.683, every cut to 0.696."""

ROUNDING = 1e-12
"""Outputs of leaves that differ by less are the same."""

MOST_INTERVALS = 2048
"""Classes share intervals while no code has more of them: a table of intervals costs time too."""


@dataclass(frozen=True)
class Column:
    """A code over the training rows, sorted once for all classes."""

    values: NDArray[np.float64]
    """Distinct values, ascending."""
    rank: NDArray[np.int64]
    """Each row's place among them."""
    quantiles: NDArray[np.int64]
    """Places at which quantiles begin."""

    def starts(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark the values at which an interval begins when these rows are to lie alone."""
        start = np.zeros(len(self.values) + 1, dtype=bool)
        start[0] = start[self.quantiles] = True
        alone = self.rank[rows]
        start[alone] = start[alone + 1] = True
        return start[:-1]


def sorted_column(column: NDArray[np.float64]) -> Column:
    """Sort a code and find its quantiles."""
    values, rank = np.unique(column, return_inverse=True)
    places = np.sort(rank)[np.arange(1, QUANTILES) * len(rank) // QUANTILES]
    return Column(values, rank, np.unique(places))


def boost_each_class(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    sizes: Sequence[int],
    others: NDArray[np.float64],
    *,
    seed: int = 0,
    rounds: int = 100,
) -> list[Boosted]:
    """Fit trees to each column of labels, several columns at a time."""
    if x.shape[1] > WIDEST:
        return boost_each(x, labels, sizes, others, seed=seed, quantiles=QUANTILES_OF_WIDE)
    codes = varying_columns(x)
    columns = [sorted_column(x[:, code]) for code in codes]

    def fit(index: int) -> Boosted:
        def fit_rows(rows: NDArray[np.int64] | slice) -> Boosted:
            own = columns if isinstance(rows, slice) else [sorted_column(x[rows, c]) for c in codes]
            return _boost(x[rows], labels[rows, index], others, codes, own, seed, rounds)

        return of_labelled(labels[:, index], fit_rows)

    return each_column(fit, sizes)


def _boost(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    others: NDArray[np.float64],
    codes: list[int],
    columns: list[Column],
    seed: int,
    rounds: int,
) -> Boosted:
    present, dense = np.unique(labels, return_inverse=True)
    count, rows = len(present), len(x)
    if count < 2 or not codes:
        return most_frequent(x, labels, others)
    groups = [_Group(columns, dense, classes, seed) for classes in _grouped(np.bincount(dense))]
    prior = np.log(np.bincount(dense) / rows)
    scores = np.repeat(prior[:, None], rows, axis=1)
    targets = np.zeros((count, rows))
    targets[dense, np.arange(rows)] = 1.0
    rate = RATE * (count - 1) / count
    for _ in range(rounds):
        probability = np.exp(scores - scores.max(axis=0))
        probability /= probability.sum(axis=0)
        residual = targets - probability
        curvature = probability * (1 - probability)
        for group in groups:
            group.grow(scores, residual, curvature, rate)
    importance = np.zeros(x.shape[1])
    importance[codes] = sum(group.importance() for group in groups)
    total = importance.sum()
    predicted = np.repeat(prior[:, None], len(others), axis=1)
    for group in groups:
        predicted[group.classes] += group.scores_of(others[:, codes])
    return Boosted(
        share_among_equals(x, importance / total if total > 0 else importance),
        present[scores.argmax(axis=0)],
        present[predicted.argmax(axis=0)],
    )


def _grouped(counts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Put classes together as long as their intervals are few."""
    groups: list[list[int]] = []
    room = 0
    for k, count in enumerate(counts):
        if 2 * count > room:
            groups.append([])
            room = MOST_INTERVALS - QUANTILES
        groups[-1].append(k)
        room -= 2 * int(count)
    return [np.array(classes) for classes in groups]


class _Group:
    """The trees of classes that share intervals."""

    def __init__(
        self,
        columns: list[Column],
        labels: NDArray[np.int64],
        classes: NDArray[np.int64],
        seed: int,
    ) -> None:
        self.classes, self.columns = classes, columns
        self.rows = np.flatnonzero(np.isin(labels, classes))
        inputs = np.empty((len(labels), len(columns)), dtype=np.float32)
        for place, column in enumerate(columns):
            interval = np.cumsum(column.starts(self.rows)) - 1
            inputs[:, place] = interval[column.rank]
        most = int(inputs.max()) + 1
        self.booster = begin(inputs, len(classes), seed, bins=most)
        self.before = np.zeros((len(classes), len(labels)))
        self.steps: list[list[tuple[NDArray[np.float64], NDArray[np.float64]]]] = []
        """For each round and class: the leaves' outputs and their Newton steps."""

    def grow(
        self,
        scores: NDArray[np.float64],
        residual: NDArray[np.float64],
        curvature: NDArray[np.float64],
        rate: float,
    ) -> None:
        """Grow a tree for each class on the residuals and add its Newton steps to the scores."""
        gradient = np.ascontiguousarray(-residual[self.classes].T, dtype=np.float32)
        if len(self.classes) == 1:  # LightGBM wants a single class without an axis of its own
            gradient = gradient[:, 0]
        ones = np.ones_like(gradient)
        finished = self.booster.update(fobj=lambda *_: (gradient, ones))
        if finished and self.steps:
            return  # nothing is left to split, and LightGBM keeps no trees of this round
        now = self._outputs()
        found = []
        for place, k in enumerate(self.classes):
            # What LightGBM added to a row is the output of its leaf, by which leaves are known.
            gained = now[place] - self.before[place]
            outputs, leaf = _distinct(gained)
            numerator = np.bincount(leaf, residual[k], len(outputs))
            weight = np.bincount(leaf, curvature[k], len(outputs))
            steps = np.where(weight > 1e-150, numerator / np.maximum(weight, 1e-150), 0.0) * rate
            scores[k] += steps[leaf]
            found.append((outputs, steps))
        self.before = now
        self.steps.append(found)

    def _outputs(self) -> NDArray[np.float64]:
        """Return the sum of all outputs so far, (class, row)."""
        kept: list[NDArray[np.float64]] = []

        def keep(outputs: NDArray[np.float64], _: Any) -> tuple[str, float, bool]:
            kept.append(np.array(outputs.reshape(self.before.shape[1], -1).T, dtype=np.float64))
            return "", 0.0, True

        self.booster.eval_train(keep)
        return kept[0]

    def importance(self) -> NDArray[np.float64]:
        """Return the squared error that splits on each code removed."""
        return np.asarray(self.booster.feature_importance("gain"), dtype=np.float64)

    def scores_of(self, others: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of Newton steps of other rows, (class, row)."""
        inputs = np.empty(others.shape, dtype=np.float32)
        for place, column in enumerate(self.columns):
            first = np.flatnonzero(column.starts(self.rows))[1:]
            middles = (column.values[first] + column.values[first - 1]) / 2
            inputs[:, place] = np.searchsorted(middles, others[:, place], side="left")
        leaves = np.asarray(self.booster.predict(inputs, pred_leaf=True, num_threads=1))
        count = len(self.classes)
        leaves = leaves.reshape(len(others), -1, count)
        result = np.zeros((count, len(others)))
        for turn, found in enumerate(self.steps):
            for place, (outputs, steps) in enumerate(found):
                leaf = leaves[:, turn, place]
                used = np.flatnonzero(np.bincount(leaf, minlength=LEAVES))
                own = [self.booster.get_leaf_output(turn * count + place, int(i)) for i in used]
                table = np.zeros(LEAVES)
                table[used] = steps[_nearest(outputs, np.array(own))]
                result[place] += table[leaf]
        return result


def _distinct(gained: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the few distinct values and which of them each row has.

    What differs by rounding only is one. For up to eight values, looking for one after the
    other beats sorting.
    """
    outputs: list[float] = []
    place = np.zeros(len(gained), dtype=np.int64)
    left = np.ones(len(gained), dtype=bool)
    while left.any():
        value = float(gained[left.argmax()])
        same = np.abs(gained - value) <= ROUNDING
        if outputs:
            place[same] = len(outputs)
        outputs.append(value)
        left &= ~same
    return np.array(outputs), place


def _nearest(outputs: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return which of a few outputs each value is."""
    return np.abs(values[:, None] - outputs).argmin(axis=1)
