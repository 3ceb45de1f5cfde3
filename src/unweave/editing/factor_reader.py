"""A judge that reads factors off images, with no part in any model's training.

A Gaussian kernel ridge regression on the leading principal components of the pixels, fitted to
images of the data set whose factors are known. It says how good it is on images that it was not
fitted to, so that what it reads off decoded ones can be believed or not. Factors with an order
are read as shares of their range, from 0 to 1; those without as one class of several.
"""

from dataclasses import dataclass

import numpy as np

from unweave.data import Factor, FactorImages
from unweave.errors import DataError

ROWS = 2_000
COMPONENTS = 64
HELD_OUT = 0.25
WIDTHS = (0.25, 0.5, 1.0, 2.0)
"""Of the kernel, in units of the median squared distance of images."""
PENALTIES = (1e-6, 1e-4, 1e-2)


@dataclass(frozen=True)
class Reading:
    """How well one factor is read off images that the reader was not fitted to."""

    factor: str
    categorical: bool
    quality: float
    """R² of a factor with an order, accuracy of one without."""
    chance: float
    """The same of a reader that always says the mean, or the commonest class."""
    error: float
    """Mean distance from the truth as a share of the range, or the share of wrong classes."""


@dataclass(frozen=True)
class FactorReader:
    """Fitted to images of a data set; arrays in, arrays out."""

    factors: tuple[Factor, ...]
    readings: tuple[Reading, ...]
    mean: np.ndarray
    components: np.ndarray
    """(component, pixel)."""
    anchors: np.ndarray
    """Images that were fitted to, (image, component)."""
    width: float
    weights: np.ndarray
    """(image, output)."""
    low: np.ndarray
    high: np.ndarray
    """Range of each factor, between which a share is read."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(factor.name for factor in self.factors)

    def read(self, images: np.ndarray) -> np.ndarray:
        """Return factors of images, (image, factor): shares of the range, or class numbers."""
        outputs = _kernel(self._project(images), self.anchors, self.width) @ self.weights
        return _from_outputs(outputs, self.factors)

    def change(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return how far each factor moved from images to others, image by image, (image, factor).

        A share of the range; of a factor without an order, 1 where its class is another.
        """
        first, second = self.read(before), self.read(after)
        moved = np.abs(second - first)
        classes = [i for i, factor in enumerate(self.factors) if factor.categorical]
        moved[:, classes] = first[:, classes] != second[:, classes]
        return moved

    def _project(self, images: np.ndarray) -> np.ndarray:
        return _projected(images, self.mean, self.components)


def fit_reader(data: FactorImages, rows: int = ROWS, seed: int = 0) -> FactorReader:
    """Fit a reader to rows of a data set drawn at random; a quarter of them judge it."""
    factors = tuple(f for f in data.factor_list if f.continuous or f.size > 1)
    if not factors:
        raise DataError(f"{data.name} has no factors that could be read off images")
    rng = np.random.default_rng((seed, 0xFAC7))
    chosen = rng.permutation(len(data))[: min(rows, len(data))]
    columns = [data.factor_names.index(factor.name) for factor in factors]
    table = data.factors(chosen)[:, columns].astype(np.float64)
    images = data.images(chosen, rng)
    if len(chosen) < 20:
        raise DataError(f"{data.name} has {len(chosen)} images; a reader of factors needs 20")
    low, high = table.min(axis=0), table.max(axis=0)
    truth = _as_shares(table, factors, low, high)
    fitted = len(chosen) - max(1, round(HELD_OUT * len(chosen)))
    tuned = fitted - max(1, round(HELD_OUT * fitted))
    mean = images[:fitted].mean(axis=0, dtype=np.float64).reshape(-1)
    components = _principal(images[:fitted].reshape(fitted, -1) - mean)
    points = _projected(images, mean, components)
    outputs = _outputs(truth, factors)
    width, penalty = _best_fit(points[:fitted], outputs[:fitted], tuned)
    weights = _solve(points[:fitted], outputs[:fitted], width, penalty)
    judged = _from_outputs(_kernel(points[fitted:], points[:fitted], width) @ weights, factors)
    readings = tuple(
        _reading(factor, truth[:fitted, i], truth[fitted:, i], judged[:, i])
        for i, factor in enumerate(factors)
    )
    return FactorReader(
        factors, readings, mean, components, points[:fitted], width, weights, low, high
    )


