"""Logistic regression: one classifier per class, all fitted at once by Newton's method.

For class k with targets y = ±1, minimise

    ½‖w‖² + C Σ_i c_i log(1 + exp(-y_i w·x_i))

where x ends in a constant 1. The penalty includes the intercept unless told
otherwise, as liblinear, the solver of the study by Locatello et al., does. Few
columns make Newton's steps cheap: all Hessians come from one product of matrices.
With many columns no Hessian is formed: conjugate gradients find the step of every
class at once from products with the inputs, in single precision, which is enough for
a step that the next one corrects.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

LARGEST_PRODUCT = 20_000_000
"""Numbers held for products of columns; beyond it no Hessian is made."""

MOST_TURNS = 200
"""Turns of conjugate gradients that a step may take."""


class LinearClassifier:
    """A linear score w·x for each class."""

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self.weights = weights

    def scores(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return w·x, (row, class)."""
        return with_constant(x) @ self.weights.T

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class with the largest score."""
        return self.scores(x).argmax(axis=1)

    def probabilities(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each class's probability, divided by their sum as scikit-learn does."""
        each = expit(self.scores(x))
        return each / np.maximum(each.sum(axis=1, keepdims=True), 1e-300)


def with_constant(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add a column of ones."""
    return np.concatenate([x, np.ones((len(x), 1))], axis=1)


def fit_one_vs_rest(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    classes: int,
    *,
    C: float = 1.0,
    balanced: bool = False,
    free_intercept: bool = False,
    steps: int = 100,
) -> LinearClassifier:
    """Fit one classifier per class; `balanced` gives a class and the rest the same weight."""
    # Products this small gain nothing from threads, and lose much on a busy machine.
    with threadpool_limits(1, "blas"):
        return _fit_one_vs_rest(x, labels, classes, C, balanced, free_intercept, steps)


def _fit_one_vs_rest(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    classes: int,
    C: float,
    balanced: bool,
    free_intercept: bool,
    steps: int,
) -> LinearClassifier:
    inputs = with_constant(x)
    targets = np.zeros((len(x), classes))
    targets[np.arange(len(x)), labels] = 1.0
    row_weights = _balanced_weights(targets) if balanced else np.ones((len(x), 1))
    weights = np.zeros((classes, inputs.shape[1]))
    penalty = np.full(inputs.shape[1], 1.0 / C)
    if free_intercept:
        penalty[-1] = 0.0
    products = _column_products(inputs)
    wide = _WideSteps(inputs, penalty) if products is None else None

    def evaluate(w: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return each class's loss and every row's probabilities."""
        score = inputs @ w.T
        # One exponential of a number ≤ 0 serves both, and cannot overflow.
        small = np.exp(-np.abs(score))
        probability = np.where(score >= 0, 1.0, small) / (1 + small)
        loss = row_weights * (np.maximum(score, 0) + np.log(1 + small) - targets * score)
        return loss.sum(axis=0) + 0.5 * (penalty * w**2).sum(axis=1), probability

    value, probability = evaluate(weights)
    for _ in range(steps):
        gradient = (row_weights * (probability - targets)).T @ inputs + penalty * weights
        unfinished = np.abs(gradient).max(axis=1) > 1e-6 * len(x) ** 0.5
        if not unfinished.any():
            break
        curvature = row_weights * probability * (1 - probability)
        step: NDArray[np.float64]
        if wide is not None:
            step = wide.step(gradient, curvature, unfinished)
        else:
            assert products is not None
            hessians = _hessians(inputs, products, curvature)
            hessians += np.diag(penalty + 1e-12)
            step = np.asarray(np.linalg.solve(hessians, gradient[..., None])[..., 0], np.float64)
        # Halve the steps of the classes whose loss would rise.
        length = np.ones(classes)
        for _ in range(30):
            tried, probability = evaluate(weights - length[:, None] * step)
            worse = tried > value + 1e-12 * np.abs(value)
            if not worse.any():
                break
            length = np.where(worse, length / 2, length)
        else:
            break
        weights = weights - length[:, None] * step
        gained = value - tried
        value = tried
        if not (gained > 1e-7 * np.maximum(np.abs(value), 1.0)).any():
            break
    return LinearClassifier(weights)


def fit_by_adagrad(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    classes: int,
    rng: np.random.Generator,
    *,
    steps: int = 10_000,
    batch: int = 10,
    rate: float = 0.01,
) -> LinearClassifier:
    """Lower the mean cross-entropy of softmax regression by steps of Adagrad, from zero weights."""
    inputs, targets = with_constant(x), np.eye(classes)[labels]
    weights = np.zeros((classes, inputs.shape[1]))
    squares = np.zeros_like(weights)
    for rows in rng.integers(len(x), size=(steps, batch)):
        error = softmax(inputs[rows] @ weights.T, axis=1) - targets[rows]
        gradient = error.T @ inputs[rows] / batch
        squares += gradient**2
        weights -= rate * gradient / (np.sqrt(squares) + 1e-10)
    return LinearClassifier(weights)


def area_under_curve(
    scores: NDArray[np.float64], labels: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the ROC area of each class against the rest, and which classes have one.

    A class without rows, or with all of them, has no area and is left out.
    """
    ranks = rankdata(scores, axis=0)
    counts = np.bincount(labels, minlength=scores.shape[1])
    present = np.flatnonzero((counts > 0) & (counts < len(labels)))
    sums = np.array([ranks[labels == k, k].sum() for k in present])
    positive = counts[present]
    areas = (sums - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))
    return areas, present


def fit_softmax(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    *,
    C: float,
    balanced: bool = False,
    steps: int = 100,
) -> Any:
    """Fit scikit-learn's multinomial regression, which does not penalise the intercept.

    Stopping at `steps` iterations is part of some protocols, so no warning is given.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        C=C, class_weight="balanced" if balanced else None, max_iter=steps, tol=1e-4
    )
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        # A factor may well have nearly as many values as there are rows.
        warnings.filterwarnings("ignore", message="The number of unique classes")
        return model.fit(x, labels)


def softmax_probabilities(model: Any, x: NDArray[np.float64], classes: int) -> NDArray[np.float64]:
    """Return probabilities of all classes; classes absent from the training rows get 0."""
    result = np.zeros((len(x), classes))
    scores = model.decision_function(x)
    if scores.ndim == 1:  # scikit-learn keeps a single score for two classes
        scores = np.stack([np.zeros(len(x)), scores], axis=1)
    result[:, model.classes_] = softmax(scores, axis=1)
    return result


def _balanced_weights(targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights, (row, class), that make each class as heavy as the rest."""
    inside = np.maximum(targets.sum(axis=0), 1.0)
    outside = np.maximum(len(targets) - targets.sum(axis=0), 1.0)
    return len(targets) / 2 * (targets / inside + (1 - targets) / outside)


def _column_products(inputs: NDArray[np.float64]) -> NDArray[np.float64] | None:
    count = inputs.shape[1]
    if len(inputs) * count * (count + 1) // 2 > LARGEST_PRODUCT:
        return None
    upper = np.triu_indices(count)
    return inputs[:, upper[0]] * inputs[:, upper[1]]


def _hessians(
    inputs: NDArray[np.float64],
    products: NDArray[np.float64],
    curvature: NDArray[np.float64],
) -> NDArray[np.float64]:
    count = inputs.shape[1]
    rows, columns = np.triu_indices(count)
    flat = curvature.T @ products
    hessians = np.empty((curvature.shape[1], count, count))
    hessians[:, rows, columns] = flat
    hessians[:, columns, rows] = flat
    return hessians


class _WideSteps:
    """Newton steps of all classes by conjugate gradients, without Hessians.

    The Hessian of a class is Xᵀ diag(c) X + penalty. Were the curvature c the same for every
    row, the axes of XᵀX would be those of all Hessians: they precondition.
    """

    def __init__(self, inputs: NDArray[np.float64], penalty: NDArray[np.float64]) -> None:
        self.inputs = inputs.astype(np.float32)
        self.penalty = (penalty + 1e-12).astype(np.float32)
        spread, axes = np.linalg.eigh(inputs.T @ inputs)
        self.spread = np.maximum(spread, 1e-6 * max(float(spread.max()), 1e-12))
        self.axes = axes.astype(np.float32)
        self.first: NDArray[np.float64] | None = None

    def step(
        self,
        gradient: NDArray[np.float64],
        curvature: NDArray[np.float64],
        unfinished: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Solve for the steps, (class, column), the better the smaller a gradient is.

        Solutions that are as good as the gradient is small keep Newton's fast convergence.
        """
        size = np.linalg.norm(gradient, axis=1)
        if self.first is None:
            self.first = np.maximum(size, 1e-300)
        wanted = size * np.minimum(0.05, np.sqrt(size / self.first))
        solution = np.zeros(gradient.shape)
        active = np.flatnonzero(unfinished)
        # Divided by its length, so that single precision holds it whatever the scale.
        left = (gradient[active] / size[active, None]).astype(np.float32)
        heights = self.spread * curvature.mean(axis=0)[:, None] + float(self.penalty[0])
        weights = curvature.T.astype(np.float32)
        found = np.zeros_like(left)
        ahead = self._preconditioned(left, heights[active])
        direction = ahead.copy()
        product = (left * ahead).sum(axis=1)
        for _ in range(MOST_TURNS):
            image = (direction @ self.inputs.T * weights[active]) @ self.inputs
            image += self.penalty * direction
            length = product / np.maximum((direction * image).sum(axis=1), 1e-30)
            found += length[:, None] * direction
            left -= length[:, None] * image
            going = np.linalg.norm(left, axis=1) * size[active] > wanted[active]
            if not going.all():
                solution[active[~going]] = found[~going]
                if not going.any():
                    active = active[going]
                    break
                active, found, left = active[going], found[going], left[going]
                direction, product = direction[going], product[going]
            ahead = self._preconditioned(left, heights[active])
            before, product = product, (left * ahead).sum(axis=1)
            direction = ahead + (product / np.maximum(before, 1e-30))[:, None] * direction
        else:
            solution[active] = found
        return solution * size[:, None]

    def _preconditioned(
        self, left: NDArray[np.float32], heights: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        turned = np.asarray(left @ self.axes, dtype=np.float32) / heights.astype(np.float32)
        return np.asarray(turned @ self.axes.T, dtype=np.float32)
