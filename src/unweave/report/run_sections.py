"""The report of one run: what it is, what it learnt, what to worry about, how to repeat it."""

import json
from collections.abc import Mapping
from typing import Any

from unweave import catalog, figures, views
from unweave.errors import DataError, UnweaveError
from unweave.evaluation.probes import leakage
from unweave.figures.decoded import traversal_grid
from unweave.files.json_files import read_json
from unweave.methods import summary_of
from unweave.metrics import is_above_nulls, null_words, protocol_words
from unweave.pages import Html, data_url, figure, folded, join, section, table, tag
from unweave.report import application_sections
from unweave.report.command import training_command
from unweave.report.drawn import drawn
from unweave.runs.config import to_json
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.settings.plain import flat
from unweave.views import CodeSample

MOST_LATENTS = 16  # lines of traversals; more are named, not drawn
LARGEST_ANIMATION = 1_200_000  # bytes
LARGEST_TRAINING = 800_000


def sections(run: Model, *, full: bool = True) -> Html:
    """Return the parts of a run's report; not `full`, only warnings, traversals and scores."""
    codes, missing = _codes(run)
    parts = [_warnings(run, codes, missing), _scores(run)]
    generates = run.code.source == "nowhere"
    if codes is not None or generates:
        parts.append(_latents(run, codes, full=full))
    if full:
        if codes is not None:
            parts.append(_knowledge(run, codes))
        if codes is not None or generates:
            parts.append(_images(run))
        if isinstance(run, Run):
            parts += [application_sections.sections(run), _training(run)]
        parts.append(_data(run, missing))
        if isinstance(run, Run):
            parts += [_settings(run), _repeat(run)]
    return join(parts)


def headline(model: Model, level: int = 1) -> Html:
    """Return a run's name and what it is in a sentence."""
    if not isinstance(model, Run):
        words = f"a model of your own on {model.data.name}, {model.latent_dim} latents"
        return join(tag(f"h{level}", model.name), tag("p", words))
    method = catalog.name_of(model.config.method)
    state = "in memory" if model.folder is None else model.folder.status()["state"]
    return join(
        tag(f"h{level}", model.name),
        tag("p", summary_of(model.config.method), class_="note"),
        tag(
            "p",
            f"{method} on {model.config.data}, {model.latent_dim} latents, seed "
            f"{model.config.seed}, step {model.step:,} of {model.config.steps:,} ({state})",
        ),
    )


def _codes(run: Model) -> tuple[CodeSample | None, str]:
    """Encode a sample of the data, or say why it cannot be opened here."""
    if run.code.source == "nowhere":
        return None, ""
    try:
        return views.sample_codes(run), ""
    except UnweaveError as error:
        return None, str(error)


def _warnings(run: Model, codes: CodeSample | None, missing: str) -> Html:
    if codes is None and not missing:
        words = "It generates images and encodes none, so there are no codes to worry about."
        return section("Warnings", tag("div", words, class_="fine"))
    if codes is None:
        message = f"The data of the run could not be opened, so nothing was encoded: {missing}"
        return section("Warnings", tag("ul", tag("li", message), class_="warnings"))
    found = views.warnings(run, codes)
    if not found.warnings:
        fine = "No collapsed latents, no entangled pairs, and the KL is not at a limit."
        return section("Warnings", tag("div", fine, class_="fine"))
    shown = tag("ul", [tag("li", line) for line in found.in_short], class_="warnings")
    if len(found.warnings) == len(found.in_short):
        return section("Warnings", shown)
    every = tag("ul", [tag("li", warned.message) for warned in found.warnings])
    return section("Warnings", shown, folded(f"All {len(found.warnings)}, one by one", every))


def _scores(run: Model) -> Html:
    lines = []
    for name, entry in run.scores.items():
        module = catalog.load("unweave.metrics", name, "metric") if _is_metric(name) else None
        meaning = catalog.summary(module) if module else ""
        if entry.get("value") is None:
            lines.append([name, "–", "", f"not scored: {entry.get('reason', '')}", meaning])
            continue
        shown = f"{entry['value']:.3f}"
        interval = entry.get("details", {}).get("interval")
        if interval is not None:
            shown += f" [{interval[0]:.3f}, {interval[1]:.3f}]"
        protocol = str(entry.get("protocol", ""))
        words = module.PROTOCOLS.get(protocol, "") if module else ""
        better = "higher" if entry.get("higher_is_better", True) else "lower"
        nulls = null_words(entry)
        how = join(
            tag("b", protocol_words(entry)),
            f": {words}",
            tag("div", f"nulls: {nulls}") if nulls else None,
            _remarks(entry),
        )
        lines.append([name, _with_parts(shown, entry), better, how, meaning])
    if not lines:
        place = run.path if isinstance(run, Run) and run.folder else "RUN"
        return section("Scores", tag("p", "Not scored: ", tag("code", f"unweave evaluate {place}")))
    header = ["metric", "score", "better", "protocol", "what it means"]
    return section("Scores", table(header, lines, "scores"), _against_nulls(run.scores))


