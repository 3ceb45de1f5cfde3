"""Predictors of factors that say how much each code matters, for DCI."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics._class_trees import boost_each_class
from unweave.metrics._trees import Boosted, boost_each
from unweave.tables import UNKNOWN, FactorTable, standardize, varying_codes

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Fitted:
    """What predictors of all factors say."""

    importance: NDArray[np.float64]
    """(code, factor), not negative."""

    informativeness: NDArray[np.float64]
    train_informativeness: NDArray[np.float64]
    meaning: str


Predictor = Callable[[NDArray[np.float64], FactorTable, Rows, Rows, int], Fitted]


def class_trees(
    codes: NDArray[np.float64], factors: FactorTable, train: Rows, test: Rows, seed: int
) -> Fitted:
    """Classify by boosted trees with thresholds beside the rows of each class."""
    labels = factors.labels[train]
    trees = boost_each_class(codes[train], labels, factors.sizes, codes[test])
    return _fitted(trees, factors, train, test)


def boosted_trees(
    codes: NDArray[np.float64],
    factors: FactorTable,
    train: Rows,
    test: Rows,
    seed: int,
    every_threshold: bool = False,
) -> Fitted:
    """Classify by boosted trees with thresholds at quantiles, or with every one."""
    trees = boost_each(
        codes[train],
        factors.labels[train],
        factors.sizes,
        codes[test],
        seed=seed,
        every_threshold=every_threshold,
    )
    return _fitted(trees, factors, train, test)


def _fitted(trees: list[Boosted], factors: FactorTable, train: Rows, test: Rows) -> Fitted:
    columns = [fitted.importance for fitted in trees]
    on_train, on_test = [], []
    for fitted, labels in zip(trees, factors.labels.T, strict=True):
        on_train.append(_accuracy(fitted.train_prediction, labels[train]))
        on_test.append(_accuracy(fitted.prediction, labels[test]))
    return Fitted(np.stack(columns, axis=1), np.array(on_test), np.array(on_train), "accuracy")


def _accuracy(predicted: Rows, labels: Rows) -> float:
    """Return how often a label is predicted, over the rows that have one."""
    known = labels != UNKNOWN
    return float((predicted[known] == labels[known]).mean())


def scikit_boosted_trees(
    codes: NDArray[np.float64], factors: FactorTable, train: Rows, test: Rows, seed: int
) -> Fitted:
    """Classify by scikit-learn's boosted trees: minutes for factors with many values."""
    from sklearn.ensemble import GradientBoostingClassifier

    columns, on_train, on_test = [], [], []
    for index, labels in enumerate(factors.labels.T):
        fitted, judged = factors.known_rows(index, train), factors.known_rows(index, test)
        if len(np.unique(labels[fitted])) < 2:  # scikit-learn refuses a single class
            columns.append(np.zeros(codes.shape[1]))
            on_train.append(1.0)
            on_test.append((labels[judged] == labels[fitted][0]).mean())
            continue
        model = GradientBoostingClassifier(random_state=seed).fit(codes[fitted], labels[fitted])
        columns.append(model.feature_importances_)
        on_train.append(model.score(codes[fitted], labels[fitted]))
        on_test.append(model.score(codes[judged], labels[judged]))
    return Fitted(np.stack(columns, axis=1), np.array(on_test), np.array(on_train), "accuracy")


def lasso(
    codes: NDArray[np.float64], factors: FactorTable, train: Rows, test: Rows, seed: int
) -> Fitted:
    """Regress by the authors' lasso."""
    from sklearn.linear_model import Lasso

    def fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64]]:
        model = Lasso(alpha=0.02).fit(x, y)
        return model.predict, np.abs(model.coef_)

    return _regress(codes, factors, train, test, fit)


def random_forest(
    codes: NDArray[np.float64], factors: FactorTable, train: Rows, test: Rows, seed: int
) -> Fitted:
    """Regress by the authors' random forest."""
    from sklearn.ensemble import RandomForestRegressor

    def fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64]]:
        model = RandomForestRegressor(10, max_depth=12, random_state=seed).fit(x, y)
        return model.predict, model.feature_importances_

    return _regress(codes, factors, train, test, fit)


