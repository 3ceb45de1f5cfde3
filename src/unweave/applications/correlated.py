"""correlated: trained where factors go together, judged where they do not.

F. Träuble et al., "On Disentangled Representations Learned from Correlated Data", ICML 2021,
arXiv:2006.07886, and K. Roth et al., ICLR 2023, arXiv:2210.07347. A run trained with `--correlate`
is scored on images as they were trained on, on images where the factors are independent, and on
images where the correlation is turned around. For every pair of factors: how much of the second is
known to the latent that carries the first, on independent images, where it should know nothing. And
how many labels of independent images it takes to undo it: a linear map of the code to the pair of
factors, whose outputs are judged in the same way.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.applications._applied import Applied, ResultTable, applied_to, mean_and_deviation
from unweave.data import FactorImages
from unweave.errors import ConfigError, DataError
from unweave.evaluation.score import score
from unweave.figures.style import PALETTE, QUIET, Drawing, line_look, styled
from unweave.metrics import mig
from unweave.runs.model import Model
from unweave.tables import standardize

METRICS = ("mig", "dci", "mcc")
PARTS = {"all": "independent", "correlated": "as trained", "inverse": "turned around"}
PENALTIES = np.logspace(-4, 4, 17)


@dataclass(frozen=True)
class Settings:
    rows: int = 3000
    """Images of each part."""
    labels: tuple[int, ...] = (10, 30, 100, 300)
    """Labelled images with which the correlation is undone."""
    draws: int = 5
    """How often they are drawn."""
    seed: int = 0
    """Which images."""


def shares_of(codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return what each code knows of each factor as a share of its entropy, (factor, code)."""
    details = mig(codes, factors).details
    shares: np.ndarray = (details["mutual_information"] / details["factor_entropy"]).T
    return shares


def cross_knowledge(shares: np.ndarray) -> np.ndarray:
    """Return what the best code of the first factor knows of the second, (first, second)."""
    best = shares.argmax(axis=1)
    found: np.ndarray = shares[:, best].T
    return found


def correlated_pairs(data: FactorImages) -> np.ndarray:
    """Return how strongly each pair of factors goes together in training, (first, second)."""
    assert data.weights is not None
    table = data.factors().astype(np.float64)
    away = table - np.average(table, axis=0, weights=data.weights)
    covariance = away.T @ (away * data.weights[:, None])
    deviation = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    found: np.ndarray = covariance / np.outer(deviation, deviation)
    return found


def undone(
    codes: np.ndarray,
    pair: np.ndarray,
    size: int,
    judged: slice,
    pool: np.ndarray,
    rng: np.random.Generator,
) -> float:
    """Return what is left of one factor in the reader of the other, fitted to so many labels."""
    from sklearn.linear_model import RidgeCV

    known = rng.choice(pool, size=size, replace=False)
    outputs = RidgeCV(alphas=PENALTIES).fit(codes[known], pair[known]).predict(codes[judged])
    shares = shares_of(outputs, pair[judged])
    return float((shares[0, 1] + shares[1, 0]) / 2)


def apply(model: Model, settings: Settings = Settings()) -> Applied:
    """Score a code on independent, correlated and inversely correlated images."""
    data = model.data
    _check(model, settings)
    tables = {part: _encoded(model, data.part(part), settings) for part in PARTS}
    scores: dict[str, dict[str, float]] = {}
    for part, (codes, factors) in tables.items():
        found = score(codes, factors, METRICS, preset="fast", factor_names=data.factor_names)
        for name, result in found.items():
            scores.setdefault(name, {})[part] = result.value
    codes, factors = tables["all"]
    rng = np.random.default_rng((settings.seed, 0xC02))
    shuffled = factors[rng.permutation(len(factors))]
    knowledge = cross_knowledge(shares_of(codes, factors))
    chance = float(shares_of(codes, shuffled).mean())
    strength = np.abs(correlated_pairs(data))
    np.fill_diagonal(strength, 0)
    first, second = (int(i) for i in np.unravel_index(strength.argmax(), strength.shape))
    numbers: dict[str, Any] = {
        "factors": list(data.factor_names),
        "scores": scores,
        "knowledge": knowledge,
        "chance": chance,
        "correlation_in_training": correlated_pairs(data),
        "pair": [data.factor_names[first], data.factor_names[second]],
        "of_the_pair": _of_pair(knowledge, first, second),
        "of_other_pairs": _of_others(knowledge, first, second),
        "undone": _curve(codes, factors[:, [first, second]], settings),
    }
    return applied_to(
        model,
        settings,
        numbers,
        tables=_tables(numbers),
        paragraph=_paragraph(model, numbers),
        caveats=_caveats(),
        figure=_figure(numbers),
    )


def _check(model: Model, settings: Settings) -> None:
    data = model.data
    if len(data.factor_list) < 2:
        raise DataError(f"{data.name} has fewer than two factors; nothing can be correlated")
    if data.weights is None:
        raise ConfigError(
            f"{model.name} was trained on independent factors: train with --correlate x~y:0.1; for "
            "a --model, --correlate says how its factors went together"
        )
    if model.latent_dim < 2:
        raise ConfigError(f"{model.name} has a single latent, which cannot part two factors")
    if settings.rows < 50 or not settings.labels or min(settings.labels) < 3 or settings.draws < 1:
        raise ConfigError(
            f"expected 50 rows, 3 labels and 1 draw or more, found {settings.rows}, "
            f"{settings.labels} and {settings.draws}"
        )


