"""Numbers of papers beside ours, each with a mark: reproduced, direction only, or not.

A cell is reproduced if the median of our seeds lies within the paper's spread of its number,
or is better; a baseline, which is not trained to be good at anything, has to be hit from both
sides. It has the direction only if its median stands on the same side of every other cell of
that metric as in the paper, of those that the paper sets clearly apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unweave import catalog
from unweave.errors import UnweaveError
from unweave.evaluation.measures import higher_is_better
from unweave.methods import method_named
from unweave.studies.define.entries import Published
from unweave.studies.define.expansion import Plan, short
from unweave.studies.report.table import StudyTable

Mark = Literal["reproduced", "direction only", "not reproduced", "too few seeds", "not run"]
MARKS: tuple[Mark, ...] = (
    "reproduced",
    "direction only",
    "not reproduced",
    "too few seeds",
    "not run",
)
LEAST_SEEDS = 3
LEAST_SPREAD = 0.02
"""Of papers that state no spread, or a smaller one than a second run of theirs would show."""


@dataclass(frozen=True)
class Cell:
    """One number of a paper and what we obtained."""

    published: Published
    ours: tuple[float, ...]
    """One for each seed; that of one run, if a score without labels chose it."""
    mark: Mark
    among: int = 0
    """How many seeds there are, of which one may be chosen."""

    @property
    def median(self) -> float:
        return float(np.median(self.ours)) if self.ours else float("nan")

    @property
    def in_words(self) -> str:
        """Return the median and the range of our seeds, or what the chosen one has."""
        if not self.ours:
            return "–"
        if self.published.chosen_by:
            return f"{self.median:.3g}"
        return f"{self.median:.3g} ({min(self.ours):.3g} to {max(self.ours):.3g})"

    @property
    def in_seeds(self) -> str:
        """Return of how many seeds it is."""
        return f"1 of {self.among}" if self.published.chosen_by and self.ours else str(self.among)

    @property
    def name(self) -> str:
        """Return the method as the table calls it, with the settings that tell it apart."""
        said = ", ".join(f"{short(k)} {v}" for k, v in self.published.settings.items())
        where = f" on {self.published.data}" if self.published.data else ""
        by = self.published.chosen_by
        how = f", chosen by {by}" if by else ""
        return (f"{self.published.method}, {said}" if said else self.published.method) + where + how


def cells_of(plan: Plan, done: StudyTable) -> list[Cell]:
    """Return every published cell of a study, marked, in the order of its file."""
    among = [(entry, _rows(entry, done)) for entry in plan.study.published]
    found = [(entry, _ours(entry, rows)) for entry, rows in among]
    return [
        Cell(entry, ours, _mark(plan, entry, ours, len(rows), found), len(rows))
        for (entry, ours), (_, rows) in zip(found, among, strict=True)
    ]


def _rows(entry: Published, done: StudyTable) -> StudyTable:
    """Return the runs that a number is of, those that have a score."""
    wanted = {short(key): value for key, value in entry.settings.items()}
    if entry.data:
        wanted["data"] = entry.data
    rows = done.where(method=entry.method, **wanted)
    needed = [entry.metric, *([entry.chosen_by] if entry.chosen_by else [])]
    if entry.metric not in rows.metrics:
        return StudyTable([], rows.settings, rows.metrics)
    scored = np.all([np.isfinite(rows.column(name)) for name in needed], axis=0)
    kept = [row for row, has_all in zip(rows.rows, scored, strict=True) if has_all]
    return StudyTable(kept, rows.settings, rows.metrics)


def _ours(entry: Published, rows: StudyTable) -> tuple[float, ...]:
    values = tuple(float(value) for value in rows.column(entry.metric))
    if entry.chosen_by and values:
        return (values[int(rows.column(entry.chosen_by).argmax())],)
    return values


def _mark(
    plan: Plan,
    entry: Published,
    ours: Sequence[float],
    seeds: int,
    cells: Sequence[tuple[Published, Sequence[float]]],
) -> Mark:
    if not ours:
        return "not run"
    if seeds < LEAST_SEEDS and not _is_fixed(plan, entry.method):
        return "too few seeds"
    sign = 1.0 if higher_is_better(entry.metric) else -1.0
    gain = sign * (float(np.median(ours)) - entry.value)
    spread = max(entry.spread or 0.0, LEAST_SPREAD)
    if abs(gain) <= spread or (gain > 0 and not _is_baseline(plan, entry.method)):
        return "reproduced"
    return "direction only" if _same_order(entry, ours, cells) else "not reproduced"


def _same_order(
    entry: Published, ours: Sequence[float], cells: Sequence[tuple[Published, Sequence[float]]]
) -> bool:
    """Whether it stands to the others as the paper says; one that stands alone has no direction."""
    held = []
    for other, theirs in cells:
        comparable = other.metric == entry.metric and other.data == entry.data and len(theirs)
        apart = entry.value - other.value
        width = max(entry.spread or 0.0, other.spread or 0.0, LEAST_SPREAD)
        if comparable and abs(apart) > width:
            held.append((np.median(ours) - np.median(theirs)) * apart > 0)
    return bool(held) and all(held)


def _is_baseline(plan: Plan, label: str) -> bool:
    """Whether nothing is trained for it: pixels, principal components, an untrained network."""
    name = next((entry.name for entry in plan.study.methods if entry.label == label), label)
    try:
        return not method_named(name)().players
    except UnweaveError:
        return False


def _is_fixed(plan: Plan, label: str) -> bool:
    """Whether seeds make no difference, so that one run is all there is."""
    name = next((entry.name for entry in plan.study.methods if entry.label == label), label)
    return name in ("ground_truth", "pixels") and name in catalog.own_names("unweave.methods")


def marks_of(cells: Sequence[Cell]) -> dict[Mark, int]:
    """Return how many cells have each mark."""
    return {mark: sum(cell.mark == mark for cell in cells) for mark in MARKS}