def entropy_forest(
    codes: NDArray[np.float64], factors: FactorTable, train: Rows, test: Rows, seed: int
) -> Fitted:
    """Classify by the random forest of Tripod's authors."""
    from sklearn.ensemble import RandomForestClassifier

    columns, on_train, on_test = [], [], []
    for labels in factors.labels.T:
        model = RandomForestClassifier(100, criterion="entropy", max_depth=10, random_state=seed)
        model.fit(codes[train], labels[train])
        columns.append(model.feature_importances_)
        on_train.append(model.score(codes[train], labels[train]))
        on_test.append(model.score(codes[test], labels[test]))
    return Fitted(np.stack(columns, axis=1), np.array(on_test), np.array(on_train), "accuracy")


def least_squares(
    codes: NDArray[np.float64], factors: FactorTable, train: Rows, test: Rows, seed: int
) -> Fitted:
    """Regress by least squares; equal codes share their weight (least norm)."""

    def fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64]]:
        weights = np.linalg.lstsq(x, y, rcond=1e-10)[0]
        return lambda inputs: inputs @ weights, np.abs(weights)

    return _regress(codes, factors, train, test, fit)


def cross_validated_lasso(
    codes: NDArray[np.float64], factors: FactorTable, train: Rows, test: Rows, seed: int
) -> Fitted:
    """Regress by a lasso whose penalty is chosen by cross-validation, all columns in [0, 1].

    Judged on its own rows: informativeness is 1 - 12 × squared error, as the
    variance of a uniform factor is 1/12.
    """
    from sklearn.linear_model import LassoCV

    # Folds are runs of the table's own order, as in the reference.
    rows = np.sort(np.concatenate([train, test]))
    alphas = [0.0001, 0.001, 0.01, 0.1, 0.2, 0.4, 0.8, 1.0]
    x, targets = _to_unit_range(codes[rows]), _to_unit_range(factors.values[rows])
    columns, informativeness = [], []
    for y in targets.T:
        folds = min(10, len(rows))
        model = LassoCV(alphas=alphas, cv=folds, max_iter=5000).fit(x, y)
        columns.append(np.abs(model.coef_))
        informativeness.append(max(1 - 12 * float(((model.predict(x) - y) ** 2).mean()), 0.0))
    result = np.array(informativeness)
    return Fitted(np.stack(columns, axis=1), result, result, "1 - 12 × squared error")


PREDICTORS: dict[str, Predictor] = {
    "locatello2019_trees": class_trees,
    "locatello2019_lightgbm": boosted_trees,
    "locatello2019_exact": functools.partial(boosted_trees, every_threshold=True),
    "locatello2019": scikit_boosted_trees,
    "eastwood2018": lasso,
    "eastwood2018_forest": random_forest,
    "carbonneau2022": cross_validated_lasso,
    "lin2020": lasso,
    "hsu2024": entropy_forest,
    "linear": least_squares,
}

STANDARDIZED = ("eastwood2018", "eastwood2018_forest", "lin2020", "linear")
"""Predictors that scale codes to deviation 1 first; trees do not look at the scale."""


def _regress(
    codes: NDArray[np.float64], factors: FactorTable, train: Rows, test: Rows, fit: Any
) -> Fitted:
    x, targets = (
        standardize(codes, codes[train]),
        standardize(factors.values, factors.values[train]),
    )
    columns, on_train, on_test = [], [], []
    for y in targets.T:
        predict, weights = fit(x[train], y[train])
        columns.append(weights)
        # Targets have deviation one, so this is the error relative to the deviation.
        on_train.append(1 - float(np.sqrt(((predict(x[train]) - y[train]) ** 2).mean())))
        on_test.append(1 - float(np.sqrt(((predict(x[test]) - y[test]) ** 2).mean())))
    importance = np.stack(columns, axis=1)
    return Fitted(importance, np.array(on_test), np.array(on_train), "1 - error / deviation")


def _to_unit_range(table: NDArray[np.float64]) -> NDArray[np.float64]:
    low = table.min(axis=0)
    span = np.where(varying_codes(table), table.max(axis=0) - low, 1.0)
    return (table - low) / span
