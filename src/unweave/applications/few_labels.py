"""few_labels: how well factors are read off a frozen code when few images are labelled.

A ridge regression with its penalty chosen by leaving one out reads every factor that has an order;
a logistic regression every factor that has none, which for a class on the code of a VAE is the
model M1 of D. P. Kingma et al., NeurIPS 2014, arXiv:1406.5298. Both are fitted to 10, 30, 100, …
labelled images, drawn several times, and judged on images that no draw has. The same is done with
the pixels (their leading principal components), with as few components as the code has numbers,
with the code of the same networks before training, and with the factors themselves.

F. Locatello et al., arXiv:1811.12359, compare the accuracy of 100 labels with that of 10,000; a
useless code has a ratio of 1, so curves are shown instead.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.applications._applied import Applied, ResultTable, applied_to, mean_and_deviation
from unweave.applications._inputs import Sample, baselines, sample, silent_words
from unweave.data import Factor
from unweave.errors import ConfigError, DataError
from unweave.figures.style import QUIET, Drawing, line_look, styled
from unweave.runs.model import Model
from unweave.tables import standardize

PENALTIES = np.logspace(-4, 4, 17)
WORST = -1.0  # an R² below is counted as this, so that one bad draw does not hide the others
CODE, FACTORS, SHUFFLED = "the code", "the factors themselves", "the code, rows shuffled"
BEFORE = 30
"""Labels at which the code is compared with pixels that have more."""

Curve = dict[int, list[float]]
"""A value for each draw, by number of labels."""


@dataclass(frozen=True)
class Settings:
    labels: tuple[int, ...] = (10, 30, 100, 300, 1000, 10_000)
    """How many images are labelled; more than there are left to learn from are left out."""
    draws: int = 5
    """How often labelled images are drawn."""
    judged: int = 2000
    """Images that are judged on, at most a third of all."""
    seed: int = 0
    """Which images."""


def r2_of_ridge(
    inputs: np.ndarray, values: np.ndarray, known: np.ndarray, judged: np.ndarray
) -> float:
    """Return the mean R² over columns of values of a ridge regression on the known rows."""
    from sklearn.linear_model import RidgeCV

    fitted = RidgeCV(alphas=PENALTIES).fit(inputs[known], values[known])
    told = fitted.predict(inputs[judged]).reshape(len(judged), -1)
    truth = values[judged]
    left = ((truth - told) ** 2).sum(axis=0)
    spread = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
    return float(np.maximum(1 - left / np.maximum(spread, 1e-12), WORST).mean())


def accuracy_of_logistic(
    inputs: np.ndarray, classes: np.ndarray, known: np.ndarray, judged: np.ndarray
) -> float:
    """Return the mean accuracy over columns of classes of a logistic regression."""
    from sklearn.linear_model import LogisticRegression

    found = []
    for column in classes.T:
        if len(np.unique(column[known])) < 2:
            found.append(float((column[judged] == column[known][0]).mean()))
            continue
        fitted = LogisticRegression(max_iter=500).fit(inputs[known], column[known])
        found.append(float(fitted.score(inputs[judged], column[judged])))
    return float(np.mean(found))


def curve(
    measure: Callable[..., float],
    inputs: np.ndarray,
    truth: np.ndarray,
    settings: Settings,
    sizes: tuple[int, ...],
    judged: np.ndarray,
    pool: np.ndarray,
) -> Curve:
    """Measure with so many labels, drawn from a pool, as often as asked."""
    found: Curve = {}
    for size in sizes:
        found[size] = [
            measure(inputs, truth, _drawn_rows(pool, size, settings.seed, draw), judged)
            for draw in range(settings.draws)
        ]
    return found


def apply(model: Model, settings: Settings = Settings()) -> Applied:
    """Draw the curves of a model's code and of what it is compared with."""
    _check(settings)
    data = model.data
    count = min(settings.judged, len(data) // 3)
    # Half as many more than are labelled at most, so that draws differ.
    taken = sample(model, count + 3 * max(settings.labels) // 2, settings.seed)
    judged, pool = np.arange(count), np.arange(count, len(taken.rows))
    sizes = tuple(sorted({size for size in settings.labels if size <= len(pool)}))
    if not sizes:
        raise DataError(
            f"{data.name} leaves {len(pool)} images to label, fewer than {min(settings.labels)}"
        )
    inputs = _inputs(model, taken, settings.seed)
    amounts, classes = _ordered(taken), _unordered(taken)
    numbers: dict[str, Any] = {
        "labels": list(sizes),
        "images_judged": count,
        "ordered_factors": [f.name for f in _factors(taken, categorical=False)],
        "classes": [f.name for f in _factors(taken, categorical=True)],
    }
    how = (settings, sizes, judged, pool)
    if amounts.shape[1]:
        numbers["r2"] = {n: curve(r2_of_ridge, x, amounts, *how) for n, x in inputs.items()}
    if classes.shape[1]:
        numbers["accuracy"] = {
            name: curve(accuracy_of_logistic, table, classes, *how)
            for name, table in inputs.items()
        }
        numbers["chance"] = _chance(classes[judged])
    return applied_to(
        model,
        settings,
        numbers,
        tables=_tables(numbers),
        paragraph=_paragraph(model, numbers),
        caveats=(*_caveats(numbers), *silent_words(taken, model)),
        figure=_figure(numbers),
    )


def _check(settings: Settings) -> None:
    if not settings.labels or min(settings.labels) < 2 or settings.draws < 1:
        raise ConfigError(
            f"expected numbers of labels from 2 on and 1 draw or more, found {settings.labels} and "
            f"{settings.draws}"
        )
    if settings.judged < 10:
        raise ConfigError(f"expected 10 images to judge on or more, found {settings.judged}")


def _inputs(model: Model, taken: Sample, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng((seed, 0xFE3))
    truth = np.concatenate([_ordered(taken), _one_hot(taken)], axis=1)
    return {
        CODE: taken.codes,
        **baselines(model, taken, seed),
        FACTORS: standardize(truth),
        SHUFFLED: taken.codes[rng.permutation(len(taken.codes))],
    }


def _factors(taken: Sample, *, categorical: bool) -> list[Factor]:
    return [
        factor
        for factor in taken.data.factor_list
        if factor.categorical == categorical and len(np.unique(taken.column(factor.name))) > 1
    ]


def _ordered(taken: Sample) -> np.ndarray:
    """Return factors with an order as shares of their range, (row, factor)."""
    columns = [taken.column(f.name).astype(float) for f in _factors(taken, categorical=False)]
    shares = [(column - column.min()) / np.ptp(column) for column in columns]
    return np.stack(shares, axis=1) if shares else np.empty((len(taken.rows), 0))


def _unordered(taken: Sample) -> np.ndarray:
    columns = [taken.column(f.name).astype(np.int64) for f in _factors(taken, categorical=True)]
    return np.stack(columns, axis=1) if columns else np.empty((len(taken.rows), 0), np.int64)


def _one_hot(taken: Sample) -> np.ndarray:
    parts = [np.eye(column.max() + 1)[column] for column in _unordered(taken).T]
    return np.concatenate(parts, axis=1) if parts else np.empty((len(taken.rows), 0))


def _chance(classes: np.ndarray) -> float:
    """Return the accuracy of always naming the commonest class, a mean over factors."""
    return float(np.mean([np.bincount(column).max() / len(column) for column in classes.T]))


def _drawn_rows(pool: np.ndarray, size: int, seed: int, draw: int) -> np.ndarray:
    rng = np.random.default_rng((seed, draw, size, 0x1AB))
    return rng.choice(pool, size=size, replace=False)


def _tables(numbers: dict[str, Any]) -> tuple[ResultTable, ...]:
    header = ("given", *(f"{size:,} labels" for size in numbers["labels"]))
    found = []
    if "r2" in numbers:
        names = ", ".join(numbers["ordered_factors"])
        title = f"R² of {names} (0: no better than the mean)"
        found.append(ResultTable(title, header, _lines(numbers["r2"])))
    if "accuracy" in numbers:
        names = ", ".join(numbers["classes"])
        title = f"Accuracy of {names} (chance {numbers['chance']:.3f})"
        found.append(ResultTable(title, header, _lines(numbers["accuracy"])))
    return tuple(found)


def _lines(curves: dict[str, Curve]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (name, *(mean_and_deviation(values) for values in by.values()))
        for name, by in curves.items()
    )


def _paragraph(model: Model, numbers: dict[str, Any]) -> str:
    told = f"Factors are read off the code of {model.name} with few labels. "
    sizes = numbers["labels"]
    at = BEFORE if BEFORE in sizes else sizes[0]
    for kind, word in (("r2", "R²"), ("accuracy", "accuracy")):
        if kind not in numbers:
            continue
        mean = {
            name: {size: float(np.mean(values)) for size, values in by.items()}
            for name, by in numbers[kind].items()
        }
        own, pixels = mean[CODE], mean["pixels"]
        enough = [size for size in sizes if pixels[size] >= own[at]]
        reach = (
            f"pixels need {enough[0]:,} for as much"
            if enough
            else f"pixels reach {pixels[sizes[-1]]:.3f} with {sizes[-1]:,}"
        )
        told += (
            f"With {at} labels the {word} is {own[at]:.3f}, of pixels {pixels[at]:.3f}, of "
            f"shuffled rows {mean[SHUFFLED][at]:.3f}; {reach}. With {sizes[-1]:,} labels it is "
            f"{own[sizes[-1]]:.3f}, of pixels {pixels[sizes[-1]]:.3f}. "
        )
    return told.strip()


def _caveats(numbers: dict[str, Any]) -> tuple[str, ...]:
    told = [
        "The readers are linear: a code that holds a factor in a bent way looks worse than it is, "
        "and with many labels a stronger reader of pixels would do better than this one.",
        "The code has seen all images, without labels; so have the principal components.",
        "That few labels suffice does not say that the code is disentangled: any invertible linear "
        "mixture of it does as well for a linear reader without a penalty.",
    ]
    if "r2" in numbers:
        told.append(f"An R² below {WORST:g} is counted as {WORST:g}.")
    return tuple(told)


@styled
def _figure(numbers: dict[str, Any]) -> Drawing:
    kinds = [kind for kind in ("r2", "accuracy") if kind in numbers]
    drawing = Drawing(figsize=(4.6 * len(kinds) + 1.6, 3.8), layout="constrained")
    panels = np.atleast_1d(drawing.subplots(1, len(kinds)))
    for axes, kind in zip(panels, kinds, strict=True):
        for place, (name, by) in enumerate(numbers[kind].items()):
            sizes, values = list(by), np.array(list(by.values()))
            look = line_look(place)
            if name in (FACTORS, SHUFFLED):
                look = {"color": QUIET, "linestyle": "--" if name == FACTORS else ":"}
            axes.plot(sizes, values.mean(axis=1), marker="o", markersize=3, label=name, **look)
            axes.fill_between(
                sizes,
                values.min(axis=1),
                values.max(axis=1),
                color=look["color"],
                alpha=0.15,
                linewidth=0,
            )
        if kind == "accuracy":
            axes.axhline(numbers["chance"], color=QUIET, linestyle=":", linewidth=1)
        axes.set_xscale("log")
        axes.set_xticks(numbers["labels"], [f"{size:,}" for size in numbers["labels"]])
        axes.minorticks_off()
        axes.set_ylim(max(WORST, axes.get_ylim()[0]), 1.02)
        axes.set_xlabel("labelled images")
        axes.set_title("R² of factors with an order" if kind == "r2" else "accuracy of classes")
    panels[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return drawing