def _against_nulls(scores: Mapping[str, Mapping[str, Any]]) -> Html | None:
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


def _with_parts(shown: str, entry: Mapping[str, Any]) -> Html:
    """Return a value with the numbers that belong beside it."""
    parts = entry.get("parts") or {}
    return join(shown, *(tag("div", f"{name} {part:.3f}") for name, part in parts.items()))


def _remarks(entry: Mapping[str, Any]) -> Html:
    """Return what a stored score says of itself: worse than chance, codes left out."""
    return join(*(tag("div", note, class_="soft") for note in entry.get("notes") or ()))


def _is_metric(name: str) -> bool:
    return name in catalog.names("unweave.metrics")


def _latents(run: Model, codes: CodeSample | None, *, full: bool) -> Html:
    units = views.units_by_weight(run, codes)
    shown = [unit.dimensions[0] for unit in units[:MOST_LATENTS]]
    left_out = [run.label(unit) for unit in units[MOST_LATENTS:]]
    caption = "Each line varies one latent from -2 to +2 while the others rest"
    if any(unit.kind == "category" for unit in units):
        caption += ", or goes through the values of a category"
    if codes is not None:
        caption += "; those that carry most come first"
    caption += ". The frame marks the value of the image that is varied."
    if left_out:
        caption += f" Not shown: {', '.join(left_out)}."

    def grid() -> Any:
        return traversal_grid(views.traversals(run, latents=shown, codes=codes))

    parts: list[Html | None] = [drawn(grid, caption, "latent traversals")]
    if full:
        parts.append(_animation(run, codes, shown))
    if full and codes is not None:
        parts.append(
            drawn(
                lambda: figures.kl_per_dimension(run, codes),
                "How much each latent carries; grey ones carry nothing.",
                "KL of each latent",
            )
        )
    return section("What each latent does", *parts)


def _animation(run: Model, codes: CodeSample | None, shown: list[int]) -> Html | None:
    if not run.code.decodes:
        return None
    content = figures.animated_traversals(run, latents=shown, codes=codes).content("webp")
    if len(content) > LARGEST_ANIMATION:
        return None
    source = data_url(content, "image/webp")
    caption = "Every latent moves to and fro between -2 and +2."
    return folded("Show the latents in motion", figure(source, caption, "moving traversals"))


def _knowledge(run: Model, codes: CodeSample) -> Html:
    if not run.data.factor_list:
        words = "The data set has no factors, so nothing can be said about what latents know."
        return section("What each latent knows", tag("p", words))
    return section(
        "What each latent knows",
        drawn(
            lambda: figures.heat_map(run, "mi", codes),
            "Mutual information of latent and factor over the factor's entropy: 1 means that the "
            "latent alone tells the factor. One bright cell per line is what disentangling means.",
            "mutual information of factors and latents",
        ),
        drawn(
            lambda: figures.heat_map(run, "dci", codes),
            "How much a predictor of each factor relies on each latent; lines add up to 1.",
            "DCI importance of latents for factors",
        ),
        drawn(
            lambda: figures.latent_response(run, codes),
            "The mean of each latent that carries something, by position and against every other "
            "factor, averaged over the rest.",
            "response of latents to factors",
        ),
    )


