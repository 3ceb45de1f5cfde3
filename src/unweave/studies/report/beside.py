"""The section that puts published numbers beside ours."""

from collections.abc import Iterator

from unweave.studies.define.expansion import Plan
from unweave.studies.report.blocks import Block, Cells, Heading, Text
from unweave.studies.report.naming import protocol_of
from unweave.studies.report.published import LEAST_SPREAD, Cell, cells_of, counted
from unweave.studies.report.table import StudyTable

HEADER = (
    "method",
    "metric",
    "protocol there, here",
    "published",
    "our median (range)",
    "seeds",
    "mark",
    "source",
)


def beside_published(plan: Plan, done: StudyTable) -> Iterator[Block]:
    """Put published numbers beside ours, each with a mark."""
    cells = cells_of(plan, done)
    if not cells:
        return
    yield Heading("Beside published numbers")
    yield Cells(HEADER, [_line(plan, cell) for cell in cells], "Published numbers and ours")
    if not all(cell.published.is_judged for cell in cells):
        yield Text("A quick try is no evidence for or against a number: none is judged here.")
        return
    yield Text(
        f"{counted(cells)}. Reproduced means that our median lies within the paper's spread (at "
        f"least {LEAST_SPREAD:g}); beaten, that it is better than that, which does not count of a "
        f"baseline: that has to be hit from both sides; direction only, that it stands on the "
        f"paper's side of every other cell of the metric that the paper sets apart from it. "
        f"Where protocols differ, or a paper's is not known (–), two numbers are of two rulers. "
        f"Budgets differ, as the sources and the full size above say."
    )


def _line(plan: Plan, cell: Cell) -> list[str]:
    entry = cell.published
    spread = "" if entry.spread is None else f" ± {entry.spread:g}"
    here = protocol_of(plan.study, entry.metric) if entry.metric in plan.metrics else ""
    return [
        cell.name,
        entry.metric,
        f"{entry.protocol or '–'}, {here or '–'}",
        f"{entry.value:g}{spread}",
        cell.in_words,
        cell.in_seeds,
        cell.mark + (f": {cell.because}" if cell.because else ""),
        entry.source + (f"; {entry.note}" if entry.note else ""),
    ]
