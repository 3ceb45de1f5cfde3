"""The sections of a study's report, each a generator of blocks."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from unweave.evaluation.measures import higher_is_better
from unweave.figures.comparisons import draw_agreement
from unweave.pages.words import counted, duration
from unweave.runs.folder import versions
from unweave.studies.define.expansion import Plan
from unweave.studies.report import plots
from unweave.studies.report.blocks import Block, Cells, Code, Heading, Plot, Text
from unweave.studies.report.naming import headed, in_a_name, protocols_in_words
from unweave.studies.report.statistics import (
    Comparison,
    Numbers,
    compare,
    median_interval,
    rank_agreement,
)
from unweave.studies.report.table import StudyTable
from unweave.studies.run.ledger import Ledger
from unweave.views import FEWEST_RUNS, by_chance

TOTAL_CORRELATION = "kl_decomposition"
"""The metric whose value it is."""
MOST_PAIRS = 28
"""With more arms than give so many pairs, each method is compared by its best arm only."""


def what_it_showed(plan: Plan, of_others: bool = False) -> Iterator[Block]:
    """Say in words what was found, as far as the study's file does, perhaps of other runs."""
    if plan.study.showed:
        yield Heading("What it showed")
        if of_others:
            yield Text("From the study's file, which was written of runs that need not be these:")
        for part in plan.study.showed.strip().split("\n\n"):
            yield Text(part)


def what_was_run(
    plan: Plan, ledger: Ledger, table: StudyTable, command: str, versions_then: str = ""
) -> Iterator[Block]:
    """Say what the study asked and what it cost; `versions_then` are those of runs not here."""
    study = plan.study
    yield Heading("What was run")
    if study.notes:
        yield Text(study.notes.strip())
    states = [row["state"] for row in table.rows]
    counts = ", ".join(
        f"{states.count(s)} {s}" for s in ("done", "failed", "missing") if s in states
    )
    train, score, processor = (
        float(np.nansum(table.column(name)))
        for name in ("train_seconds", "score_seconds", "train_cpu_seconds")
    )
    budget = study.budget
    yield Text(
        f"{len(table)} runs ({counts}) on {', '.join(study.data)}: {len(study.seeds)} seeds, "
        f"{budget.steps:,} steps of {budget.batch_size} images unless a setting says otherwise; "
        f"scored with preset {study.preset}. Together they took "
        f"{duration(train + score)} of one worker, of which scoring {duration(score)}; training "
        f"was {duration(processor)} of processor time."
    )
    if study.full_size:
        yield Text(f"Full size: {study.full_size.strip()}")
    results = [result for run in plan.runs if (result := ledger.result(run.run_id))]
    kept = [result for result in results if "kept_from" in result]
    if kept:
        yield Text(_of_kept(len(kept), len(results), kept[0]["kept_from"]))
    if command:
        yield Code(command)
    used = next((result["versions"] for result in results if "versions" in result), None)
    if used is None and len(kept) < len(results):
        used = versions()
    said = versions_then if used is None else ", ".join(f"{n} {v}" for n, v in used.items())
    told = f"Versions: {said}. " if said else ""
    yield Text(f"{told}Intervals are 95 % bootstrap intervals of medians over seeds.")


def _of_kept(count: int, of: int, file: str) -> str:
    """Say what is not known of runs that are lines of a table alone."""
    lines = f"Results of {count} runs are lines of {file} as it was; their folders are elsewhere"
    if count == of:
        return (
            f"{lines}. Traversals, and what is chosen without labels, are from when they were here."
        )
    return (
        f"{lines}, so they have no part in what is chosen without labels, and traversals of them "
        f"are from when they were here."
    )


