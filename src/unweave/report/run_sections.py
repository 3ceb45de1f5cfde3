"""The report of one run: what it is, what it learnt, what to worry about, how to repeat it."""

from typing import Any

from unweave import catalog, figures, views
from unweave.errors import DataError, UnweaveError
from unweave.evaluation.baselines import Baselines
from unweave.evaluation.probes import leakage
from unweave.figures.decoded import traversal_grid
from unweave.methods import summary_of
from unweave.pages import Html, data_url, figure, folded, join, section, table, tag
from unweave.report import application_sections, making
from unweave.report.drawn import drawn
from unweave.report.score_sections import scores_section
from unweave.report.summary import summary
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.views import CodeSample

MOST_WARNINGS = 3  # that are shown at once, those that matter most; the others can be opened
MOST_LATENTS = 16  # lines of traversals; more are named, not drawn
LARGEST_ANIMATION = 1_200_000  # bytes
LARGEST_TRAINING = 800_000


def opening(model: Model, codes: CodeSample | None, baselines: Baselines) -> Html:
    """Return a report in a paragraph."""
    return section("Summary", tag("p", summary(model, codes, baselines), class_="summary"))


def sections(
    run: Model,
    codes: CodeSample | None,
    missing: str,
    baselines: Baselines,
    *,
    full: bool = True,
) -> Html:
    """Return the parts of a run's report; not `full`, only warnings, traversals and scores.

    `missing` says why there are no codes.
    """
    parts = [_warnings(run, codes, missing), scores_section(run, baselines)]
    generates = run.code.source == "nowhere"
    if codes is not None or generates:
        parts.append(_latents(run, codes, full=full))
    if full:
        if codes is not None:
            parts.append(_knowledge(run, codes))
        if codes is not None or generates:
            parts.append(_images(run))
        parts.append(application_sections.sections(run))
        if isinstance(run, Run):
            parts.append(_training(run, codes))
        parts.append(_data(run, missing))
        if isinstance(run, Run):
            parts += [making.settings_section(run), making.repeat_section(run)]
    return join(parts)


def method_names(model: Model) -> list[str]:
    """Return the method of a run, whose paper is to be cited."""
    return [catalog.name_of(model.config.method)] if isinstance(model, Run) else []


def headline(model: Model) -> Html:
    """Return a run's name and what it is in a sentence."""
    return join(tag("h1", model.name), _in_a_line(model))


def about(model: Model, codes: CodeSample | None, baselines: Baselines) -> Html:
    """Return what a run is and its report in a paragraph, as part of a larger page."""
    return join(_in_a_line(model), tag("p", summary(model, codes, baselines), class_="summary"))


def _in_a_line(model: Model) -> Html:
    if not isinstance(model, Run):
        return tag("p", f"a model of your own on {model.data.name}, {model.latent_dim} latents")
    method = catalog.name_of(model.config.method)
    state = "in memory" if model.folder is None else model.folder.status()["state"]
    return join(
        tag("p", summary_of(model.config.method), class_="note"),
        tag(
            "p",
            f"{method} on {model.config.data}, {model.latent_dim} latents, seed "
            f"{model.config.seed}, step {model.step:,} of {model.config.steps:,} ({state})",
            class_="note",
        ),
    )


def sample_or_reason(run: Model) -> tuple[CodeSample | None, str]:
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
    first = found.in_short[:MOST_WARNINGS]
    shown = tag("ul", [tag("li", line) for line in first], class_="warnings")
    if len(found.warnings) == len(first):
        return section("Warnings", shown)
    every = tag("ul", [tag("li", warned.message) for warned in found.warnings])
    return section("Warnings", shown, folded(f"All {len(found.warnings)}, one by one", every))


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
                f"How much each latent carries, over {len(codes.rows):,} images; grey ones carry "
                "nothing. All figures show latents in this order.",
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
    moving = figure(source, caption, "moving traversals", number=False)
    return folded("Show the latents in motion", moving, class_="moving")


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
            f"factor, averaged over the rest; {len(codes.rows):,} images.",
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
    return join(
        tag("p", words),
        table(header, lines, title=f"What content and style tell of {found.column}"),
    )


def _training(run: Run, codes: CodeSample | None) -> Html:
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
                lambda: figures.kl_over_time(run, codes=codes),
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
    source = data_url(content, "image/webp")
    picture = figure(source, caption, "traversals while training", number=False)
    shown = tag("div", picture, class_="pictures")
    return folded("Show the traversals while training", shown, class_="moving")


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
    header = ["factor", "values", "order", "labels"]
    factors = table(header, lines, title=f"Factors of {data.name}") if lines else None
    none = None if lines else tag("p", "It has no factors.")
    return section("Data", tag("p", words), factors, none)
