"""Choosing among the runs of a study: without labels, with a few, or by another data set."""

import itertools
import math
import re
from collections.abc import Iterator, Mapping

import numpy as np

from unweave.batches import Unsupervised
from unweave.correlation import rank_correlation
from unweave.evaluation.measures import higher_is_better
from unweave.studies.define.expansion import Plan
from unweave.studies.report import plots
from unweave.studies.report.blocks import Block, Cells, Heading, Plot, Text
from unweave.studies.report.naming import headed
from unweave.studies.report.table import StudyTable
from unweave.views import FEWEST_RUNS, by_chance

WITHOUT = "Choosing without labels"
FEWEST_SEEDS = 3
"""Among fewer there is next to nothing to choose."""


def without_labels(
    done: StudyTable, chosen: Mapping[str, Mapping[str, float]], metric: str
) -> Iterator[Block]:
    """Say what scores that need no labels would have chosen."""
    if not any(chosen.values()):
        return
    yield Heading(WITHOUT)
    lines = []
    pictures = []
    truth = {row["run"]: row.get(metric) for row in done.rows}
    for name, scores in chosen.items():
        if len(scores) < FEWEST_RUNS:
            continue
        rows = [row for row in done.rows if row["run"] in scores]
        free = np.array([scores[row["run"]] for row in rows])
        cells = [name, str(len(rows))]
        for column in done.metrics:
            true = np.array([np.nan if r[column] is None else r[column] for r in rows])
            cells.append(_rank(free, true))
        best = max(rows, key=lambda row: scores[row["run"]])
        lines.append([*cells, f"{best['arm']}, seed {best['seed']}"])
        known = {run: value for run, value in truth.items() if value is not None}
        drawing = plots.selection_scatter(scores, known, name, metric)
        pictures.append(Plot(f"selection-{name}", drawing, f"{name} against {metric}"))
    if not lines:
        yield Text(f"Fewer than {FEWEST_RUNS} runs with decoders: their ranks would say nothing.")
        yield from _within_arms(done, chosen, metric)
        return
    most = max(int(line[1]) for line in lines)
    header = [
        "score without labels",
        "runs",
        *(f"ρ with {headed(m)}" for m in done.metrics),
        "its choice",
    ]
    yield Cells(header, lines, "Rank correlations of scores without labels and true ones")
    yield Text(
        f"ρ: Spearman's rank correlation with the true score. {by_chance(most)} udr (by lasso) "
        "and udr_spearman compare a run with the other seeds of its arm, model_centrality with "
        "runs of all arms: of many runs those at even distances, as each pair costs an encoding."
    )
    yield from pictures
    yield from _within_arms(done, chosen, metric)


def _within_arms(
    done: StudyTable, chosen: Mapping[str, Mapping[str, float]], metric: str
) -> Iterator[Block]:
    """Say which seed of each arm such scores choose, and what it is worth."""
    lines = []
    for arm, rows in done.arms().items():
        scored = [row for row in rows.rows if row.get(metric) is not None]
        picked = {}
        for name, scores in chosen.items():
            known = [row for row in scored if row["run"] in scores]
            if len(known) >= FEWEST_SEEDS:
                picked[name] = max(known, key=lambda row: scores[row["run"]])
        if not picked:
            continue
        truly = np.array([row[metric] for row in scored])
        cells = [
            f"{picked[name][metric]:.3f} (seed {picked[name]['seed']})" if name in picked else "–"
            for name in chosen
        ]
        best = _turned(truly, metric).max() * _sign(metric)
        lines.append([arm, str(len(scored)), f"{np.median(truly):.3f}", *cells, f"{best:.3f}"])
    if lines:
        header = ["arm", "seeds", "median", *(f"chosen by {name}" for name in chosen), "best"]
        yield Cells(header, lines, f"{metric} of the seed that each score without labels chooses")


