"""Numbers of papers beside ours, each with a mark: beaten, reproduced, direction only, or not.

A cell is reproduced if the median of our seeds lies within the paper's spread of its number, and
beaten if it is better than that. A baseline, which is not trained to be good at anything or which
the paper sets its own method apart from, has to be hit from both sides. A cell has the direction
only if our median stands on the same side of every other cell of that metric as in the paper, of
those that the paper sets clearly apart. Numbers that are quoted from memory are there for
orientation: they count as nothing, and nothing is measured by them. Quick tries are not judged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from unweave import catalog
from unweave.errors import UnweaveError
from unweave.evaluation.measures import higher_is_better
from unweave.methods import method_named
from unweave.studies.define.expansion import Plan, short
from unweave.studies.define.papers import Published
from unweave.studies.report.table import StudyTable

Mark = Literal[
    "beaten",
    "reproduced",
    "direction only",
    "not reproduced",
    "for orientation",
    "quick: not judged",
    "too few seeds",
    "not run",
]
MARKS: tuple[Mark, ...] = get_args(Mark)
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
    arms: int = 1
    """How many arms are taken together, each with so many seeds."""
    is_otherwise: bool = False
    """Whether ours is neither as published nor better."""

    @property
    def because(self) -> str:
        """Return why we think ours is otherwise, if it is."""
        return self.published.reason if self.is_otherwise else ""

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
        """Return of how many seeds it is, of each arm if there are several."""
        if self.published.chosen_by and self.ours:
            return f"1 of {self.among}"
        return str(self.among) if self.arms == 1 else f"{self.among} of each of {self.arms} arms"

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
    return [_cell(plan, entry, rows, found) for entry, rows in among]


def _cell(
    plan: Plan,
    entry: Published,
    rows: StudyTable,
    cells: Sequence[tuple[Published, Sequence[float]]],
) -> Cell:
    ours = _ours(entry, rows)
    seeds = len({row.get("seed", place) for place, row in enumerate(rows.rows)})
    standing = _standing(plan, entry, ours) if ours else "not run"
    mark: Mark = standing
    if entry.from_memory:
        mark = "for orientation"
    elif ours and not entry.is_judged:
        mark = "quick: not judged"
    elif ours and seeds < LEAST_SEEDS and not _is_fixed(plan, entry.method):
        mark = "too few seeds"
    elif standing == "not reproduced" and _same_order(entry, ours, cells):
        mark = "direction only"
    otherwise = standing == "not reproduced" and entry.is_judged
    arms = max(len({row.get("arm") for row in rows.rows}), 1)
    return Cell(entry, ours, mark, seeds, arms, otherwise)


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


def _standing(
    plan: Plan, entry: Published, ours: Sequence[float]
) -> Literal["beaten", "reproduced", "not reproduced"]:
    """Compare our median with one number alone."""
    sign = 1.0 if higher_is_better(entry.metric) else -1.0
    gain = sign * (float(np.median(ours)) - entry.value)
    if abs(gain) <= max(entry.spread or 0.0, LEAST_SPREAD):
        return "reproduced"
    return "beaten" if gain > 0 and not _is_baseline(plan, entry) else "not reproduced"


def _same_order(
    entry: Published, ours: Sequence[float], cells: Sequence[tuple[Published, Sequence[float]]]
) -> bool:
    """Whether it stands to the others as the paper says; one that stands alone has no direction."""
    held = []
    for other, theirs in cells:
        comparable = other.metric == entry.metric and other.data == entry.data
        comparable &= bool(len(theirs)) and not other.from_memory
        apart = entry.value - other.value
        width = max(entry.spread or 0.0, other.spread or 0.0, LEAST_SPREAD)
        if comparable and abs(apart) > width:
            held.append((np.median(ours) - np.median(theirs)) * apart > 0)
    return bool(held) and all(held)


def _is_baseline(plan: Plan, entry: Published) -> bool:
    """Whether better is not as published: the paper's own, or what nothing is trained for."""
    if entry.baseline:
        return True
    try:
        return not method_named(_name(plan, entry.method))().players
    except UnweaveError:
        return False


def _is_fixed(plan: Plan, label: str) -> bool:
    """Whether seeds make no difference, so that one run is all there is."""
    name = _name(plan, label)
    return name in ("ground_truth", "pixels") and name in catalog.own_names("unweave.methods")


def _name(plan: Plan, label: str) -> str:
    """Return the method of a label, or the label, if it is a paper's for one that we do not run."""
    return next((entry.name for entry in plan.study.methods if entry.label == label), label)


def marks_of(cells: Sequence[Cell]) -> dict[Mark, int]:
    """Return how many cells have each mark."""
    return {mark: sum(cell.mark == mark for cell in cells) for mark in MARKS}


def counted(cells: Sequence[Cell]) -> str:
    """Say in words how many cells have each mark; those for orientation alone are no cells."""
    marks = marks_of(cells)
    aside = marks.pop("for orientation")
    words = ", ".join(f"{count} {mark}" for mark, count in marks.items() if count)
    total = sum(marks.values())
    said = f"{total} published {'cell' if total == 1 else 'cells'}" + (
        f": {words}" if words else ""
    )
    return said + (f"; {aside} more for orientation, quoted from memory" if aside else "")
