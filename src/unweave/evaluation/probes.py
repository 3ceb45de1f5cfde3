"""Probes: what a classifier finds of a class in each part of a code.

A method that tells content from style should keep the class of an image out of
its style: a classifier trained on styles should do no better than chance, and no worse:
on a full grid a style that differs between classes may be named wrong on purpose, as it were,
which tells as much. So distances from chance count on both sides. It is
trained on half of the rows and judged on the others. Images that differ in their
class alone are kept in one half: on a full grid of factors a classifier that knows
a style by heart would otherwise be wrong for sure, since each class comes once.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unweave.batches import shared_column
from unweave.data import FactorImages
from unweave.errors import ConfigError
from unweave.runs.model import in_parts
from unweave.runs.run import Run

ROWS = 4000
TREES = 100
FEWEST_STYLES = 20  # to tell apart by halves; with fewer, rows are split at random


@dataclass(frozen=True)
class Leakage:
    """How well a class is read off each part of the code."""

    column: str
    """The factor or column whose values are the classes."""
    chance: float
    """Accuracy of always naming the commonest class."""
    accuracy: Mapping[str, float]
    """By part: accuracy of a random forest, which finds what is there however it is bent."""
    linear: Mapping[str, float]
    """By part: accuracy of a logistic regression."""
    drawn: Mapping[str, float]
    """By part: accuracy of a random forest on codes with the noise that training gives them,
    which is all that the decoder of a VAE ever sees; the same as `accuracy` where codes have
    no noise."""
    conditional: Mapping[str, float]
    """By part: how much the accuracy of a random forest that knows all other factors rises when
    it is shown the code too. A code that tells the class only together with what else is in
    the picture shows here and nowhere else."""
    judged: int
    """Rows that classifiers were judged on."""

    def departs(self, part: str) -> bool:
        """Say whether a part's accuracy is further from chance, above or below, than 3 deviations.

        The deviation is that of as many independent guesses.
        """
        deviation = (self.chance * (1 - self.chance) / max(self.judged, 1)) ** 0.5
        return abs(self.accuracy[part] - self.chance) > 3 * deviation

    def __str__(self) -> str:
        parts = ", ".join(
            f"{part} {self.accuracy[part]:.3f} "
            f"(linear {self.linear[part]:.3f}, drawn {self.drawn[part]:.3f}, "
            f"given all else {self.conditional[part]:+.3f})"
            + (", below chance" if self.departs(part) and self.accuracy[part] < self.chance else "")
            for part in self.accuracy
        )
        return f"{self.column} read off {parts}; chance {self.chance:.3f}"


def leakage(run: Run, column: str = "", *, rows: int = ROWS, seed: int = 0) -> Leakage:
    """Say how well a class is read off content and off style.

    `column` is a factor or column of the data; by default the one the method was told of
    images, or that groups of such data would share (`unweave.batches.shared_column`).
    """
    parts = run.code.roles
    if not parts:
        raise ConfigError(f"{run.kind} does not tell content from style in its code")
    values, labelled, column = _classes(run, column)
    rng = np.random.default_rng(seed)
    chosen = rng.choice(labelled, size=min(rows, len(labelled)), replace=False)
    codes, classes = run.encode_rows(chosen), values[chosen]
    noisy = np.concatenate(
        [run.draw_codes(run.data.images(part), seed + i) for i, part in enumerate(in_parts(chosen))]
    )
    alike = _alike_but_for(column, run.data, chosen)
    forest, linear, drawn, conditional = {}, {}, {}, {}
    others = _others(column, run.data, chosen)
    alone = accuracy(others, classes, alike, seed)
    for part, dimensions in parts.items():
        forest[part] = accuracy(codes[:, dimensions], classes, alike, seed)
        linear[part] = accuracy(codes[:, dimensions], classes, alike, seed, linear=True)
        drawn[part] = accuracy(noisy[:, dimensions], classes, alike, seed)
        both = np.concatenate([others, codes[:, dimensions]], axis=1)
        conditional[part] = accuracy(both, classes, alike, seed) - alone
    chance = float(np.unique(classes, return_counts=True)[1].max() / len(classes))
    judged = int((~_first_half(alike, seed)).sum())
    return Leakage(column, chance, forest, linear, drawn, conditional, judged)


def accuracy_of_evidence(
    run: Run, images: int, column: str = "", *, groups: int = 400, seed: int = 0
) -> float:
    """Return how often a class is named by the content that so many of its images give together.

    The classifier, a random forest, is trained and judged on such contents.
    """
    values, labelled, _ = _classes(run, column)
    rng = np.random.default_rng((seed, images))
    classes = rng.choice(np.unique(values[labelled]), size=groups)
    contents = []
    for value in classes:
        rows = rng.choice(np.flatnonzero(values == value), size=images)
        contents.append(run.accumulate(run.data.images(rows, rng)))
    return accuracy(np.stack(contents), classes, np.arange(groups), seed)


def accuracy(
    codes: np.ndarray,
    classes: np.ndarray,
    together: np.ndarray,
    seed: int = 0,
    *,
    linear: bool = False,
) -> float:
    """Return the accuracy on one half of the rows of a classifier trained on the other.

    Rows with the same value of `together` are in the same half.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    known = _first_half(together, seed)
    if linear:
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    else:
        model = RandomForestClassifier(TREES, min_samples_leaf=2, random_state=seed)
    model.fit(codes[known], classes[known])
    return float(model.score(codes[~known], classes[~known]))


def _first_half(together: np.ndarray, seed: int) -> np.ndarray:
    """Mark the rows to train on."""
    values = np.random.default_rng(seed).permutation(np.unique(together))
    return np.isin(together, values[: (len(values) + 1) // 2])


def _others(column: str, data: FactorImages, rows: np.ndarray) -> np.ndarray:
    """Return all factors but one, or a constant where there are no others."""
    names = [index for index, name in enumerate(data.factor_names) if name != column]
    if not names:
        return np.zeros((len(rows), 1))
    return np.asarray(data.factors(rows)[:, names], dtype=np.float64)


def _alike_but_for(column: str, data: FactorImages, rows: np.ndarray) -> np.ndarray:
    """Return a number for each row, the same where all factors but one are the same."""
    others = [index for index, name in enumerate(data.factor_names) if name != column]
    if others:
        _, alike = np.unique(data.factors(rows)[:, others], axis=0, return_inverse=True)
        if alike.max() + 1 >= FEWEST_STYLES:
            return alike.reshape(-1)
    return np.arange(len(rows))


def _classes(run: Run, column: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the class of every row, the rows that have one, and the name of the column."""
    column = shared_column(run.data, column or run.class_column)
    values = run.data.column(column)
    return values, np.flatnonzero(values >= 0), column
