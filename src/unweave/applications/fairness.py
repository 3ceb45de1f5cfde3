"""fairness: decisions that depend on a sensitive factor, and what dropping its latents does.

Three questions about a code and two of its factors, a sensitive one a and a target y, each cut in
two halves.

How unfair is the code? F. Locatello et al., "On the Fairness of Disentangled Representations",
NeurIPS 2019, arXiv:1905.13662: a classifier of every factor; how far the distribution of its
answers moves with every other factor (total variation, by values: mean or largest), aggregated
over sensitive and target factors in all the ways of the paper's code.

What does it cost to be fair? A classifier learns from decisions that follow y, but turn most yes
of the group a into no. Its accuracy on the true y stands against the gap of demographic parity
|P(ŷ|a) − P(ŷ|not a)| and that of equalised odds, the largest such gap among images of one y: with
the whole code, without the latents that tell a, and with these latents drawn anew. A method that
holds latents to the factor a (semi_supervised, ff_vae) is relieved of those; of any other the
latents that tell a best, one after the other (post hoc).

Would the decision have been another? The latents that tell a are exchanged between images; the
flip rate is the share of decisions that change: of the classifier of codes, and of one of pixels
that sees the decoded images. That of decoding without any exchange stands beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave import runs
from unweave.applications._applied import Applied, ResultTable, applied_to, mean_and_deviation
from unweave.applications._inputs import (
    COMPONENTS,
    Sample,
    area_under_curve,
    averaged,
    baselines,
    factor_of,
    forest,
    halves,
    sample,
    silent_words,
)
from unweave.applications._unfairness import adjusted, aggregates, rank_interval, unfairness
from unweave.errors import ConfigError, DataError
from unweave.evaluation.score import score
from unweave.figures.style import PALETTE, QUIET, Drawing, styled
from unweave.runs.model import Model

LEFT_OVER = 0.6  # area under the curve at which nothing of note is left of the sensitive factor
LEAST_RUNS = 6


@dataclass(frozen=True)
class Settings:
    sensitive: str = ""
    """Factor that decisions should not depend on; by default the first that varies."""
    target: str = ""
    """Factor that decisions are about; by default the second."""
    bias: float = 0.7
    """Share of the sensitive group's yes that the decisions learnt from turn into no. Up to a half,
    the best guess is still yes, and there is nothing unfair to learn."""
    rows: int = 4000
    """Images: half to learn from, half to judge on."""
    repeats: int = 3
    """How often decisions and classifiers are drawn."""
    drop: int = 3
    """How many latents are taken away at most, one after the other."""
    beside: tuple[str, ...] = ()
    """Folders of further runs: does unfairness fall as disentanglement rises, and still where
    both are compared among runs of the same accuracy?"""
    seed: int = 0
    """Which images, decisions and classifiers."""


@dataclass(frozen=True)
class Fairness:
    """One classifier, judged."""

    accuracy: float
    """On the true target."""
    biased_accuracy: float
    """On decisions like those it learnt from."""
    parity_gap: float
    odds_gap: float

    def as_numbers(self) -> dict[str, float]:
        return {
            "accuracy": self.accuracy,
            "biased_accuracy": self.biased_accuracy,
            "parity_gap": self.parity_gap,
            "odds_gap": self.odds_gap,
        }


def judged(
    says: np.ndarray, target: np.ndarray, biased: np.ndarray, sensitive: np.ndarray
) -> Fairness:
    """Judge decisions by the true target and by how they treat two groups."""
    odds = [
        abs(says[sensitive & (target == y)].mean() - says[~sensitive & (target == y)].mean())
        for y in (False, True)
        if (sensitive & (target == y)).any() and (~sensitive & (target == y)).any()
    ]
    return Fairness(
        float((says == target).mean()),
        float((says == biased).mean()),
        float(abs(says[sensitive].mean() - says[~sensitive].mean())),
        float(max(odds, default=0.0)),
    )


def biased_decisions(
    target: np.ndarray, sensitive: np.ndarray, bias: float, rng: np.random.Generator
) -> np.ndarray:
    """Return decisions that follow the target, but refuse a share of the sensitive group."""
    return target & ~(sensitive & (rng.random(len(target)) < bias))


def telling_order(codes: np.ndarray, sensitive: np.ndarray) -> np.ndarray:
    """Order latents by how well each alone tells the sensitive attribute, the best first.

    A latent may tell it by both of its ends, so that a forest of one latent judges, on rows that
    it was not fitted to.
    """
    half = len(codes) // 2
    found = []
    for column in codes.T:
        alone = column[:, None]
        share = forest(alone[:half], sensitive[:half], 0, trees=20).share(alone[half:])
        found.append(area_under_curve(sensitive[half:], share))
    return np.argsort(-np.nan_to_num(np.array(found), nan=0.5), kind="stable")


def apply(model: Model, settings: Settings = Settings()) -> Applied:
    """Measure how unfair a code is, what fairness costs, and what counterfactuals change."""
    _check(settings)
    data = model.data
    first = factor_of(data, settings.sensitive, "sensitive factor", 0)
    default = 1 if not settings.sensitive else 0
    second = factor_of(data, settings.target, "target", default)
    if first.name == second.name:
        if settings.target:
            raise ConfigError(f"{first.name} cannot be both sensitive and the target")
        second = factor_of(data, "", "target", 1)
    taken = sample(model, settings.rows, settings.seed)
    sensitive, sensitive_words = halves(first, taken.column(first.name))
    target, target_words = halves(second, taken.column(second.name))
    dropped = _dropped(model, taken.codes, sensitive, first.name, settings.drop)
    inputs = _inputs(model, taken, dropped, sensitive, target, settings.seed)
    classifiers = _classifiers(inputs, target, sensitive, settings)
    mean, largest, accuracy = unfairness(taken.codes, taken.factors, settings.seed)
    shuffled = taken.codes[np.random.default_rng(5).permutation(len(taken.codes))]
    null_mean, null_largest, _ = unfairness(shuffled, taken.factors, settings.seed)
    flips = _flips(model, taken, dropped[-1], target, sensitive, settings)
    numbers: dict[str, Any] = {
        "sensitive": sensitive_words,
        "target": target_words,
        "latents_that_tell_it": dropped[-1],
        "held_by_labels": _held(model, first.name),
        "classifiers": classifiers,
        "unfairness": {"aggregates": aggregates(mean, largest), "mean": mean, "largest": largest},
        "unfairness_of_shuffled_codes": aggregates(null_mean, null_largest),
        "accuracy_of_factors": dict(zip(data.factor_names, accuracy.tolist(), strict=True)),
        "flips": flips,
    }
    caveats = (*_caveats(model), *silent_words(taken, model))
    if settings.beside:
        numbers["among_runs"], told = _among_runs(model, settings)
        caveats += told
    return applied_to(
        model,
        settings,
        numbers,
        tables=_tables(numbers),
        paragraph=_paragraph(model, numbers, settings),
        caveats=caveats,
        figure=_drawn(numbers),
    )


def _check(settings: Settings) -> None:
    if not 0 <= settings.bias <= 1 or settings.repeats < 1 or settings.drop < 1:
        raise ConfigError(
            f"expected a bias from 0 to 1, and 1 repeat and 1 drop or more; found "
            f"{settings.bias}, {settings.repeats} and {settings.drop}"
        )


def _held(model: Model, factor: str) -> list[int]:
    """Return the dimensions that labels hold to a factor, if the method says so."""
    return [d for unit in model.code.units if unit.factor == factor for d in unit.dimensions]


def _dropped(
    model: Model, codes: np.ndarray, sensitive: np.ndarray, factor: str, most: int
) -> list[list[int]]:
    """Return sets of latents to take away, each larger than the one before."""
    if model.latent_dim < 2:
        raise ConfigError(f"{model.name} has a single latent; without it nothing is left")
    held = _held(model, factor)
    if held and len(held) < model.latent_dim:
        return [held]
    order = [int(i) for i in telling_order(codes, sensitive)]
    return [order[: i + 1] for i in range(min(most, model.latent_dim - 1))]


def _quiet(codes: np.ndarray, sensitive: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Order latents by how little they tell of either attribute."""
    ranks = [np.argsort(telling_order(codes, values)) for values in (sensitive, target)]
    return np.argsort(-np.minimum(*ranks), kind="stable")


