"""A report: one HTML file about a run, a wrapped model or several runs; no network needed."""

from collections.abc import Sequence

from unweave import views
from unweave.errors import ConfigError
from unweave.pages import page, section, tag
from unweave.report import comparison_sections, run_sections
from unweave.report.drawn import pictured, plotted
from unweave.runs.model import Model
from unweave.runs.run import Run

FULL_RUNS = 3  # of more runs at once only the main parts are shown


def report_html(model: Model) -> str:
    """Return the page of one run or wrapped model."""
    return page(
        f"unweave: {model.name}", run_sections.headline(model), run_sections.sections(model)
    )


def comparison_html(runs: Sequence[Run]) -> str:
    """Return the page of several runs: how they compare, then each of them."""
    if not runs:
        raise ConfigError("a report of what? Give at least one run folder")
    comparison = views.compare(runs)
    full = len(runs) <= FULL_RUNS
    links = [tag("a", run.name, href=f"#run-{i}") for i, run in enumerate(runs)]
    parts = [
        tag(
            "section",
            run_sections.headline(run, level=2),
            run_sections.sections(run, full=full),
            id=f"run-{i}",
        )
        for i, run in enumerate(runs)
    ]
    note = None if full else tag("p", "`unweave report RUN` of a single run shows more of it.")
    return page(
        f"unweave: {len(runs)} runs",
        tag("h1", f"{len(runs)} runs"),
        tag("nav", links, aria_label="runs"),
        comparison_sections.sections(comparison),
        section("Each run", note or ""),
        parts,
    )


__all__ = ["comparison_html", "pictured", "plotted", "report_html"]
