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
the whole code, without the latents that tell a, and with these latents drawn anew. Codes are
means; with the noise of their posteriors, as decoders see them, they tell less by the way. A
method that holds latents to the factor a (semi_supervised, ff_vae) is relieved of those; of any
other the latents that tell a best, one after the other (post hoc).

Would the decision have been another? The latents that tell a are exchanged between images; the
flip rate is the share of decisions that change: of the classifier of codes, and of one of pixels
that sees the decoded images. That of decoding without any exchange stands beside it, and, where
the data has every combination of factors, that of the images in which a alone is exchanged: how
unfair the classifier is, and what a good counterfactual finds out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave import runs
from unweave.applications._applied import Applied, applied_to
from unweave.applications._counterfactuals import exchanged, flip_rates
from unweave.applications._fairness_in_words import (
    AS_DRAWN,
    caveats_of,
    figure_of,
    paragraph,
    tables,
)
from unweave.applications._inputs import (
    Sample,
    area_under_curve,
    averaged,
    baselines,
    drawn_codes,
    factor_of,
    forest,
    halves,
    sample,
    silent_words,
)
from unweave.applications._unfairness import adjusted, aggregates, rank_interval, unfairness
from unweave.errors import ConfigError, DataError
from unweave.evaluation.score import score
from unweave.runs.model import Model

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
    biased = biased_decisions(
        target, sensitive, settings.bias, np.random.default_rng((settings.seed, 0xF11, 1))
    )
    flips = flip_rates(model, taken, dropped[-1], first.name, biased, settings.seed)
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
    caveats = (*caveats_of(model), *silent_words(taken, model))
    if settings.beside:
        numbers["among_runs"], told = _among_runs(model, settings)
        caveats += told
    return applied_to(
        model,
        settings,
        numbers,
        tables=tables(numbers),
        paragraph=paragraph(model, numbers, settings.bias),
        caveats=caveats,
        figure=figure_of(numbers),
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
    drawn = drawn_codes(model, taken, seed)
    if drawn is not None:
        found[f"the whole code{AS_DRAWN}"] = drawn
        found[f"without {named}{AS_DRAWN}"] = np.delete(drawn, dropped[-1], axis=1)
    found[f"{named} drawn anew"] = exchanged(codes, dropped[-1], rng.permutation(len(codes)))
    # As many that tell neither: taking away anything at all must not be what helps.
    others = [int(i) for i in _quiet(codes, sensitive, target) if i not in dropped[-1]]
    if len(others) > len(dropped[-1]):
        found["without as many that tell neither"] = np.delete(
            codes, others[: len(dropped[-1])], axis=1
        )
    return found | baselines(model, taken, seed, small=False)


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
