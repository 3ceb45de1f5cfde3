"""Gradient boosted classification trees with scikit-learn's importances, by LightGBM.

This is the algorithm of scikit-learn's GradientBoostingClassifier with its
defaults: 100 rounds of one depth-3 regression tree per class, splits by squared
error, leaves set by one Newton step, shrinkage 0.1. Importance is the squared
error that splits on a code remove. LightGBM grows each round's trees on the
residuals (constant Hessians make its gain that squared error); the Newton steps
are taken here, because its own trees weigh rows by curvature and spread
importance differently.

Differs from scikit-learn: above `EXACT_ROWS` rows, unless every threshold is asked
for, thresholds are chosen among 255 quantiles of each code (`_class_trees` tries every one
at less cost); codes that order the rows alike, up to reversal, share their importance
equally instead of at random.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.process import usable_cores
from unweave.row_sums import sum_in_one_thread, threads_left_alone
from unweave.tables import UNKNOWN, is_constant

EXACT_ROWS = 2_000
"""Up to this many rows every threshold is tried."""

QUANTILES = 255
"""Thresholds of a code where not every one is tried."""

LEAVES = 8
RATE = 0.1

Fit = TypeVar("Fit")


@dataclass(frozen=True)
class Boosted:
    """Importance of each code, and predictions for the training and other rows."""

    importance: NDArray[np.float64]
    train_prediction: NDArray[np.int64]
    prediction: NDArray[np.int64]


def boost_each(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    sizes: Sequence[int],
    others: NDArray[np.float64],
    *,
    seed: int = 0,
    every_threshold: bool = False,
    quantiles: int | None = None,
) -> list[Boosted]:
    """Fit trees to each column of labels, several columns at a time."""

    def fit(index: int) -> Boosted:
        return of_labelled(
            labels[:, index],
            lambda rows: boost(
                x[rows],
                labels[rows, index],
                others,
                seed=seed,
                every_threshold=every_threshold,
                quantiles=quantiles,
            ),
        )

    return each_column(fit, sizes)


def of_labelled(
    labels: NDArray[np.int64], fit: Callable[[NDArray[np.int64] | slice], Boosted]
) -> Boosted:
    """Fit the rows that have a label; nothing is predicted of the others."""
    known = labels != UNKNOWN
    if known.all():
        return fit(slice(None))
    fitted = fit(np.flatnonzero(known))
    on_train = np.full(len(labels), UNKNOWN)
    on_train[known] = fitted.train_prediction
    return replace(fitted, train_prediction=on_train)


def each_column(fit: Callable[[int], Fit], sizes: Sequence[int]) -> list[Fit]:
    """Fit every column of labels, by its index, in as many threads as there are cores.

    LightGBM, numpy and torch let go of Python's lock, so threads are enough; columns with
    many classes start first, because they take longest. Torch's own threads would only stand
    in the way of these.
    """
    longest_first = sorted(range(len(sizes)), key=lambda index: -sizes[index])
    count = min(threads(), len(sizes))
    with threads_left_alone(), ThreadPoolExecutor(count, initializer=sum_in_one_thread) as pool:
        fitted = dict(zip(longest_first, pool.map(fit, longest_first), strict=True))
    return [fitted[index] for index in range(len(sizes))]


def threads() -> int:
    """Return the cores this process may use, or OMP_NUM_THREADS if that is fewer."""
    wished = os.environ.get("OMP_NUM_THREADS", "")
    return max(min(usable_cores(), int(wished) if wished.isdigit() else 64), 1)


def boost(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    others: NDArray[np.float64],
    *,
    seed: int = 0,
    rounds: int = 100,
    every_threshold: bool = False,
    quantiles: int | None = None,
) -> Boosted:
    """Fit trees to the labels and predict those of `others`."""
    present, dense = np.unique(labels, return_inverse=True)
    everything = np.concatenate([x, others])
    codes = varying_columns(x)
    count, total = len(present), len(everything)
    if count < 2 or not codes:
        return most_frequent(x, labels, others)
    inputs = np.ascontiguousarray(everything[:, codes])
    exact = every_threshold or (quantiles is None and len(x) <= EXACT_ROWS)
    booster = begin(inputs[: len(x)], count, seed, bins=len(x) if exact else quantiles or QUANTILES)
    # Scores are kept class by class, (class, row), which is also LightGBM's order.
    prior = np.log(np.bincount(dense) / len(x))
    scores = np.repeat(prior[:, None], total, axis=1)
    targets = np.zeros((count, len(x)))
    targets[dense, np.arange(len(x))] = 1.0
    ones = np.ones((len(x), count), dtype=np.float32)
    offsets = (np.arange(count) * LEAVES)[:, None]
    for turn in range(rounds):
        trained = scores[:, : len(x)]
        probability = np.exp(trained - trained.max(axis=0))
        probability /= probability.sum(axis=0)
        residual = targets - probability
        gradient = np.ascontiguousarray(-residual.T, dtype=np.float32)
        finished = booster.update(fobj=lambda *_, g=gradient: (g, ones))
        leaves = np.asarray(
            booster.predict(
                inputs, pred_leaf=True, start_iteration=turn, num_iteration=1, num_threads=1
            )
        )
        if finished or leaves.size == 0:
            break
        places = leaves.reshape(total, count).T.astype(np.int64) + offsets
        inside = places[:, : len(x)].ravel()
        size = count * LEAVES
        numerator = np.bincount(inside, residual.ravel(), size)
        curvature = np.bincount(inside, (probability * (1 - probability)).ravel(), size)
        steps = np.where(curvature > 1e-150, numerator / np.maximum(curvature, 1e-150), 0.0)
        scores += (RATE * (count - 1) / count * steps)[places]
    importance = np.zeros(x.shape[1])
    importance[codes] = booster.feature_importance("gain")
    predicted = present[scores.argmax(axis=0)]
    return Boosted(
        share_among_equals(x, _share(importance)), predicted[: len(x)], predicted[len(x) :]
    )


def varying_columns(x: NDArray[np.float64]) -> list[int]:
    """Return the columns that a tree can split on."""
    return [j for j in range(x.shape[1]) if not is_constant(x[:, j].min(), x[:, j].max())]


def most_frequent(
    x: NDArray[np.float64], labels: NDArray[np.int64], others: NDArray[np.float64]
) -> Boosted:
    """Predict the most frequent class, where there is nothing to learn."""
    present, counts = np.unique(labels, return_counts=True)
    most = present[counts.argmax()]
    return Boosted(np.zeros(x.shape[1]), np.full(len(x), most), np.full(len(others), most))


def begin(x: NDArray[Any], classes: int, seed: int, bins: int) -> Any:
    """Begin trees that LightGBM grows on residuals, one per class and round."""
    lightgbm = _lightgbm()
    # A tree of a few thousand rows is too small to share; factors are, see `boost_each`.
    # Threads are a setting of the whole process: were they not 1 everywhere, a data set that is
    # made while other threads grow trees would outrun memory meant for fewer threads.
    shared = {
        "verbosity": -1,
        "feature_pre_filter": False,
        "num_threads": 1,
        "enable_bundle": False,
    }
    data = lightgbm.Dataset(
        x, np.zeros(len(x)), params={**shared, "max_bin": max(bins, 2), "min_data_in_bin": 1}
    )
    return lightgbm.Booster(
        {
            **shared,
            "objective": "none",
            "metric": "none",
            "num_class": classes,
            "learning_rate": 1.0,
            "max_depth": 3,
            "num_leaves": LEAVES,
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 0.0,
            "min_gain_to_split": 1e-12,
            "boost_from_average": False,
            "deterministic": True,
            "force_col_wise": True,
            "seed": seed,
        },
        data,
    )


def _lightgbm() -> ModuleType:
    """Import LightGBM when it is needed: it takes a second, and a system library."""
    try:
        import lightgbm
    except (ImportError, OSError) as error:
        raise DataError(
            f"boosted trees need LightGBM, which does not load here ({error}). Install libgomp "
            f"(Debian and Ubuntu: apt-get install libgomp1), or take a protocol of scikit-learn's"
        ) from error
    module: ModuleType = lightgbm
    return module


def _share(importance: NDArray[np.float64]) -> NDArray[np.float64]:
    total = importance.sum()
    return importance / total if total > 0 else importance


def share_among_equals(
    x: NDArray[np.float64], importance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give codes that no tree can tell apart the same importance."""
    ranks = (np.unique(column, return_inverse=True)[1] for column in x.T)
    return share_among_alike(ranks, importance)


def share_among_alike(
    ranks: Iterable[NDArray[Any]], importance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give codes whose rows have the same ranks, or the reverse, the same importance."""
    groups: dict[bytes, list[int]] = {}
    for code, rank in enumerate(ranks):
        reverse = rank.max() - rank
        groups.setdefault(min(rank.tobytes(), reverse.tobytes()), []).append(code)
    shared = importance.copy()
    for members in groups.values():
        shared[members] = importance[members].mean()
    return shared