def _reading(factor: Factor, known: np.ndarray, truth: np.ndarray, judged: np.ndarray) -> Reading:
    if factor.categorical:
        right = float((truth == judged).mean())
        commonest = np.bincount(known.astype(np.int64)).argmax()
        return Reading(factor.name, True, right, float((truth == commonest).mean()), 1 - right)
    spread = float(((truth - truth.mean()) ** 2).sum())
    explained = 1 - float(((truth - judged) ** 2).sum()) / spread if spread > 0 else 0.0
    return Reading(factor.name, False, explained, 0.0, float(np.abs(truth - judged).mean()))


def _principal(centred: np.ndarray) -> np.ndarray:
    """Return the leading principal components, (component, pixel)."""
    count = min(COMPONENTS, *centred.shape)
    if centred.shape[1] <= len(centred):
        _, vectors = np.linalg.eigh(centred.T @ centred)
        return np.ascontiguousarray(vectors[:, ::-1][:, :count].T)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    leading = vectors[:, ::-1][:, :count]
    scale = np.sqrt(np.maximum(values[::-1][:count], 1e-12))
    found: np.ndarray = (centred.T @ leading / scale).T
    return found


def _projected(images: np.ndarray, mean: np.ndarray, components: np.ndarray) -> np.ndarray:
    flat = np.asarray(images, dtype=np.float64).reshape(len(images), -1)
    points: np.ndarray = (flat - mean) @ components.T
    return points


def _kernel(points: np.ndarray, anchors: np.ndarray, width: float) -> np.ndarray:
    return np.exp(-_squared_distances(points, anchors) / (2 * width))


def _squared_distances(points: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    squares = (points**2).sum(1)[:, None] + (anchors**2).sum(1)[None] - 2 * points @ anchors.T
    return np.maximum(squares, 0)


def _best_fit(points: np.ndarray, outputs: np.ndarray, fitted: int) -> tuple[float, float]:
    """Choose width and penalty by the error on rows that are then fitted to as well."""
    squares = _squared_distances(points[:fitted], points[:fitted])
    median = float(np.median(squares)) or 1.0
    best, least = (median, PENALTIES[-1]), np.inf
    for width in (scale * median for scale in WIDTHS):
        inside = np.exp(-squares / (2 * width))
        outside = _kernel(points[fitted:], points[:fitted], width)
        for penalty in PENALTIES:
            weights = _ridge(inside, outputs[:fitted], penalty)
            error = float(((outside @ weights - outputs[fitted:]) ** 2).sum())
            if error < least:
                best, least = (width, penalty), error
    return best


def _solve(points: np.ndarray, outputs: np.ndarray, width: float, penalty: float) -> np.ndarray:
    return _ridge(_kernel(points, points, width), outputs, penalty)


def _ridge(kernel: np.ndarray, outputs: np.ndarray, penalty: float) -> np.ndarray:
    from scipy.linalg import solve

    weights: np.ndarray = solve(
        kernel + penalty * len(kernel) * np.eye(len(kernel)), outputs, assume_a="pos"
    )
    return weights


def _as_shares(
    table: np.ndarray, factors: tuple[Factor, ...], low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    shares = (table - low) / np.where(high > low, high - low, 1.0)
    classes = [i for i, factor in enumerate(factors) if factor.categorical]
    shares[:, classes] = table[:, classes]
    return shares


def _outputs(truth: np.ndarray, factors: tuple[Factor, ...]) -> np.ndarray:
    """Return what is fitted: a share, or a 1 for the class and 0 for all others."""
    columns = [
        np.eye(factor.size)[truth[:, i].astype(np.int64)] if factor.categorical else truth[:, [i]]
        for i, factor in enumerate(factors)
    ]
    return np.concatenate(columns, axis=1)


def _from_outputs(outputs: np.ndarray, factors: tuple[Factor, ...]) -> np.ndarray:
    columns, place = [], 0
    for factor in factors:
        size = factor.size if factor.categorical else 1
        part = outputs[:, place : place + size]
        columns.append(
            part.argmax(1).astype(float) if factor.categorical else part[:, 0].clip(0, 1)
        )
        place += size
    return np.stack(columns, axis=1)