def _inputs(
    model: Model,
    taken: Sample,
    dropped: Sequence[list[int]],
    sensitive: np.ndarray,
    target: np.ndarray,
    seed: int,
) -> dict[str, np.ndarray]:
    """Return what classifiers are given, by name."""
    codes, rng = taken.codes, np.random.default_rng((seed, 0xFA1))
    labels = model.latent_labels()
    found = {"the whole code": codes}
    for latents in dropped:
        named = ", ".join(labels[i] for i in latents)
        found[f"without {named}"] = np.delete(codes, latents, axis=1)
    found[f"{named} drawn anew"] = exchanged(codes, dropped[-1], rng)
    # As many that tell neither: taking away anything at all must not be what helps.
    others = [int(i) for i in _quiet(codes, sensitive, target) if i not in dropped[-1]]
    if len(others) > len(dropped[-1]):
        found["without as many that tell neither"] = np.delete(
            codes, others[: len(dropped[-1])], axis=1
        )
    return found | baselines(model, taken, seed, small=False)


def exchanged(codes: np.ndarray, latents: list[int], rng: np.random.Generator) -> np.ndarray:
    """Return codes in which some latents are those of other rows."""
    changed = codes.copy()
    changed[:, latents] = codes[rng.permutation(len(codes))][:, latents]
    return changed


