"""Several runs beside each other: scores by setting, bounds, agreement of metrics."""

import dataclasses
import functools
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave import catalog, correlation
from unweave.errors import UnweaveError
from unweave.metrics import gaussian_total_correlation, protocol_words
from unweave.runs.config import to_json
from unweave.runs.run import Run
from unweave.settings.plain import differing, flat
from unweave.views.code_sample import sample_codes
from unweave.views.view import View

TC_ROWS = 2_000
FEWEST_RUNS = 6
"""Of fewer runs no rank correlation is told: those of three points are 1 or -1 half of the time."""
EXACT = 8  # runs up to which every order is tried


@dataclass(frozen=True)
class RunRow(View):
    """What a comparison knows of one run."""

    name: str
    group: str
    """Runs that differ by nothing but their seed share a group."""
    method: str
    data: str
    seed: int
    step: int
    state: str
    scores: dict[str, float]
    protocols: dict[str, str]
    elbo: float | None
    """Evidence bound at the last evaluation, in nats."""
    total_correlation: float | None
    """Of the codes as if they were Gaussian, in nats."""


@dataclass(frozen=True)
class GroupScore(View):
    """One metric over the seeds of one setting."""

    group: str
    metric: str
    values: list[float]
    mean: float
    deviation: float | None
    """Standard deviation over seeds; none of a single one."""


@dataclass(frozen=True)
class RankAgreement(View):
    """Spearman's rank correlation of metrics over runs, all turned so that higher is better."""

    metrics: list[str]
    correlation: np.ndarray
    """(metric, metric); not a number where ranks say nothing: fewer than six runs, or all alike."""
    runs: np.ndarray
    """How many runs have both."""


@dataclass(frozen=True)
class Comparison(View):
    """Several runs beside each other."""

    runs: list[RunRow]
    groups: list[str]
    metrics: list[str]
    higher_is_better: dict[str, bool]
    scores: list[GroupScore]
    agreement: RankAgreement
    notes: list[str]
    """What makes the runs hard to compare."""


def compare(runs: Sequence[Run]) -> Comparison:
    """Compare the stored scores of runs, their bounds and their total correlations."""
    groups = group_names(runs)
    rows = [_row(run, group) for run, group in zip(runs, groups, strict=True)]
    directions: dict[str, bool] = {}
    for run in runs:
        for name, entry in run.scores.items():
            if entry.get("value") is not None:
                directions[name] = bool(entry.get("higher_is_better", True))
    metrics = list(directions)
    distinct = list(dict.fromkeys(groups))
    scores = []
    for metric in metrics:
        for group in distinct:
            values = [r.scores[metric] for r in rows if r.group == group and metric in r.scores]
            if values:
                deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
                mean = float(np.mean(values))
                scores.append(GroupScore(group, metric, values, mean, deviation))
    return Comparison(
        rows, distinct, metrics, directions, scores, rank_agreement(rows, directions), _notes(rows)
    )


def group_names(runs: Sequence[Run]) -> list[str]:
    """Name the setting of each run: the method, and whatever tells it from its namesakes."""
    plain = [flat(to_json(dataclasses.replace(run.config, seed=0))) for run in runs]
    methods = [catalog.name_of(run.config.method) for run in runs]
    names = []
    for settings, method in zip(plain, methods, strict=True):
        namesakes = [p for p, m in zip(plain, methods, strict=True) if m == method]
        told = [
            f"{path.removeprefix('method.')} {settings.get(path)}" for path in differing(namesakes)
        ]
        names.append(", ".join([method, *told]))
    return names


def rank_agreement(rows: Sequence[RunRow], higher_is_better: dict[str, bool]) -> RankAgreement:
    """Correlate the ranks that each pair of metrics gives the runs."""
    columns = np.array(
        [
            [row.scores.get(metric, np.nan) * (1 if higher else -1) for row in rows]
            for metric, higher in higher_is_better.items()
        ]
    ).reshape(len(higher_is_better), len(rows))
    has = np.isfinite(columns).astype(np.int64)
    both = has @ has.T
    found = np.where(both >= FEWEST_RUNS, correlation.rank_agreement(list(columns)), np.nan)
    return RankAgreement(list(higher_is_better), found, both)


@functools.cache
def telling_correlation(runs: int) -> float:
    """Return the size that rank correlations of so many runs exceed by chance in 5 % of cases."""
    if runs <= EXACT:
        places = np.arange(runs)
        spread = runs * (runs**2 - 1) / 6
        sizes = sorted(
            abs(1 - float(((np.array(order) - places) ** 2).sum()) / spread)
            for order in itertools.permutations(range(runs))
        )
        return sizes[math.ceil(0.95 * len(sizes)) - 1]
    from scipy.stats import t as student

    edge = float(student.ppf(0.975, runs - 2))
    return edge / math.sqrt(runs - 2 + edge**2)


def by_chance(runs: int) -> str:
    """Say how large rank correlations of so many runs are by chance."""
    if runs < FEWEST_RUNS:
        return ""
    return f"Over {runs} runs, sizes up to {telling_correlation(runs):.2f} are common by chance."


def _row(run: Run, group: str) -> RunRow:
    stored = {n: e for n, e in run.scores.items() if e.get("value") is not None}
    return RunRow(
        name=run.name,
        group=group,
        method=catalog.name_of(run.config.method),
        data=run.config.data,
        seed=run.config.seed,
        step=run.step,
        state="in memory" if run.folder is None else str(run.folder.status()["state"]),
        scores={name: float(entry["value"]) for name, entry in stored.items()},
        protocols={name: protocol_words(entry) for name, entry in stored.items()},
        elbo=_last_bound(run),
        total_correlation=_total_correlation(run),
    )


def _last_bound(run: Run) -> float | None:
    bound = None
    for line in run.folder.record() if run.folder else ():
        if line.get("kind") == "diagnostics" and "elbo" in line:
            bound = float(line["elbo"])
    return bound


def _total_correlation(run: Run) -> float | None:
    stored = run.scores.get("gaussian_total_correlation")
    if stored and stored.get("value") is not None:
        return float(stored["value"])
    try:
        return gaussian_total_correlation(sample_codes(run, TC_ROWS).codes).value
    except UnweaveError:
        return None  # the data is gone, or a single code correlates with nothing


def _notes(rows: Sequence[RunRow]) -> list[str]:
    notes = []
    if len(sets := sorted({row.data for row in rows})) > 1:
        notes.append(f"the runs were trained on different data: {', '.join(sets)}")
    protocols: dict[str, set[str]] = {}
    for row in rows:
        for metric, protocol in row.protocols.items():
            protocols.setdefault(metric, set()).add(protocol)
    for metric, used in protocols.items():
        if len(used) > 1:
            notes.append(f"{metric} was scored by different protocols: {', '.join(sorted(used))}")
    unfinished = [row.name for row in rows if row.state not in ("done", "in memory")]
    if unfinished:
        notes.append(f"not finished: {', '.join(unfinished)}")
    for name, count in Counter(row.name for row in rows).items():
        if count > 1:
            notes.append(f"{count} runs are called {name}")
    return notes
