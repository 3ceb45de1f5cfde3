"""The section that shows one run of each arm: the one in the middle, not the best."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unweave.runs.folder import RunFolder
from unweave.studies.report.blocks import Block, Heading, Picture
from unweave.studies.report.naming import in_a_name
from unweave.studies.report.table import StudyTable
from unweave.studies.run.ledger import Ledger

MOST = 12


def traversals(
    ledger: Ledger, done: StudyTable, metric: str, pictures: Path | None = None
) -> Iterator[Block]:
    """Show the run in the middle of each arm, or the nearest to it of which there is a picture.

    Of a run whose folder is elsewhere it is the one that was put among `pictures` when it was here.
    """
    shown = 0
    for arm, rows in done.arms().items():
        scored = [row for row in rows.rows if row.get(metric) is not None]
        scored.sort(key=lambda row: row[metric])
        half = (len(scored) - 1) // 2
        nearest = sorted(range(len(scored)), key=lambda place: abs(place - half))
        order = [scored[place] for place in nearest] or rows.rows[:1]
        found = ((row, file) for row in order if (file := _file(ledger, row, pictures)).is_file())
        pictured = next(found, None)
        if pictured is None or shown == MOST:
            continue
        row, file = pictured
        if shown == 0:
            yield Heading("Traversals of the median run of each arm")
        shown += 1
        said = "" if row.get(metric) is None else f", {metric} {row[metric]:.3f}"
        yield Picture(_name(row), file.read_bytes(), f"{arm}, seed {row['seed']}{said}")


def _file(ledger: Ledger, row: dict[str, Any], pictures: Path | None) -> Path:
    run = RunFolder(ledger.run_path(row["run"]))
    if run.exists() or pictures is None:
        return run.figures / "traversals.png"
    return pictures / f"{_name(row)}.png"


def _name(row: dict[str, Any]) -> str:
    """Return a name that says of which run a picture is."""
    return f"traversals-{in_a_name(row['arm'])}-seed-{row['seed']}"
