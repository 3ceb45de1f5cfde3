"""intervene: set one thing from outside and see what follows, in images and in codes.

Four looks at what R. Suter et al., ICML 2019, arXiv:1811.00007, call robustness, and at what makes
a code causal rather than correlated:

- IRS, their score: how little a code moves while its factor is held, others being changed.
- do() in the world: of two images that differ in one factor, which latents move? Data whose factors
  cause each other (pendulum) are drawn anew with the effect cut off from its causes.
- do() in the code: the latent that carries a factor is taken from another image, and a judge of
  images says which factors moved. What the factor causes may move; its causes and what it has
  nothing to do with must stay.
- Identification by interventions (`_identification.py`): what the images of single interventions
  tell of the directions, or curves, along which a code holds its factors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.applications._applied import Applied, ResultTable, applied_to
from unweave.applications._identification import identification
from unweave.applications._inputs import Sample, sample, silent_words
from unweave.data import FactorImages, load_data
from unweave.editing import FactorReader, Finder, fit_reader
from unweave.errors import ConfigError
from unweave.evaluation.score import score
from unweave.figures.style import SEQUENTIAL, Drawing, styled
from unweave.runs.model import Model
from unweave.views import CodeSample

ALL = "all latents"
STILL = 0.3
"""Largest share of its own change by which a factor may move others and still count as cut off."""


@dataclass(frozen=True)
class Settings:
    rows: int = 3000
    """Images that are looked at."""
    pairs: int = 300
    """Pairs of images for each intervention."""
    values: int = 3
    """Values that each factor is set to, for identification."""
    nulls: int = 3
    """How often rotated and shuffled codes, and random assignments, are scored beside."""
    seed: int = 0
    """Which images."""


def related(graph: Mapping[str, Sequence[str]], factor: str) -> tuple[set[str], set[str]]:
    """Return the ancestors and the descendants of a factor."""

    def reach(step: Mapping[str, set[str]]) -> set[str]:
        found: set[str] = set()
        waiting = [factor]
        while waiting:
            for other in step.get(waiting.pop(), set()) - found:
                found.add(other)
                waiting.append(other)
        return found - {factor}

    causes = {name: set(of) for name, of in graph.items()}
    effects: dict[str, set[str]] = {}
    for name, of in graph.items():
        for cause in of:
            effects.setdefault(cause, set()).add(name)
    return reach(causes), reach(effects)


def in_the_code(
    model: Model, reader: FactorReader, taken: Sample, settings: Settings
) -> dict[str, Any]:
    """Exchange the latent that carries each factor, decode, and read what moved."""
    rng = np.random.default_rng((settings.seed, 0xC0))
    rows = taken.rows[: settings.pairs]
    codes = model.encode(model.data.images(rows))
    others = codes[rng.permutation(len(codes))]
    before = model.decode(codes)
    finder = Finder(model, _sample_of(taken, model), settings.seed)
    moved: dict[str, dict[str, float]] = {}
    carriers: dict[str, str] = {}
    for name in reader.names:
        try:
            target = finder.find(name)
        except ConfigError as error:
            carriers[name] = str(error)
            continue
        carriers[name] = target.label
        changed = codes.copy()
        dimensions = list(target.unit.dimensions)
        changed[:, dimensions] = others[:, dimensions]
        moved[name] = _named(reader, reader.change(before, model.decode(changed)))
    moved[ALL] = _named(reader, reader.change(before, model.decode(others)))
    return {"carried_by": carriers, "moved": moved, "ratios": ratios(moved, model.data.graph)}


def ratios(
    moved: Mapping[str, Mapping[str, float]], graph: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Return, by factor set, the largest change of what it does not cause over its own change."""
    found = {}
    for name, by in moved.items():
        if name == ALL:
            continue
        _, effects = related(graph, name)
        others = [value for other, value in by.items() if other != name and other not in effects]
        found[name] = max(others, default=0.0) / max(by[name], 1e-9)
    return found


def in_the_world(model: Model, taken: Sample, settings: Settings) -> dict[str, dict[str, float]]:
    """Return how far each latent moves, in deviations, between images that differ in one factor."""
    data, rng = model.data, np.random.default_rng((settings.seed, 0xD1))
    scale = np.where((spread := model.encode_rows(taken.rows).std(axis=0)) > 0, spread, 1.0)
    labels = model.latent_labels()
    found: dict[str, dict[str, float]] = {}
    for place, factor in enumerate(data.factor_list):
        if factor.name in data.graph:
            pair = _cut_off(data, factor.name, taken.rows[: settings.pairs])
        else:
            pair = _changed(data, place, taken, settings, rng)
        if pair is None:
            continue
        away = np.abs(model.encode(pair[1]) - model.encode(pair[0])).mean(axis=0) / scale
        away[list(taken.silent)] = 0
        found[factor.name] = dict(zip(labels, away.tolist(), strict=True))
    return found