def _classifiers(
    inputs: dict[str, np.ndarray], target: np.ndarray, sensitive: np.ndarray, settings: Settings
) -> dict[str, dict[str, list[float]]]:
    """Judge a classifier of each kind of input, once for each draw of the decisions."""
    half = len(target) // 2
    draws: dict[str, list[dict[str, float]]] = {name: [] for name in inputs}
    constant: list[dict[str, float]] = []
    for repeat in range(settings.repeats):
        rng = np.random.default_rng((settings.seed, repeat, 0xB1A5))
        biased = biased_decisions(target, sensitive, settings.bias, rng)
        judge = (target[half:], biased[half:], sensitive[half:])
        for name, table in inputs.items():
            fitted = forest(table[:half], biased[:half], settings.seed + repeat)
            numbers = judged(fitted.says(table[half:]), *judge).as_numbers()
            if repeat == 0:
                told = forest(table[:half], sensitive[:half], settings.seed)
                auc = area_under_curve(sensitive[half:], told.share(table[half:]))
            draws[name].append(numbers | {"sensitive_auc": auc if repeat == 0 else np.nan})
        commonest = np.full(half, biased[:half].mean() > 0.5)[: len(target) - half]
        constant.append(judged(commonest, *judge).as_numbers() | {"sensitive_auc": 0.5})
    draws["always the same answer"] = constant
    found = {name: averaged(list(rows)) for name, rows in draws.items()}
    for by in found.values():
        by["sensitive_auc"] = by["sensitive_auc"][:1]  # it does not depend on the decisions
    return found