def medians(plan: Plan, table: StudyTable, metric: str) -> Iterator[Block]:
    """Give the median of each arm, and of each method; arms that are missing are named.

    Of the metric that the study is about also how far the seeds are apart.
    """
    done = table.done
    yield Heading("Medians by arm")
    if said := protocols_in_words(plan.study, plan.metrics):
        yield Text(said)
    columns = [m for m in plan.metrics if np.isfinite(done.column(m)).any()]
    extra = [c for c in ("elbo", "active_dimensions", "train_cpu_seconds") if _has(done, c)]
    lines = []
    for arm, rows in done.arms().items():
        cells = [arm, str(len(rows))]
        cells += [_shown(rows.column(m)) for m in columns]
        cells += [_spread(rows.column(metric)), *(_middle(rows.column(c)) for c in extra)]
        lines.append(cells)
    for arm, rows in table.arms().items():
        if arm not in done.arms():
            lines.append([arm, f"0 of {len(rows)}", *["–"] * (len(columns) + 1 + len(extra))])
    heads = [headed(m) for m in columns]
    others = [f"spread of {headed(metric)}", *(c.replace("_", " ") for c in extra)]
    yield Cells(
        ["arm", "seeds", *heads, *others],
        lines,
        "Medians over seeds, with 95 % intervals",
    )
    yield Text("Spread: the largest seed less the smallest.")
    methods = list(dict.fromkeys(row["method"] for row in done.rows))
    if len(methods) < len(done.arms()):
        yield Text("Over all settings of a method:")
        parts = {method: done.where(method=method) for method in methods}
        yield Cells(
            ["method", "runs", *heads],
            [
                [method, str(len(rows)), *(_shown(rows.column(m)) for m in columns)]
                for method, rows in parts.items()
            ],
            "Medians over all settings of a method",
        )
    if max(len(rows) for rows in done.arms().values()) < 5:
        yield Text("With fewer than five seeds these intervals are too narrow.")


def _has(table: StudyTable, column: str) -> bool:
    return bool(np.isfinite(table.column(column)).any())


def _shown(values: Any) -> str:
    found = median_interval(values)
    return "–" if found.count == 0 else str(found)


def _spread(values: Any) -> str:
    good = values[np.isfinite(values)]
    return "–" if len(good) < 2 else f"{good.max() - good.min():.3f}"


def _middle(values: Any) -> str:
    good = values[np.isfinite(values)]
    return "–" if len(good) == 0 else f"{np.median(good):.4g}"


def by_seed(rows: StudyTable, metric: str) -> dict[int, float]:
    """Return the scores of an arm by seed."""
    return {row["seed"]: row[metric] for row in rows.rows if row.get(metric) is not None}


def comparisons(done: StudyTable, metric: str, source: str) -> Iterator[Block]:
    """Compare arms seed by seed."""
    better = higher_is_better(metric)
    arms = {arm: by_seed(rows, metric) for arm, rows in done.arms().items()}
    arms = {arm: scores for arm, scores in arms.items() if scores}
    note = ""
    if len(arms) * (len(arms) - 1) // 2 > MOST_PAIRS:
        best: dict[str, str] = {}
        by_median = sorted(arms, key=lambda arm: np.median([*arms[arm].values()]), reverse=better)
        methods = {arm: rows.rows[0]["method"] for arm, rows in done.arms().items()}
        for arm in by_median:
            best.setdefault(methods[arm], arm)
        arms = {arm: arms[arm] for arm in best.values()}
        note = (
            " Each method is there with its best arm, chosen by these same scores, which "
            "favours methods with many arms."
        )
    found = compare(arms, higher_is_better=better)
    if not found:
        return
    yield Heading(f"Comparisons on {source}, seed by seed")
    yield Cells(
        [
            "first − second",
            f"difference of {metric}",
            "first beats",
            "p",
            "seeds needed",
            "told apart",
        ],
        [_comparison_line(c) for c in found],
        f"Arms compared by {metric} on {source}",
    )
    count = max(c.difference.count for c in found)
    smallest = 2 / 2**count
    yield Text(
        f"p: sign-flip test of the differences, corrected for {len(found)} comparisons (Holm). "
        f"With {count} seeds the smallest uncorrected p is {smallest:.2g}"
        + (", so nothing can be told apart at the 5 % level. " if smallest > 0.05 else ". ")
        + "Seeds needed: for 4 chances of 5 that this test, so corrected, tells the two apart, "
        "if the differences are as seen here." + note
    )