def with_labels(plan: Plan, done: StudyTable, metric: str) -> Iterator[Block]:
    """Say what scores of a few labelled images would have chosen among runs of images alone."""
    asked = [name for name in done.metrics if re.fullmatch(r"\w+_of_\d+_labels", name)]
    alone = {
        run.run_id for run in plan.runs if isinstance(run.config.method.supervision, Unsupervised)
    }
    lines = []
    for source, name in itertools.product(plan.study.data, asked):
        rows = [
            row
            for row in done.where(data=source).rows
            if row["run"] in alone and row.get(name) is not None and row.get(metric) is not None
        ]
        if len(rows) < 2:
            continue
        by_labels, truly = (np.array([row[column] for row in rows]) for column in (name, metric))
        best = int(_turned(by_labels, name).argmax())
        lines.append(
            [
                name,
                source,
                str(len(rows)),
                _rank(by_labels, truly),
                f"{rows[best]['arm']}, seed {rows[best]['seed']}",
                f"{truly[best]:.3f}",
                f"{np.median(truly):.3f}",
                f"{_turned(truly, metric).max() * _sign(metric):.3f}",
            ]
        )
    if not lines:
        return
    yield Heading("Choosing with a few labels")
    header = ["score of a few labels", "data", "runs", f"ρ with {metric}", "its choice"]
    header += [f"{metric} of its choice", "median of all", "best of all"]
    yield Cells(header, lines, "What a few labels choose among runs that were trained without any")
    yield Text(
        "Among the runs that were trained on images alone, the one whose codes score best on so "
        "many labelled images. Methods that are trained with as many are in the medians above."
    )


def between_data_sets(done: StudyTable, sources: tuple[str, ...]) -> Iterator[Block]:
    """Say how well settings that are best on one data set do on another."""
    lines = []
    for metric in done.metrics:
        medians = {source: _medians(done.where(data=source), metric) for source in sources}
        for here, there in itertools.permutations(sources, 2):
            both = [arm for arm in medians[here] if arm in medians[there]]
            if len(both) < FEWEST_RUNS:
                continue
            first, second = (np.array([medians[s][arm] for arm in both]) for s in (here, there))
            chosen = int(_turned(first, metric).argmax())
            order = (-_turned(second, metric)).argsort().argsort()
            lines.append(
                [
                    metric,
                    f"{here} to {there}",
                    str(len(both)),
                    _rank(first, second),
                    both[chosen],
                    f"{second[chosen]:.3f}",
                    f"{order[chosen] + 1} of {len(both)}",
                    f"{np.median(second):.3f}",
                ]
            )
    if not lines:
        return
    yield Heading("Do settings transfer between data sets?")
    header = ["metric", "from, to", "arms", "ρ of medians", "best on the first"]
    header += ["it reaches on the second", "its place", "median arm"]
    yield Cells(header, lines, "Settings chosen on one data set, judged on another")
    most = max(int(line[2]) for line in lines)
    yield Text(
        f"Medians over seeds of each method with its settings, on both data sets. {by_chance(most)}"
    )


def _medians(rows: StudyTable, metric: str) -> dict[str, float]:
    """Return the median over seeds by method and settings, without the data set in the name."""
    groups: dict[str, list[float]] = {}
    for row in rows.rows:
        if row.get(metric) is not None:
            said = [f"{key} {row[key]}" for key in rows.settings if row.get(key) is not None]
            groups.setdefault(", ".join([row["method"], *said]), []).append(row[metric])
    return {arm: float(np.median(values)) for arm, values in groups.items()}


def _sign(metric: str) -> int:
    return 1 if higher_is_better(metric) else -1


def _turned(values: np.ndarray, metric: str) -> np.ndarray:
    """Return values so that higher is better."""
    turned: np.ndarray = values * _sign(metric)
    return turned


def _rank(first: np.ndarray, second: np.ndarray) -> str:
    value = rank_correlation(first, second)
    return "–" if math.isnan(value) else f"{value:.2f}"
