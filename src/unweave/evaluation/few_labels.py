"""M1: a classifier that sees the codes of a few labelled images, and names all others.

D. P. Kingma et al., "Semi-supervised Learning with Deep Generative Models", NeurIPS 2014,
arXiv:1406.5298, section 2.1: a model learns from all images without their labels, then a
classifier of its codes learns from the labelled ones. So every method has its M1, and M1 of
`vae` is the paper's. The same classifiers of the same labelled pixels stand beside it.

Labels are drawn several times, as many of each class as of any other. Whatever a classifier
has to choose, scale, strength or neighbours, it chooses by the labelled images alone.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.batches import shared_column
from unweave.errors import ConfigError, DataError
from unweave.runs.model import Model, in_parts

ROWS = 4000
FOLDS = 5
CLASSIFIERS = ("logistic", "svm", "neighbours")


@dataclass(frozen=True)
class FewLabelProbe:
    """How often classifiers name a class right that have seen a few labels."""

    column: str
    """The factor or column whose values are the classes."""
    labels: int
    """How many images had their class given."""
    judged: int
    """How many others were named."""
    chance: float
    """Accuracy of always naming the commonest class."""
    codes: Mapping[str, tuple[float, ...]]
    """Accuracies by classifier, one for each draw of the labels: of the codes."""
    pixels: Mapping[str, tuple[float, ...]]
    """The same of the pixels, by those classifiers that are of pixels too."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        parts = {"codes": self.codes, "pixels": self.pixels}
        return vars(self) | {k: {n: list(a) for n, a in v.items()} for k, v in parts.items()}


def probe_few_labels(
    run: Model,
    labels: int = 100,
    column: str = "",
    *,
    draws: int = 5,
    rows: int = ROWS,
    seed: int = 0,
) -> FewLabelProbe:
    """Train classifiers on the codes of a few labelled images, and judge them by others.

    `column` is a factor or column of the data; by default the class that the method was told
    of images, or that groups of such data would share.
    """
    if labels < 2 or draws < 1:
        raise ConfigError(
            f"a probe needs 2 labels and 1 draw of them or more, found {labels} and {draws}"
        )
    column, chosen, rng = choose_rows(run, labels, column, rows=rows, seed=seed)
    classes = run.data.column(column, chosen)
    pictures = np.concatenate([run.data.images(part, rng) for part in in_parts(chosen)])
    tables = {"codes": run.encode_rows(chosen), "pixels": pictures.reshape(len(chosen), -1)}
    found: dict[str, dict[str, list[float]]] = {
        name: {classifier: [] for classifier in CLASSIFIERS} for name in tables
    }
    for told in labelled_draws(classes, labels, draws, seed):
        for name, table in tables.items():
            for classifier in CLASSIFIERS:
                found[name][classifier].append(accuracy(table, classes, told, classifier))
    codes, pixels = ({c: tuple(a) for c, a in found[name].items()} for name in tables)
    chance = float(np.unique(classes, return_counts=True)[1].max() / len(classes))
    return FewLabelProbe(column, labels, len(chosen) - labels, chance, codes, pixels)


def choose_rows(
    run: Model, labels: int, column: str, *, rows: int, seed: int
) -> tuple[str, np.ndarray, np.random.Generator]:
    """Return the column of the class, the rows that a probe looks at, and what drew them."""
    run.code.require_codes(run.kind)
    column = shared_column(run.data, column or run.class_column)
    values = run.data.column(column)
    rng = np.random.default_rng((seed, 0x1ABE1))
    known = np.flatnonzero(values >= 0)
    chosen = rng.permutation(known)[:rows]
    count = len(np.unique(values[chosen]))
    if count < 2 or labels >= len(chosen):
        raise DataError(
            f"{run.data.name} has {len(known):,} images of {count} values of "
            f"{column!r}; a probe with {labels} labels needs more images and 2 values or more"
        )
    return column, chosen, rng


def labelled_draws(classes: np.ndarray, labels: int, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Yield which rows have a label, once for each draw of the labels."""
    for draw in range(draws):
        yield draw_labelled(classes, labels, np.random.default_rng((seed, draw)))


def draw_labelled(classes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw which rows have a label: as many of each class, as far as there are."""
    order = rng.permutation(len(classes))
    # The how-many-th of its class each row is, in that order: all firsts come before all seconds.
    turn = np.empty(len(classes), dtype=np.int64)
    for value in np.unique(classes):
        own = order[classes[order] == value]
        turn[own] = np.arange(len(own))
    return np.sort(order[np.argsort(turn[order], kind="stable")][:count])


def accuracy(table: np.ndarray, classes: np.ndarray, told: np.ndarray, classifier: str) -> float:
    """Return how often a classifier is right on the rows that it was not told the class of."""
    judged = np.setdiff1d(np.arange(len(classes)), told)
    if len(np.unique(classes[told])) < 2:
        return float((classes[judged] == classes[told][0]).mean())
    model = MAKERS[classifier](classes[told])
    return float(model.fit(table[told], classes[told]).score(table[judged], classes[judged]))


def logistic(classes: np.ndarray) -> Any:
    """Return a logistic regression that chooses its strength by the rows it is fitted to."""
    from sklearn.linear_model import LogisticRegression

    return _chosen(LogisticRegression(max_iter=1000), {"C": [0.01, 0.1, 1.0, 10.0]}, classes)


def svm(classes: np.ndarray) -> Any:
    """Return a kernel SVM that chooses strength and width by the rows it is fitted to."""
    from sklearn.svm import SVC

    return _chosen(SVC(), {"C": [1.0, 10.0], "gamma": ["scale", 0.01, 0.1, 1.0]}, classes)


def neighbours(classes: np.ndarray) -> Any:
    """Return nearest neighbours whose number the rows choose that it is fitted to."""
    from sklearn.neighbors import KNeighborsClassifier

    most = max(len(classes) * (FOLDS - 1) // FOLDS - 1, 1)
    counts = [count for count in (1, 3, 5, 9) if count <= most]
    return _chosen(KNeighborsClassifier(n_neighbors=1), {"n_neighbors": counts}, classes)


MAKERS: dict[str, Callable[[np.ndarray], Any]] = {
    "logistic": logistic,
    "svm": svm,
    "neighbours": neighbours,
}


def _chosen(model: Any, choices: dict[str, list[Any]], classes: np.ndarray) -> Any:
    """Return a model of standardised columns whose settings are found by cross-validation."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    scaled = Pipeline([("scale", StandardScaler()), ("model", model)])
    folds = min(FOLDS, int(np.unique(classes, return_counts=True)[1].min()))
    if folds < 2:  # of one class there is a single image: nothing to validate by
        return scaled
    grid = {f"model__{name}": values for name, values in choices.items()}
    return GridSearchCV(scaled, grid, cv=StratifiedKFold(folds, shuffle=True, random_state=0))