def _flips(
    model: Model,
    taken: Sample,
    latents: list[int],
    target: np.ndarray,
    sensitive: np.ndarray,
    settings: Settings,
) -> dict[str, float | None]:
    """Return the shares of decisions that change when the latents of another image are taken."""
    from sklearn.decomposition import PCA

    half = len(target) // 2
    rng = np.random.default_rng((settings.seed, 0xF11))
    biased = biased_decisions(target, sensitive, settings.bias, rng)
    codes = taken.codes
    of_codes = forest(codes[:half], biased[:half], settings.seed)
    before = of_codes.says(codes[half:])
    found: dict[str, float | None] = {
        "codes": float((before != of_codes.says(exchanged(codes[half:], latents, rng))).mean()),
        "decoded": None,
        "decoded_unchanged": None,
    }
    everything = list(range(codes.shape[1]))
    found["codes_all_exchanged"] = float(
        (before != of_codes.says(exchanged(codes[half:], everything, rng))).mean()
    )
    if not model.code.decodes or model.code.source != "images":
        return found
    images = taken.data.images(taken.rows)
    flat = images.reshape(len(images), -1)
    basis = PCA(min(COMPONENTS, half, flat.shape[1]), svd_solver="randomized", random_state=0)
    of_pixels = forest(basis.fit_transform(flat[:half]), biased[:half], settings.seed)
    raw = model.encode(images[half:])
    pictures = {
        "decoded_unchanged": model.decode(raw),
        "decoded": model.decode(exchanged(raw, latents, rng)),
    }
    seen = of_pixels.says(basis.transform(flat[half:]))
    decisions = {
        name: of_pixels.says(basis.transform(made.reshape(len(made), -1)))
        for name, made in pictures.items()
    }
    found["decoded_unchanged"] = float((decisions["decoded_unchanged"] != seen).mean())
    found["decoded"] = float((decisions["decoded"] != decisions["decoded_unchanged"]).mean())
    return found


