"""Studies: methods × settings × seeds, run to the end and summed up with honest statistics.

study = read_study("exercises")  # shipped; or the path of a file
study.run("runs")     # does what is missing
study.table("runs")   # one row per run
study.report("runs")  # one page
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave.studies.define.expansion import Plan as Plan
    from unweave.studies.define.expansion import expand as expand
    from unweave.studies.define.study import Study as Study
    from unweave.studies.define.study import read_study as read_study
    from unweave.studies.report.table import StudyTable as StudyTable
    from unweave.studies.report.table import make_table as make_table
    from unweave.studies.report.write import write_report as write_report
    from unweave.studies.run.driver import ledger_of as ledger_of
    from unweave.studies.run.driver import run_study as run_study
    from unweave.studies.run.estimate import estimate as estimate

_PLACES = {
    "Plan": "define.expansion",
    "Study": "define.study",
    "StudyTable": "report.table",
    "estimate": "run.estimate",
    "expand": "define.expansion",
    "ledger_of": "run.driver",
    "make_table": "report.table",
    "read_study": "define.study",
    "run_study": "run.driver",
    "write_report": "report.write",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: the runner's own processes need no torch until a run begins.
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_PLACES)