def _changed(
    data: FactorImages, place: int, taken: Sample, settings: Settings, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return images and those that differ from them in one factor, as far as there are any."""
    if data.graph and data.factor_names[place] in {c for of in data.graph.values() for c in of}:
        # What it causes follows it: the partner has the same other causes, whatever the effects.
        return _with_effects(data, place, taken, settings, rng)
    before = taken.factors[: settings.pairs]
    values = np.unique(taken.factors[:, place])
    if len(values) < 2:
        return None
    after = before.copy()
    after[:, place] = _another(before[:, place], values, rng)
    rows = data.find_rows(np.ascontiguousarray(after))
    there = rows >= 0
    if there.sum() < 2:
        return None
    return data.images(taken.rows[: settings.pairs][there]), data.images(rows[there])


def _with_effects(
    data: FactorImages, place: int, taken: Sample, settings: Settings, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray] | None:
    free = [i for i, name in enumerate(data.factor_names) if name not in data.graph]
    table = data.factors()[:, free]
    by_causes = {tuple(line): row for row, line in enumerate(table.tolist())}
    first, second = [], []
    values = np.unique(data.factors()[:, place])
    for row in taken.rows[: settings.pairs]:
        line = table[row].copy()
        column = free.index(place)
        line[column] = _another(line[[column]], values, rng)[0]
        if (other := by_causes.get(tuple(line.tolist()))) is not None:
            first.append(int(row))
            second.append(other)
    if len(first) < 2:
        return None
    return data.images(np.array(first)), data.images(np.array(second))


def _cut_off(
    data: FactorImages, factor: str, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return images and the same with an effect set from outside, where data can be drawn so."""
    if not data.known:
        return None
    cut = load_data(f"{data.name}:do({factor}=random)")
    return data.images(rows), cut.images(rows)


def _another(values: np.ndarray, known: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return for each value one of the others."""
    places = np.searchsorted(known, values)
    steps = rng.integers(1, len(known), size=len(values))
    other: np.ndarray = known[(places + steps) % len(known)]
    return other


def apply(model: Model, settings: Settings = Settings()) -> Applied:
    """Intervene in the world and in the code, and say what follows."""
    if settings.pairs < 10 or settings.values < 2 or settings.nulls < 1:
        raise ConfigError(
            f"expected 10 pairs, 2 values and 1 null or more, found {settings.pairs}, "
            f"{settings.values} and {settings.nulls}"
        )
    taken = sample(model, settings.rows, settings.seed)
    data = model.data
    scored = score(
        taken.codes,
        taken.factors,
        ["irs"],
        nulls=settings.nulls,
        factor_names=data.factor_names,
    )
    numbers: dict[str, Any] = {
        "irs": scored["irs"].to_json() if "irs" in scored else None,
        "identification": identification(
            taken, values=settings.values, nulls=settings.nulls, seed=settings.seed
        ),
        "graph": dict(data.graph),
    }
    if model.code.source == "images":
        numbers["in_the_world"] = in_the_world(model, taken, settings)
        if model.code.decodes:
            reader = fit_reader(data, seed=settings.seed)
            numbers["judge"] = {
                r.factor: {"quality": r.quality, "error": r.error} for r in reader.readings
            }
            numbers["in_the_code"] = in_the_code(model, reader, taken, settings)
    return applied_to(
        model,
        settings,
        numbers,
        tables=_tables(numbers),
        paragraph=_paragraph(model, numbers),
        caveats=(*_caveats(model, numbers), *silent_words(taken, model)),
        figure=_figure(numbers),
    )


def _sample_of(taken: Sample, model: Model) -> CodeSample:
    codes = model.encode_rows(taken.rows)
    return CodeSample(taken.rows, codes, taken.factors, None, model.code_prior)


def _named(reader: FactorReader, moved: np.ndarray) -> dict[str, float]:
    return dict(zip(reader.names, moved.mean(axis=0).tolist(), strict=True))


def _tables(numbers: dict[str, Any]) -> tuple[ResultTable, ...]:
    found = []
    irs, known = numbers["irs"], numbers["identification"]
    lines: list[tuple[Any, ...]] = []
    if irs is not None:
        nulls = irs["nulls"]
        lines.append(("IRS", irs["value"], _range(nulls["rotated"]), _range(nulls["shuffled"])))
    if known:
        lines.append(("MCC before", known["before"], None, None))
        nulls = _range(known["straight_at_random"])
        lines.append(("MCC after interventions, straight", known["straight"], None, nulls))
        nulls = _range(known["at_random"])
        lines.append(("MCC after interventions, curved", known["after"], None, nulls))
    header = ("", "value", "codes rotated", "assigned at random")
    found.append(ResultTable("Robustness and identification", header, tuple(lines)))
    if "in_the_code" in numbers:
        moved = numbers["in_the_code"]["moved"]
        names = list(next(iter(moved.values())))
        rows = tuple((name, *(by[other] for other in names)) for name, by in moved.items())
        title = "do() in the code: how far factors move (line set, column read off the images)"
        found.append(ResultTable(title, ("set", *names), rows))
        errors = tuple(numbers["judge"][name]["error"] for name in names)
        title = "What the judge of images is off by"
        found.append(ResultTable(title, ("", *names), (("error", *errors),)))
    if numbers.get("in_the_world"):
        moved = numbers["in_the_world"]
        names = list(next(iter(moved.values())))
        rows = tuple((name, *(by[other] for other in names)) for name, by in moved.items())
        title = "do() in the world: how far latents move, in deviations"
        found.append(ResultTable(title, ("factor changed", *names), rows))
    return tuple(found)


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.3f} to {max(values):.3f}"


def _paragraph(model: Model, numbers: dict[str, Any]) -> str:
    told = []
    irs, known = numbers["irs"], numbers["identification"]
    if irs is not None:
        told.append(
            f"IRS of {model.name} is {irs['value']:.3f}; rotated codes have "
            f"{_range(irs['nulls']['rotated'])}, and shuffled ones "
            f"{_range(irs['nulls']['shuffled'])}."
        )
    if known:
        told.append(
            f"Codes correlate with the factors by {known['before']:.3f}; straight directions found "
            f"from interventions by {known['straight']:.3f}, curved ones by {known['after']:.3f}, "
            f"and curved ones from random assignments by {_range(known['at_random'])}."
        )
    if "in_the_code" in numbers:
        ratio = numbers["in_the_code"]["ratios"]
        still = [name for name, value in ratio.items() if value < STILL]
        moving = [f"{name} ({value:.2f})" for name, value in ratio.items() if value >= STILL]
        if still:
            told.append(
                f"Setting the latent of {', '.join(still)} leaves what it does not cause still."
            )
        if moving:
            told.append(
                f"Setting that of {', '.join(moving)} moves other factors too; in brackets the "
                f"largest such change over its own, of which {STILL} is let pass."
            )
        none = [n for n in numbers["in_the_code"]["carried_by"] if n not in ratio]
        if none:
            told.append(f"No latent carries {', '.join(none)}.")
    return " ".join(told)


def _caveats(model: Model, numbers: dict[str, Any]) -> tuple[str, ...]:
    told = [
        "Which images belong to which intervention is told by the factors: identification by "
        "interventions uses these labels, though not the values that were set.",
        "Curved directions are quadratic in the code; one that bends more is identified only "
        "as far as they follow it.",
        "A still factor may also be one that the decoder cannot draw: compare the line that "
        "exchanges all latents.",
    ]
    if not numbers["graph"]:
        told.append(
            f"The factors of {model.data.name} cause nothing: every other factor should stay."
        )
    if "in_the_code" not in numbers:
        told.append(f"{model.name} makes no images of codes: do() in the code was not tried.")
    return tuple(told)


@styled
def _figure(numbers: dict[str, Any]) -> Drawing:
    shown = {
        title: found
        for title, found in (
            ("do() in the code: factors moved", numbers.get("in_the_code", {}).get("moved")),
            ("do() in the world: latents moved", numbers.get("in_the_world")),
        )
        if found
    }
    drawing = Drawing(figsize=(5.0 * max(len(shown), 1), 3.6), layout="constrained")
    for place, (title, found) in enumerate(shown.items()):
        axes = drawing.add_subplot(1, len(shown), place + 1)
        names = list(next(iter(found.values())))
        table = np.array([[by[name] for name in names] for by in found.values()])
        image = axes.imshow(table, cmap=SEQUENTIAL, vmin=0, aspect="auto")
        axes.set_xticks(range(len(names)), names, rotation=40, ha="right")
        axes.set_yticks(range(len(found)), list(found))
        axes.grid(visible=False)
        axes.set_title(title)
        drawing.colorbar(image, ax=axes, shrink=0.8)
    return drawing