def _encoded(model: Model, data: FactorImages, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng((settings.seed, 0xC01))
    rows = rng.permutation(len(data))[: settings.rows]
    return standardize(model.encode_rows(rows, data)), data.factors(rows)


def _of_pair(knowledge: np.ndarray, first: int, second: int) -> float:
    return float((knowledge[first, second] + knowledge[second, first]) / 2)


def _of_others(knowledge: np.ndarray, first: int, second: int) -> float | None:
    """Return the mean over the other pairs; None where there are no others."""
    others = [
        knowledge[i, j]
        for i in range(len(knowledge))
        for j in range(len(knowledge))
        if i != j and {i, j} != {first, second}
    ]
    return float(np.mean(others)) if others else None


def _curve(codes: np.ndarray, pair: np.ndarray, settings: Settings) -> dict[int, list[float]]:
    half = len(codes) // 2
    judged, pool = slice(None, half), np.arange(half, len(codes))
    scaled = (pair - pair.min(axis=0)) / np.maximum(np.ptp(pair, axis=0), 1)
    found = {}
    for size in sorted({size for size in settings.labels if size <= len(pool)}):
        draws = [np.random.default_rng((settings.seed, size, d)) for d in range(settings.draws)]
        found[size] = [undone(codes, scaled, size, judged, pool, rng) for rng in draws]
    return found


def _tables(numbers: dict[str, Any]) -> tuple[ResultTable, ...]:
    header = ("", *PARTS.values())
    lines = tuple(
        (name, *(by.get(part) for part in PARTS)) for name, by in numbers["scores"].items()
    )
    names = numbers["factors"]
    known = tuple(
        (name, *(float(v) for v in line))
        for name, line in zip(names, numbers["knowledge"], strict=True)
    )
    one, two = numbers["pair"]
    left: list[tuple[Any, ...]] = [("the code", numbers["of_the_pair"])]
    left += [(f"{n:,} labels", mean_and_deviation(v)) for n, v in numbers["undone"].items()]
    left += [("other pairs of factors", numbers["of_other_pairs"]), ("chance", numbers["chance"])]
    return (
        ResultTable("Scores, by how the factors of the images go together", header, lines),
        ResultTable(
            "What the latent of one factor (line) knows of another (column), independent images",
            ("", *names),
            known,
        ),
        ResultTable(
            f"What is known of {two} where {one} is read, and the other way round",
            ("read off", "share of entropy"),
            tuple(left),
        ),
    )


def _paragraph(model: Model, numbers: dict[str, Any]) -> str:
    one, two = numbers["pair"]
    told = []
    for metric in ("mig", "dci"):
        by = numbers["scores"].get(metric, {})
        if {"all", "correlated", "inverse"} <= set(by):
            told.append(
                f"{metric.upper()} of {model.name} is {by['all']:.3f} on independent images, "
                f"{by['correlated']:.3f} on images as it was trained on and {by['inverse']:.3f} "
                f"where the correlation is turned around."
            )
    others = numbers["of_other_pairs"]
    beside = "" if others is None else f", of other pairs {others:.3f}"
    told.append(
        f"On independent images, the latent of {one} knows {numbers['of_the_pair']:.3f} of the "
        f"entropy of {two}, and the other way round, on average{beside}; chance is "
        f"{numbers['chance']:.3f}."
    )
    if numbers["undone"]:
        size, values = list(numbers["undone"].items())[-1]
        told.append(
            f"Read off the whole code with {size:,} labels, what is left is {np.mean(values):.3f}."
        )
    return " ".join(told)


def _caveats() -> tuple[str, ...]:
    return (
        "Scores on correlated images mix what the code does with what the images do: a perfect "
        "code of correlated factors does not reach 1 there.",
        "One run says little: compare with the same settings trained without --correlate, over "
        "several seeds.",
        "The readers that undo the correlation are linear, and see labels of independent images.",
    )


@styled
def _figure(numbers: dict[str, Any]) -> Drawing:
    drawing = Drawing(figsize=(9.0, 3.6), layout="constrained")
    bars, curve = drawing.subplots(1, 2)
    places = np.arange(len(numbers["scores"]))
    for shift, (part, words) in enumerate(PARTS.items()):
        values = [by.get(part, np.nan) for by in numbers["scores"].values()]
        look = {"width": 0.25, "color": PALETTE[shift], "label": words}
        bars.bar(places + 0.27 * (shift - 1), values, **look)
    bars.set_xticks(places, list(numbers["scores"]))
    bars.set_ylim(0, 1.02)
    bars.legend()
    bars.set_title("scores by how factors go together")
    sizes = list(numbers["undone"])
    if sizes:
        means = [np.mean(values) for values in numbers["undone"].values()]
        curve.plot(sizes, means, marker="o", label="with labels", **line_look(0))
        curve.set_xscale("log")
        curve.set_xticks(sizes, [f"{size:,}" for size in sizes])
        curve.minorticks_off()
    curve.axhline(numbers["of_the_pair"], color=PALETTE[1], label="the code's latents")
    curve.axhline(numbers["chance"], color=QUIET, linestyle=":", label="chance")
    curve.set_xlabel("labelled images")
    curve.set_title(f"{numbers['pair'][1]} known where {numbers['pair'][0]} is read")
    curve.legend()
    return drawing
