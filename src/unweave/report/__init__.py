"""A report: one HTML file about a run, a wrapped model or several runs; no network needed."""

from collections.abc import Sequence

from unweave import views
from unweave.errors import ConfigError
from unweave.evaluation.baselines import Baselines, baselines_of
from unweave.pages import CONTENTS, Html, deeper, join, page, section, tag
from unweave.report import comparison_sections, run_sections
from unweave.report.drawn import pictured, plotted
from unweave.report.references import references
from unweave.report.score_sections import references_section
from unweave.runs.model import Model
from unweave.runs.run import Run

FULL_RUNS = 3  # of more runs at once only the main parts are shown
NONE = Baselines()


def report_html(model: Model, baselines: Baselines = NONE) -> str:
    """Return the page of one run or wrapped model."""
    codes, missing = run_sections.sample_or_reason(model)
    return page(
        f"unweave: {model.name}",
        run_sections.headline(model),
        run_sections.opening(model, codes, baselines),
        CONTENTS,
        run_sections.sections(model, codes, missing, baselines),
        references_section(run_sections.method_names(model), model.scores),
    )


def comparison_html(runs: Sequence[Run]) -> str:
    """Return the page of several runs: how they compare, then each of them."""
    if not runs:
        raise ConfigError("a report of what? Give at least one run folder")
    comparison = views.compare(runs)
    full = len(runs) <= FULL_RUNS
    note = None if full else tag("p", "`unweave report RUN` of a single run shows more of it.")
    methods = [name for run in runs for name in run_sections.method_names(run)]
    return page(
        f"unweave: {len(runs)} runs",
        tag("h1", f"{len(runs)} runs"),
        section("Summary", tag("p", comparison_sections.summary(comparison), class_="summary")),
        CONTENTS,
        comparison_sections.sections(comparison),
        [_of_one(run, full=full) for run in runs],
        note,
        references_section(methods, comparison.metrics),
    )


def _of_one(run: Run, *, full: bool) -> Html:
    codes, missing = run_sections.sample_or_reason(run)
    kept = NONE if codes is None else baselines_of(run, make=False)
    parts = run_sections.sections(run, codes, missing, kept, full=full)
    about = run_sections.about(run, codes, kept)
    return section(run.name, join(about, deeper(parts)))


__all__ = [
    "comparison_html",
    "pictured",
    "plotted",
    "references",
    "references_section",
    "report_html",
]
