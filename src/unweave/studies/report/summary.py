"""A study in a paragraph: what was compared, what is ahead, what is missing."""

from collections.abc import Iterator

from unweave.evaluation.measures import higher_is_better
from unweave.pages.words import counted
from unweave.studies.define.expansion import Plan
from unweave.studies.report.blocks import Block, Heading, Text
from unweave.studies.report.statistics import median_interval
from unweave.studies.report.table import StudyTable

MOST_TOLD = 6  # arms that it names
MOST_MISSING = 12


def summary(plan: Plan, table: StudyTable, metric: str) -> Iterator[Block]:
    """Say in a paragraph what was compared, what is ahead, what is missing."""
    done, arms = table.done, table.arms()
    words = [
        f"{counted(len(arms), 'arm')} of {counted(len(plan.study.seeds), 'seed')} on "
        f"{', '.join(plan.study.data)}: {len(done)} of {counted(len(table), 'run')} are done."
    ]
    better = higher_is_better(metric)
    medians_of = {arm: median_interval(rows.column(metric)) for arm, rows in done.arms().items()}
    known = {arm: found for arm, found in medians_of.items() if found.count}
    if known:
        ranked = sorted(known, key=lambda arm: known[arm].value, reverse=better)
        told = [f"{arm} {known[arm]} ({counted(known[arm].count, 'seed')})" for arm in ranked]
        words.append(f"By the median of {metric}, the best first: {'; '.join(told[:MOST_TOLD])}.")
    named = missing_words(table)
    if named:
        words.append(f"Missing: {named}.")
    yield Heading("Summary")
    yield Text(" ".join(words), is_summary=True)


def missing_words(table: StudyTable) -> str:
    """Name the arms of which runs are not done: without any seed, or without some."""
    told = []
    for arm, rows in table.arms().items():
        open_seeds = [str(row["seed"]) for row in rows.rows if row["state"] != "done"]
        if len(open_seeds) == len(rows):
            told.append(f"{arm} (all seeds)")
        elif open_seeds:
            told.append(f"{arm} (seed {', '.join(open_seeds)})")
    more = f" and {len(told) - MOST_MISSING} more arms" if len(told) > MOST_MISSING else ""
    return "; ".join(told[:MOST_MISSING]) + more