def _images(run: Model) -> Html:
    parts = []
    if run.code.decodes and run.code.source == "images":
        parts.append(
            drawn(
                lambda: figures.reconstructions(run),
                "Images of the data set, and what is decoded from their codes.",
                "reconstructions",
            )
        )
    if run.code.decodes:
        parts.append(
            drawn(lambda: figures.prior_samples(run), "Decoded from the prior.", "prior samples")
        )
    if run.code.swaps:
        parts.append(
            drawn(
                lambda: figures.swap_grid(run),
                "The content of each line's image in the style of each column's.",
                "swapped contents and styles",
            )
        )
    if run.code.decodes and "style" in run.code.roles:
        parts.append(
            drawn(
                lambda: figures.mixing_grid(run),
                "Codes of the prior: the content of each line's in the style of each column's.",
                "mixed contents and styles",
            )
        )
    if isinstance(run, Run) and run.code.roles:
        parts.append(_leakage(run))
    return section("What it decodes", *parts)


def _leakage(run: Run) -> Html:
    try:
        found = leakage(run)
    except UnweaveError as error:
        return tag("p", f"No probes of content and style: {error}", class_="note")
    lines = [
        [
            part,
            f"{found.accuracy[part]:.3f}",
            f"{found.drawn[part]:.3f}",
            f"{found.linear[part]:.3f}",
            f"{found.conditional[part]:+.3f}",
        ]
        for part in found.accuracy
    ]
    words = (
        f"How often classifiers of one half of the images name {found.column} on the other half, "
        f"from each part of the code. Always naming the commonest value is right in "
        f"{found.chance:.3f}: a style should tell no more, and be no further below. The last "
        f"column is what a forest that knows all other factors gains by seeing the code."
    )
    header = ["read off", "forest", "forest, codes as drawn", "linear", "given all else"]
    return join(tag("p", words), table(header, lines))


def _training(run: Run) -> Html:
    if run.folder is None or not run.config.method.players:
        return Html("")
    parts: list[Html | None] = [
        drawn(
            lambda: figures.curves(run),
            "Every term of every player by step; evaluations are of images drawn once.",
            "training curves",
        )
    ]
    record = list(run.folder.record())
    if any("kl_per_dimension" in line for line in record):
        parts.append(
            drawn(
                lambda: figures.kl_over_time(run),
                "Latents separate when they begin to carry something.",
                "KL of each latent by step",
            )
        )
    if views.layer_rates(record).rates.size:
        parts.append(
            drawn(
                lambda: figures.layer_rates(run),
                "A layer whose rate stays near 0 tells the decoder nothing.",
                "rate of each layer",
            )
        )
    parts.append(_training_pictures(run))
    return section("Training", *parts)


def _training_pictures(run: Run) -> Html | None:
    try:
        content = figures.training_animation(run).content("webp")
    except DataError:
        return None  # runs may be trained without pictures
    if len(content) > LARGEST_TRAINING:
        return None
    caption = "Traversals at the evaluations of the training, one after the other."
    picture = figure(data_url(content, "image/webp"), caption, "traversals while training")
    return folded("Show the traversals while training", tag("div", picture, class_="pictures"))


def _data(run: Model, missing: str) -> Html:
    if missing:
        return section("Data", tag("p", missing))
    data = run.data
    channels, height, width = data.image_shape
    words = f"{data.name}: {len(data):,} images of {channels} × {height} × {width}"
    lines = []
    for factor in data.factor_list:
        size = "continuous" if factor.continuous else str(factor.size)
        labels = ", ".join(factor.labels[:12]) if factor.labels else ""
        if factor.labels and len(factor.labels) > 12:
            labels += ", …"
        kind = "unordered" if factor.categorical else "ordered"
        lines.append([factor.name, size, kind, labels])
    factors = table(["factor", "values", "order", "labels"], lines) if lines else None
    none = None if lines else tag("p", "It has no factors.")
    return section("Data", tag("p", words), factors, none)


def _settings(run: Run) -> Html:
    lines = [[path, _in_words(value)] for path, value in flat(to_json(run.config)).items()]
    return section("Settings", folded("Show all settings", table(["setting", "value"], lines)))


def _in_words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _repeat(run: Run) -> Html:
    lines = []
    if run.folder is not None and run.folder.exists():
        content = read_json(run.folder.config_file)
        versions = content.get("versions")
        if isinstance(versions, dict):
            lines = [[str(name), str(number)] for name, number in versions.items()]
        lines += [[f"{p.word} {p.name}", f"plugin {p.origin}"] for p in run.folder.used_plugins()]
        created = content.get("created")
        if created:
            lines.append(["started", str(created)])
    return section(
        "How to repeat it",
        tag("p", "The same command with the same versions gives the same numbers:"),
        tag("pre", tag("code", training_command(run.config))),
        table(["", ""], lines) if lines else None,
    )
