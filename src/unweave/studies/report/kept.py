"""Results of runs whose folders are elsewhere, taken from the table that a study left.

A table has one line for each run, by its name and a digest of all its settings and protocols. So a
line says what training that run again would give, and the rest of the study can be done on
another machine.
"""

from pathlib import Path
from typing import Any

from unweave.errors import DataError
from unweave.studies.define.entries import WITHOUT_LABELS
from unweave.studies.define.expansion import Plan, PlannedRun
from unweave.studies.report.table import EFFORT, MADE_BY, columns_of_all, made_by, read_csv
from unweave.studies.run.ledger import Ledger


def take_over(plan: Plan, ledger: Ledger, path: Path) -> int:
    """Let lines of a table count as results of runs that are not done; return how many do.

    A line counts if its run is of this plan and was done, by the settings and protocols that it
    has now, and the table has every score that the plan asks for.
    """
    if not path.is_file():
        raise DataError(f"{path} is not there: no lines to keep")
    lines = {line.get("run"): line for line in read_csv(path).rows}
    ledger.open()
    # What scores without labels said was said among the runs of then.
    known = columns_of_all(plan) | set(WITHOUT_LABELS)
    taken = 0
    for run in plan.runs:
        line = lines.get(run.run_id)
        if line is None or line.get("state") != "done" or ledger.is_done(run.run_id):
            continue
        same = line.get(MADE_BY) == made_by(plan, run)
        if same and all(metric in line for metric in plan.metrics):
            ledger.keep_result(run.run_id, _result(run, plan, line, known, path.name))
            taken += 1
    return taken


def _result(
    run: PlannedRun, plan: Plan, line: dict[str, Any], known: set[str], source: str
) -> dict[str, Any]:
    """Return what a worker would have written of the run, as far as the line says it."""
    terms = {name: value for name, value in line.items() if name not in known}
    return {
        "run": run.run_id,
        "kept_from": source,
        "scores": {name: line[name] for name in plan.metrics},
        "terms": {name: value for name, value in terms.items() if value is not None},
        "diagnostics": {"active_dimensions": line.get("active_dimensions")},
        "steps_trained_here": run.config.steps if line.get("images_per_second") else 0,
        **{name: line.get(name) for name in EFFORT},
    }
