"""representation: the four criteria of a good representation for a task y and a nuisance n.

A. Achille and S. Soatto, "Emergence of Invariance and Disentanglement in Deep Representations",
JMLR 2018, arXiv:1706.01350. A representation z of images x should be

- sufficient: I(y; z) as large as I(y; x);
- minimal: I(x; z) as small as that allows;
- invariant: I(n; z) small, for which I(x; z) − I(x; y) is a bound where z is sufficient and n is
  independent of y;
- disentangled: total correlation of its components small.

Estimators, all in nats. I(y; z) is bounded from below by H(y) less the cross-entropy of a
classifier on images that it was not fitted to: the better of a random forest and a logistic
regression, chosen on other images. I(y; x) lies between the same with pixels and H(y), which it
equals where y can be seen in every image. I(x; z) and total correlation of a Gaussian encoder come
from the mixture of its posteriors (kl_decomposition), E KL(q(z|x) ‖ p(z)) being an upper bound of
the former; of a code without noise I(x; z) is infinite, and the total correlation is that of a
Gaussian with its covariance.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.applications._applied import Applied, ResultTable, applied_to
from unweave.applications._inputs import (
    Sample,
    baselines,
    factor_of,
    in_classes,
    sample,
    silent_words,
)
from unweave.errors import ConfigError, DataError
from unweave.figures.style import PALETTE, QUIET, Drawing, styled
from unweave.metrics import gaussian_total_correlation, kl_decomposition
from unweave.runs.model import Model
from unweave.views import CodeSample, sample_codes

MOST_CLASSES = 12  # a factor of more values is cut into so many
SMOOTH = 0.02  # share of every answer that is spread over all classes: no answer is impossible
CODE, SHUFFLED = "the code", "the code, rows shuffled"
NEARLY = 0.9
"""Share of H(y) from which a code is called sufficient."""


@dataclass(frozen=True)
class Settings:
    task: str = ""
    """The factor that matters; by default the first that varies."""
    nuisance: str = ""
    """The factor that does not; by default the next."""
    rows: int = 4000
    """Images: half to fit classifiers to, a quarter to choose one, a quarter to judge it."""
    seed: int = 0
    """Which images."""


def entropy(classes: np.ndarray) -> float:
    """Return the entropy of classes in nats."""
    shares = np.bincount(classes) / len(classes)
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def information_of(inputs: np.ndarray, classes: np.ndarray, seed: int = 0) -> float:
    """Return a lower bound of the information of inputs about classes, in nats; 0 at least."""
    half, third = len(inputs) // 2, len(inputs) * 3 // 4
    known, chosen, judged = slice(None, half), slice(half, third), slice(third, None)
    fitted = [model.fit(inputs[known], classes[known]) for model in _classifiers(seed)]
    best = min(fitted, key=lambda model: _cross_entropy(model, inputs[chosen], classes[chosen]))
    left = _cross_entropy(best, inputs[judged], classes[judged])
    return max(entropy(classes[judged]) - left, 0.0)


def _classifiers(seed: int) -> list[Any]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    forest = RandomForestClassifier(60, min_samples_leaf=2, random_state=seed)
    return [forest, LogisticRegression(max_iter=300)]


def _cross_entropy(model: Any, inputs: np.ndarray, classes: np.ndarray) -> float:
    """Return the mean −log of the share given to the true class, in nats."""
    told = model.predict_proba(inputs)
    count = len(model.classes_)
    told = (1 - SMOOTH) * told + SMOOTH / count
    places = np.searchsorted(model.classes_, classes).clip(max=count - 1)
    shares = told[np.arange(len(classes)), places]
    # A class that was never seen is as unlikely as an answer can be.
    unseen = model.classes_[places] != classes
    return float(-np.log(np.where(unseen, SMOOTH / count, shares)).mean())


def rate(codes: CodeSample) -> dict[str, float | None]:
    """Return I(x; z), its upper bound and the total correlation, as far as they are known."""
    correlated = gaussian_total_correlation(codes.codes).value
    if codes.posterior is None:
        return {"i_xz": None, "kl": None, "tc": correlated}
    found = kl_decomposition(*codes.posterior, prior=codes.prior.name).details
    return {
        "i_xz": float(found["mutual_information"]),
        "kl": float(found["kl"]),
        "tc": float(found["total_correlation"]),
    }


def apply(model: Model, settings: Settings = Settings()) -> Applied:
    """Estimate the four criteria, with what they are to be compared with."""
    if settings.rows < 80:
        raise ConfigError(f"expected 80 rows or more, found {settings.rows}")
    data = model.data
    task = factor_of(data, settings.task, "task", 0)
    nuisance = factor_of(data, settings.nuisance, "nuisance", 0)
    if task.name == nuisance.name:
        if settings.nuisance:
            raise ConfigError(f"{task.name} cannot be both the task and the nuisance")
        nuisance = factor_of(data, "", "nuisance", 1)
    taken = sample(model, settings.rows, settings.seed)
    if len(taken.rows) < 80:
        raise DataError(f"{data.name} has {len(taken.rows)} images; 80 are needed")
    y, n = (in_classes(taken.column(factor.name), MOST_CLASSES) for factor in (task, nuisance))
    inputs = _inputs(model, taken, settings.seed)
    known = {
        name: {
            "task": information_of(table, y, settings.seed),
            "nuisance": information_of(table, n, settings.seed),
        }
        for name, table in inputs.items()
    }
    codes = sample_codes(model, min(settings.rows, len(data)), settings.seed)
    found = rate(codes)
    numbers: dict[str, Any] = {
        "task": task.name,
        "nuisance": nuisance.name,
        "entropy_of_task": entropy(y),
        "entropy_of_nuisance": entropy(n),
        "shared_by_task_and_nuisance": _shared(y, n),
        "information": known,
        "rate": found,
        "most_that_can_be_seen": float(np.log(len(codes.rows))),
        "bound_of_nuisance": _bound(found["i_xz"], entropy(y)),
    }
    return applied_to(
        model,
        settings,
        numbers,
        tables=(_table(numbers),),
        paragraph=_paragraph(model, numbers),
        caveats=(*_caveats(numbers), *silent_words(taken, model)),
        figure=_figure(numbers),
    )


def _bound(information: float | None, task: float) -> float | None:
    """Return I(x; z) − I(x; y), taking y as seen in every image."""
    return None if information is None else max(information - task, 0.0)


def _shared(y: np.ndarray, n: np.ndarray) -> float:
    """Return I(y; n), which must be 0 for the bound on the nuisance to hold."""
    joint = y * (n.max() + 1) + n
    return max(entropy(y) + entropy(n) - entropy(joint), 0.0)


def _inputs(model: Model, taken: Sample, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng((seed, 0x4E9))
    return {
        CODE: taken.codes,
        **baselines(model, taken, seed, small=False),
        SHUFFLED: taken.codes[rng.permutation(len(taken.codes))],
    }


def _table(numbers: dict[str, Any]) -> ResultTable:
    known, found = numbers["information"], numbers["rate"]
    own, pixels, null = known[CODE], known["pixels"], known[SHUFFLED]
    untrained = known.get("untrained", {})
    lines: tuple[tuple[Any, ...], ...] = (
        (
            f"sufficiency: I({numbers['task']}; z)",
            own["task"],
            pixels["task"],
            untrained.get("task"),
            null["task"],
            numbers["entropy_of_task"],
        ),
        (
            f"invariance: I({numbers['nuisance']}; z)",
            own["nuisance"],
            pixels["nuisance"],
            untrained.get("nuisance"),
            null["nuisance"],
            numbers["entropy_of_nuisance"],
        ),
        (
            "its bound, I(image; z) − I(image; task)",
            numbers["bound_of_nuisance"],
            None,
            None,
            None,
            None,
        ),
        (
            "minimality: I(image; z)",
            found["i_xz"],
            None,
            None,
            None,
            numbers["most_that_can_be_seen"],
        ),
        ("E KL(q(z|image) ‖ p(z)), above it", found["kl"], None, None, None, None),
        ("disentanglement: total correlation", found["tc"], None, None, None, None),
    )
    header = ("nats", "the code", "pixels", "untrained", "rows shuffled", "at most")
    return ResultTable("Four criteria", header, lines)


def _paragraph(model: Model, numbers: dict[str, Any]) -> str:
    own, pixels = numbers["information"][CODE], numbers["information"]["pixels"]
    null, found = numbers["information"][SHUFFLED], numbers["rate"]
    told = (
        f"The code of {model.name} says {own['task']:.2f} of the {numbers['entropy_of_task']:.2f} "
        f"nats of {numbers['task']} (pixels, by the same classifiers: {pixels['task']:.2f}; "
        f"shuffled rows: {null['task']:.2f}), and {own['nuisance']:.2f} of the "
        f"{numbers['entropy_of_nuisance']:.2f} of {numbers['nuisance']} "
        f"(shuffled: {null['nuisance']:.2f})."
    )
    if found["i_xz"] is None:
        told += (
            " Its codes have no noise, so I(x; z) is not finite and nothing bounds the nuisance."
        )
    else:
        told += (
            f" It says {found['i_xz']:.2f} nats of the image in all, so of a nuisance at most "
            f"{numbers['bound_of_nuisance']:.2f}."
        )
    told += f" Total correlation: {found['tc']:.2f} nats."
    if own["task"] < NEARLY * numbers["entropy_of_task"]:
        told += (
            f" It is not known to be sufficient: {own['task'] / numbers['entropy_of_task']:.0%} of "
            f"{numbers['task']} was found, and the bound on nuisances holds for sufficient codes."
        )
    return told


def _caveats(numbers: dict[str, Any]) -> tuple[str, ...]:
    told = [
        "Information found by classifiers is a lower bound: what they do not find may be there.",
        "I(image; z) by the mixture of posteriors cannot exceed the logarithm of how many images "
        f"are in it, here {numbers['most_that_can_be_seen']:.2f} nats; near that it is too small, "
        "unless these are all images there are.",
        "A small total correlation does not say that components are the factors: rotations of "
        "independent Gaussians have none.",
    ]
    if numbers["shared_by_task_and_nuisance"] > 0.05:
        told.append(
            f"{numbers['task']} and {numbers['nuisance']} share "
            f"{numbers['shared_by_task_and_nuisance']:.2f} nats: the bound does not apply to them."
        )
    return tuple(told)


@styled
def _figure(numbers: dict[str, Any]) -> Drawing:
    drawing = Drawing(figsize=(6.8, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    known = numbers["information"]
    places = np.arange(len(known))
    for shift, (kind, word) in enumerate(
        (("task", numbers["task"]), ("nuisance", numbers["nuisance"]))
    ):
        values = [by[kind] for by in known.values()]
        axes.barh(places + 0.38 * shift, values, height=0.36, color=PALETTE[shift], label=word)
        axes.axvline(numbers[f"entropy_of_{kind}"], color=PALETTE[shift], linestyle=":")
    if numbers["bound_of_nuisance"] is not None:
        axes.axvline(numbers["bound_of_nuisance"], color=QUIET, linestyle="--")
    axes.set_yticks(places + 0.19, list(known))
    axes.invert_yaxis()
    axes.set_xlabel("information in nats, at least; dotted: entropy; dashed: bound of the nuisance")
    axes.legend()
    axes.set_title("what is known of the task and of the nuisance")
    return drawing
