"""The scores of a model: with their uncertainty or nulls, among baselines, and whose they are."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from unweave import catalog
from unweave.evaluation.baselines import Baselines
from unweave.figures.baselines import among_baselines
from unweave.metrics import headline, is_above_nulls, null_words, protocol_words, shared_notes
from unweave.pages import Html, downloads, join, section, table, tag
from unweave.report.drawn import drawn
from unweave.report.references import references, to_bibtex
from unweave.runs.model import Model
from unweave.runs.run import Run

Entry = Mapping[str, Any]


def with_nulls(scores: Mapping[str, Entry], baselines: Baselines) -> dict[str, Entry]:
    """Return stored scores with the nulls that were made beside the baselines, where they lack."""
    return {
        name: entry if entry.get("nulls") else {**entry, "nulls": baselines.nulls.get(name, {})}
        for name, entry in scores.items()
    }


def scores_section(model: Model, baselines: Baselines) -> Html:
    """Return the table of scores, the figure and table of baselines."""
    scores = with_nulls(model.scores, baselines)
    if not scores:
        place = model.path if isinstance(model, Run) and model.folder else "RUN"
        return section("Scores", tag("p", "Not scored: ", tag("code", f"unweave evaluate {place}")))
    header = ["metric", "score", "by chance", "protocol"]
    shared = shared_notes({name: entry.get("notes") or () for name, entry in scores.items()})
    lines = [_line(name, entry, shared) for name, entry in scores.items()]
    title = (
        "Scores. By chance: what the same codes score turned by random rotations, which know as "
        "much but along no axis, and with the factors of other images; mean and deviation of the "
        "draws. In brackets after a score: its 95 % interval over seeds. ↑: higher is better."
    )
    return section(
        "Scores",
        table(header, lines, "scores", title=title),
        *(tag("p", f"Of {', '.join(names)}: {note}.") for note, names in shared.items()),
        _against_nulls(scores),
        _beside(scores, baselines),
    )


def _line(name: str, entry: Entry, shared: Collection[str]) -> list[Any]:
    """Return the line of a score; what is said of several alike stands below the table."""
    known = name in catalog.names("unweave.metrics")
    module = catalog.load("unweave.metrics", name, "metric") if known else None
    meaning = tag("div", catalog.summary(module), class_="soft") if module else None
    if entry.get("value") is None:
        return [join(name, meaning), "–", "", f"not scored: {entry.get('reason', '')}"]
    protocol = str(entry.get("protocol", ""))
    words = module.PROTOCOLS.get(protocol, "") if module else ""
    better = "↑" if entry.get("higher_is_better", True) else "↓"
    how = join(
        tag("b", protocol_words(entry)),
        f": {words}" if words else None,
        tag("div", _made_of(entry), class_="soft") if entry.get("made") else None,
        *(tag("div", n, class_="soft") for n in entry.get("notes") or () if n not in shared),
    )
    return [join(f"{name} {better}", meaning), _value(entry), _by_chance(entry), how]


def _value(entry: Entry) -> Html | str:
    """Return a value with its interval and the numbers that belong beside it."""
    shown = f"{entry['value']:.3f}"
    interval = (entry.get("details") or {}).get("interval")
    if interval is not None:
        shown += f" [{interval[0]:.3f}, {interval[1]:.3f}]"
    parts = entry.get("parts") or {}
    if not parts:
        return shown
    own = headline(entry)
    shown += f" {own}" if own else ""
    others = [f"{name} {part:.3f}" for name, part in parts.items() if name != own]
    return join(shown, *(tag("div", other) for other in others))


def _by_chance(entry: Entry) -> Html | str:
    """Return the nulls of a score, or what is known of chance."""
    words = null_words(entry)
    if words:
        return join(*(tag("div", part) for part in words.split(", ")))
    if isinstance(entry.get("chance"), int | float):
        return f"{entry['chance']:.3f}"
    return "not measured"


def _made_of(entry: Entry) -> str:
    made = entry["made"]
    rows = made.get("rows") if isinstance(made, Mapping) else None
    return f"{rows:,} images" if isinstance(rows, int) else ""


def _against_nulls(scores: Mapping[str, Entry]) -> Html | None:
    """Say which scores are better than random rotations of the codes and shuffled factors."""
    found = {name: is_above_nulls(entry) for name, entry in scores.items()}
    above = [name for name, better in found.items() if better]
    below = [name for name, better in found.items() if better is False]
    if not above and not below:
        return None
    words = (
        f"Better than every random rotation of the same codes and than shuffled factors: "
        f"{', '.join(above) or 'none'}. "
    )
    if below:
        words += f"No better, so they say nothing about the axes of the codes: {', '.join(below)}."
    return tag("p", words)


def _beside(scores: Mapping[str, Entry], baselines: Baselines) -> Html | None:
    if not baselines.values:
        return None
    arms = list(dict.fromkeys(arm for by in baselines.values.values() for arm in by))
    own = {
        name: float(entry["value"])
        for name, entry in scores.items()
        if entry.get("value") is not None and name in baselines.values | baselines.nulls
    }
    lines = [
        [name, f"{value:.3f}", *(_number(baselines.values.get(name, {}).get(a)) for a in arms)]
        for name, value in own.items()
    ]
    nulls = {name: scores[name].get("nulls") or {} for name in own}
    caption = (
        "The model among codes that nothing was learnt for, scored in the same way on the same "
        f"{baselines.rows:,} images: pixels averaged to 8 × 8, as many principal components as "
        "the model has latents, the same networks before training, and the factors themselves. "
        "Grey: from the least to the largest of the nulls."
    )
    return join(
        drawn(
            lambda: among_baselines(own, baselines.values, nulls),
            caption,
            "scores among baselines",
        ),
        table(["metric", "this model", *arms], lines, title="Scores of the model and of baselines"),
        _slow_words(own, arms, baselines),
    )


def _slow_words(own: Mapping[str, float], arms: Sequence[str], baselines: Baselines) -> Html | None:
    missing = [name for name in own if len(baselines.values.get(name, {})) < len(arms)]
    if not missing:
        return None
    words = f"–: {', '.join(missing)} of so many images and codes takes longer than a report may."
    return tag("p", words, class_="note")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def references_section(methods: Iterable[str], metrics: Iterable[str]) -> Html:
    """Return the papers of the methods and metrics, with a file for BibTeX."""
    found = references(methods, metrics)
    if not found:
        return Html("")
    file = to_bibtex(found)
    return section(
        "References",
        tag("ol", [tag("li", reference.in_words()) for reference in found], class_="references"),
        tag("p", downloads("references", {"bib": file.encode()}, number=False)),
    )
