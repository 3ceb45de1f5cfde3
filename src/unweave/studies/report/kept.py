"""Results of runs whose folders are elsewhere, taken from the table that a study left.

A table has one line for each run, by its name and a digest of all its settings and protocols. So a
line says what training that run again would give, and the rest of the study can be done on
another machine.
"""

from pathlib import Path
from typing import Any

from unweave.errors import DataError
from unweave.studies.define.expansion import Plan, PlannedRun
from unweave.studies.define.papers import WITHOUT_LABELS
from unweave.studies.report.table import EFFORT, MADE_BY, columns_of_all, made_by, read_csv
from unweave.studies.run.ledger import Ledger

CHOOSING = "chosen_by"
"""The entry of a result with scores without labels, which other results have not."""


def take_over(plan: Plan, ledger: Ledger, path: Path) -> int:
    """Let lines of a table count as results of runs that are not done; return how many do.

    A line counts if its run is of this plan and was done, by the settings and protocols that it
    has now, and the table has every score that the plan asks for.
    """
    if not path.is_file():
        raise DataError(f"{path} is not there: no lines to keep")
    lines = {line.get("run"): line for line in read_csv(path).rows}
    ledger.open()
    # What scores without labels said was said among the runs of then, and is kept with all of them.
    known = columns_of_all(plan) | set(WITHOUT_LABELS)
    counting = []
    for run in plan.runs:
        line = lines.get(run.run_id)
        if line is None or line.get("state") != "done" or ledger.is_done(run.run_id):
            continue
        same = line.get(MADE_BY) == made_by(plan, run)
        if same and all(metric in line for metric in plan.metrics):
            counting.append((run, line))
    is_whole = len(counting) == sum(line.get("state") == "done" for line in lines.values())
    for run, line in counting:
        content = _result(run, plan, line, known, path.name)
        if is_whole:  # the same runs as then
            content[CHOOSING] = {
                name: line[name] for name in WITHOUT_LABELS if line.get(name) is not None
            }
        ledger.keep_result(run.run_id, content)
    return len(counting)


def all_kept(plan: Plan, ledger: Ledger) -> bool:
    """Say whether every run that is done is a line of a table alone."""
    results = [result for run in plan.runs if (result := ledger.result(run.run_id))]
    return bool(results) and all("kept_from" in result for result in results)


def scores_of_lines(plan: Plan, ledger: Ledger) -> dict[str, dict[str, float]]:
    """Return the scores without labels that the lines of a whole table have."""
    found: dict[str, dict[str, float]] = {name: {} for name in WITHOUT_LABELS}
    for run in plan.runs:
        for name, value in ((ledger.result(run.run_id) or {}).get(CHOOSING) or {}).items():
            found[name][run.run_id] = value
    return found


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
        "steps_trained_here": _steps_trained(run, line),
        **{name: line.get(name) for name in EFFORT},
    }


def _steps_trained(run: PlannedRun, line: dict[str, Any]) -> int:
    """Return how many steps the seconds of a line are of; of a run that went on, not all."""
    rate, seconds = line.get("images_per_second"), line.get("train_seconds")
    return round(rate * seconds / run.config.batch_size) if rate and seconds else 0