def _comparison_line(found: Comparison) -> list[str]:
    needed = "too many" if math.isinf(found.seeds_needed) else f"{found.seeds_needed:,.0f}"
    return [
        f"{found.first} − {found.second}",
        str(found.difference),
        f"{100 * found.beats:.0f} %",
        f"{found.adjusted:.2g}",
        needed,
        "yes" if found.is_told_apart else "no",
    ]


def agreement(done: StudyTable) -> Iterator[Block]:
    """Show how far metrics rank the runs alike, all turned so that higher is better.

    Each data set has its own picture: over several, metrics would agree because one data set
    is harder than another.
    """
    sources = list(dict.fromkeys(row["data"] for row in done.rows))
    named = {source: _ranked(done.where(data=source)) for source in sources}
    named = {source: found for source, found in named.items() if len(found[0]) >= 2}
    if not named:
        return
    yield Heading("Do the metrics agree?")
    for source, (names, matrix) in named.items():
        runs = len(done.where(data=source))
        where = f" on {source}" if len(sources) > 1 else ""
        if runs < FEWEST_RUNS:
            yield Text(
                f"{counted(runs, 'run')}{where} are too few to tell: ranks of fewer than "
                f"{FEWEST_RUNS} agree by chance."
            )
            continue
        caption = f"Rank correlation between scores, over all runs{where}. {by_chance(runs)}"
        if not all(map(higher_is_better, done.metrics)):
            caption += " All are turned so that higher is better."
        name = f"agreement-{in_a_name(source)}" if len(sources) > 1 else "agreement"
        yield Plot(name, draw_agreement(names, matrix), caption)


def _ranked(done: StudyTable) -> tuple[list[str], Numbers]:
    """Return the rank correlations between scores of which more than one value is known."""
    columns = {
        headed(metric): done.column(metric) * (1 if higher_is_better(metric) else -1)
        for metric in done.metrics
    }
    if _has(done, "elbo"):
        columns["elbo"] = done.column("elbo")
    return rank_agreement(columns)


def trade_offs(plan: Plan, done: StudyTable, metric: str) -> Iterator[Block]:
    """Draw the metric against the evidence bound, and over β and latent size."""
    numeric = [
        setting
        for setting in done.settings
        if len({r[setting] for r in done.rows if isinstance(r.get(setting), (int, float))}) > 1
    ]
    if numeric and _has(done, "elbo"):
        yield Heading("Trade-off")
        for setting in numeric:
            caption = f"{metric} against the evidence bound, along {setting}"
            name = f"trade-off-{setting.replace('.', '-')}"
            yield Plot(name, plots.trade_off(done, setting, metric), caption)
    if numeric and metric != TOTAL_CORRELATION and TOTAL_CORRELATION in done.metrics:
        yield Heading("Total correlation")
        for setting in numeric:
            caption = f"{metric} against the total correlation of the code, along {setting}"
            name = f"total-correlation-{setting.replace('.', '-')}"
            yield Plot(name, plots.trade_off(done, setting, metric, TOTAL_CORRELATION), caption)
    if {"beta", "latent_dim"} <= set(numeric):
        yield Heading("β and latent size")
        keys = {run.run_id: run.config.data_key for run in plan.runs}
        for method in dict.fromkeys(row["method"] for row in done.rows):
            rows = done.where(method=method)
            if len({row["beta"] for row in rows.rows}) > 1:
                pixels = int(np.prod(plan.data[keys[rows.rows[0]["run"]]].image_shape))
                caption = f"{method}: median {metric} over β and latent size"
                yield Plot(f"map-{method}", plots.setting_map(rows, metric, pixels), caption)


def failures(table: StudyTable) -> Iterator[Block]:
    """List the runs that failed."""
    failed = [row for row in table.rows if row["state"] == "failed"]
    if failed:
        yield Heading("Failed runs")
        lines = [[row["arm"], str(row["seed"]), str(row["error"])] for row in failed[:50]]
        yield Cells(["arm", "seed", "error"], lines, "Runs that failed")