def _among_runs(model: Model, settings: Settings) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Compare unfairness with disentanglement over several runs."""
    loaded: list[Model] = [model, *(runs.load(folder) for folder in settings.beside)]
    if len(loaded) < LEAST_RUNS:
        raise ConfigError(
            f"ranks of {len(loaded)} runs say nothing; name {LEAST_RUNS - 1} or more with --beside"
        )
    if len({one.data.name for one in loaded}) > 1:
        raise DataError("runs on different data cannot be compared")
    rows = []
    for one in loaded:
        taken = sample(one, settings.rows, settings.seed)
        mean, largest, accuracy = unfairness(taken.codes, taken.factors, settings.seed)
        scored = score(taken.codes, taken.factors, ["dci"], preset="fast")
        dci = scored["dci"].value if "dci" in scored else float("nan")
        total = aggregates(mean, largest)["mean_fairness:mean_pred:mean_sens"]
        rows.append((total, dci, float(accuracy.mean())))
    unfair, disentangled, accurate = np.array(rows).T
    plain, left = adjusted(unfair, disentangled, accurate)
    low, high = rank_interval(unfair, disentangled)
    numbers = {
        "runs": [one.name for one in loaded],
        "unfairness": unfair,
        "dci": disentangled,
        "accuracy": accurate,
        "rank_correlation": plain,
        "interval": [low, high],
        "adjusted_for_accuracy": left,
    }
    told = (
        f"Over {len(loaded)} runs the rank correlation of unfairness and DCI is {plain:+.2f} "
        f"[{low:+.2f}, {high:+.2f}], and {left:+.2f} among runs of like accuracy; few runs leave "
        "such numbers wide open.",
    )
    return numbers, told


def _tables(numbers: dict[str, Any]) -> tuple[ResultTable, ...]:
    header = ("given", "accuracy", "on biased decisions", "parity gap", "odds gap", "AUC of a")
    order = ("accuracy", "biased_accuracy", "parity_gap", "odds_gap", "sensitive_auc")
    lines = tuple(
        (name, *(mean_and_deviation(by[column]) for column in order))
        for name, by in numbers["classifiers"].items()
    )
    title = f"Decisions whether {numbers['target']}, sensitive to whether {numbers['sensitive']}"
    null, flips = numbers["unfairness_of_shuffled_codes"], numbers["flips"]
    unfair = tuple(
        (name, value, null[name]) for name, value in numbers["unfairness"]["aggregates"].items()
    )
    words = {
        "codes": "latents that tell a exchanged, classifier of codes",
        "codes_all_exchanged": "all latents exchanged, classifier of codes",
        "decoded": "latents that tell a exchanged, classifier of decoded images",
        "decoded_unchanged": "decoded without any change, classifier of images",
    }
    return (
        ResultTable(title, header, lines),
        ResultTable(
            "Flip rates: decisions that change",
            ("what is done", "share"),
            tuple((words[name], flips[name]) for name in words),
        ),
        ResultTable("Unfairness", ("aggregate", "this code", "codes shuffled"), unfair),
    )


def _paragraph(model: Model, numbers: dict[str, Any], settings: Settings) -> str:
    by = {name: {k: np.mean(v) for k, v in x.items()} for name, x in numbers["classifiers"].items()}
    labels = model.latent_labels()
    named = ", ".join(labels[i] for i in numbers["latents_that_tell_it"])
    whole, without = by["the whole code"], by[f"without {named}"]
    how = "labels hold them to it" if numbers["held_by_labels"] else "they tell it best"
    unfair = numbers["unfairness"]["aggregates"]["mean_fairness:mean_pred:mean_sens"]
    null = numbers["unfairness_of_shuffled_codes"]["mean_fairness:mean_pred:mean_sens"]
    told = (
        f"Classifiers learn whether {numbers['target']} from decisions that wrongly refuse "
        f"{settings.bias:.0%} where {numbers['sensitive']}. With the whole code of "
        f"{model.name} they treat the two groups differently by {whole['parity_gap']:.3f} "
        f"(demographic parity) and are right in {whole['accuracy']:.3f}; without {named} ({how}), "
        f"by {without['parity_gap']:.3f} and in {without['accuracy']:.3f}. What is left tells the "
        f"sensitive factor with an AUC of {without['sensitive_auc']:.3f}; 0.5 is chance. Over all "
        f"pairs of factors, unfairness is {unfair:.3f}, and {null:.3f} for shuffled codes. "
        f"Exchanging {named} between images changes {numbers['flips']['codes']:.3f} of the "
        f"decisions"
    )
    decoded = numbers["flips"]["decoded"]
    if decoded is not None:
        told += f", and {decoded:.3f} of those about the decoded images"
    return told + "."


def _caveats(model: Model) -> tuple[str, ...]:
    told = [
        "The decisions are biased on purpose, by drawing; no real decisions are judged here, and a "
        "gap of 0 in one measure is no proof of fairness in another.",
        f"An AUC above {LEFT_OVER} after latents were taken away means that others tell the "
        "sensitive factor too: the code is not cut along it, and a stronger classifier may find "
        "more than these forests do.",
        "Disentanglement is correlated with fairness in the cited study; that it causes it is not "
        "shown, here or there.",
    ]
    if not model.code.decodes:
        told.append(f"{model.name} has no decoder: counterfactual images could not be judged.")
    return tuple(told)


@styled
def _drawn(numbers: dict[str, Any]) -> Drawing:
    drawing = Drawing(figsize=(9.0, 4.0), layout="constrained")
    gaps, flips = drawing.subplots(1, 2, width_ratios=(3, 2))
    for place, (name, by) in enumerate(numbers["classifiers"].items()):
        color = PALETTE[place] if place < len(PALETTE) else QUIET
        marker = "o" if place < len(PALETTE) else "s"
        gaps.errorbar(
            np.mean(by["parity_gap"]),
            np.mean(by["accuracy"]),
            xerr=np.std(by["parity_gap"]),
            yerr=np.std(by["accuracy"]),
            marker=marker,
            color=color,
            linestyle="none",
            label=name,
        )
    gaps.set_xlabel("gap of demographic parity (fair: 0)")
    gaps.set_ylabel("accuracy on the true target")
    gaps.set_title("what fairness costs")
    gaps.legend(fontsize=7)
    shown = {name: value for name, value in numbers["flips"].items() if value is not None}
    flips.barh(list(shown), list(shown.values()), color=PALETTE[0])
    flips.set_yticks(range(len(shown)), [name.replace("_", " ") for name in shown])
    flips.invert_yaxis()
    flips.set_xlim(0, 1)
    flips.set_xlabel("share of decisions that change")
    flips.set_title("flip rates")
    return drawing
