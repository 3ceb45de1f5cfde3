"""The report of a study: what was asked, what was run, what holds."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from unweave.evaluation.measures import measure_named
from unweave.files.json_files import read_json
from unweave.files.writing import write_atomically
from unweave.settings.plain import to_plain
from unweave.studies.define.expansion import Plan
from unweave.studies.define.papers import WITHOUT_LABELS
from unweave.studies.report import choosing, plots, sections
from unweave.studies.report.beside import beside_published
from unweave.studies.report.blocks import (
    Block,
    Heading,
    Plot,
    References,
    Text,
    write_html,
    write_markdown,
)
from unweave.studies.report.earlier import section, versions
from unweave.studies.report.kept import all_kept, scores_of_lines
from unweave.studies.report.selection import select
from unweave.studies.report.summary import summary
from unweave.studies.report.table import StudyTable, make_table
from unweave.studies.report.traversals import traversals
from unweave.studies.report.variance import variance
from unweave.studies.run.ledger import Ledger

MOST_MODELS = 24
"""Of more runs on a data set, ModelCentrality takes so many."""


def write_report(
    plan: Plan,
    ledger: Ledger,
    path: Path | None = None,
    *,
    with_selection: bool = True,
    most_models: int = MOST_MODELS,
    command: str = "",
) -> Path:
    """Write the report as .html (one file) or .md (with a folder of pictures)."""
    folder = ledger.study_folder(plan.study.name)
    chosen = chosen_without_labels(plan, ledger, most_models) if with_selection else {}
    table = make_table(plan, ledger).with_scores(chosen)
    table.to_csv(folder / "table.csv")
    path = path or folder / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    title = plan.study.title or f"Study {plan.study.name}"
    page = path if path.suffix == ".md" else None
    blocks = list(blocks_of(plan, ledger, table, chosen, command, page))
    (write_markdown if path.suffix == ".md" else write_html)(path, title, blocks)
    return path


def chosen_without_labels(
    plan: Plan, ledger: Ledger, most_models: int = MOST_MODELS
) -> dict[str, dict[str, float]]:
    """Return label-free scores, kept in a file until more runs are done."""
    if all_kept(plan, ledger):
        return scores_of_lines(plan, ledger)
    file = ledger.study_folder(plan.study.name) / "selection.json"
    done = sorted(run.run_id for run in plan.runs if ledger.is_done(run.run_id))
    key = {"runs": done, "most_models": most_models, "scores": WITHOUT_LABELS}
    stored = read_json(file) if file.is_file() else None
    if stored is not None and stored["key"] == to_plain(key):
        kept: dict[str, dict[str, float]] = stored["scores"]
        return kept
    scores = select(plan, ledger, most_models=most_models)
    write_atomically(file, json.dumps({"key": key, "scores": scores}) + "\n")
    return scores


def blocks_of(
    plan: Plan,
    ledger: Ledger,
    table: StudyTable,
    chosen: Mapping[str, Mapping[str, float]],
    command: str = "",
    page: Path | None = None,
) -> Iterator[Block]:
    """Yield the report piece by piece; `page` is where it will stand, if as Markdown.

    What needs the folders of runs is kept of the page that is there, if all of them are elsewhere.
    """
    done = table.done
    elsewhere = all_kept(plan, ledger)
    earlier = page if elsewhere else None
    metric = plan.study.main_metric or plan.metrics[0]
    yield from summary(plan, table, metric)
    yield from sections.what_it_showed(plan, of_others=not elsewhere)
    versions_then = "" if earlier is None else versions(earlier)
    yield from sections.what_was_run(plan, ledger, table, command, versions_then)
    if len(done) == 0:
        yield Text("No run is finished yet.")
        return
    yield from sections.medians(plan, table, metric)
    yield from beside_published(plan, done)
    for source in dict.fromkeys(row["data"] for row in done.rows):
        yield from sections.comparisons(done.where(data=source), metric, source)
    yield Heading("Seeds")
    yield Plot("seeds", plots.seed_distributions(done, metric), f"{metric} of every run, by arm")
    yield from variance(plan.study, done)
    yield from sections.agreement(done)
    yield from sections.trade_offs(plan, done, metric)
    if any(chosen.values()) or earlier is None:
        yield from choosing.without_labels(done, chosen, metric)
    else:
        yield from section(earlier, choosing.WITHOUT)
    yield from choosing.with_labels(plan, done, metric)
    yield from choosing.between_data_sets(
        done, tuple(dict.fromkeys(row["data"] for row in done.rows))
    )
    yield from traversals(ledger, done, metric, None if page is None else page.with_suffix(""))
    yield from sections.failures(table)
    cited = [name for name in plan.metrics if measure_named(name) is None]
    yield References(list(dict.fromkeys(row["method"] for row in table.rows)), cited)
