"""unweave list methods | data | metrics | architectures | runs"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from unweave import catalog
from unweave.cli import _output
from unweave.cli._parse import PLUGIN, take_name
from unweave.errors import UnweaveError, printable

if TYPE_CHECKING:
    from unweave.runs.config import Train

KINDS = ("methods", "data", "metrics", "architectures", "runs")
PACKAGES = {"data": "unweave.data", "metrics": "unweave.metrics"}


def run(words: list[str]) -> int:
    what = take_name(words, KINDS, "list", "unweave list " + "|".join(KINDS))
    if what is None:
        _output.say("usage: unweave list " + "|".join(KINDS) + " [FOLDER of runs]\n\n" + PLUGIN)
    elif what == "methods":
        _output.say_methods()
    elif what == "runs":
        list_runs(Path(words[0]) if words else Path("runs"))
    else:
        package = "unweave.networks" if what == "architectures" else PACKAGES[what]
        _output.say_entries(package, what)
    return 0


def _how_far(config: "Train", now: dict[str, Any]) -> str:
    """Return the step that a run has reached, of how many; nothing of what makes no steps."""
    if not config.method.players:
        return "fitted" if now["state"] == "done" else ""
    left = "" if now["state"] == "done" else f" of {config.steps:,}"
    return f"{now['step']:,}{left}"


def list_runs(folder: Path) -> None:
    """Show every run below a folder with its state and scores."""
    from unweave.explorer.page_data import progress
    from unweave.metrics import is_preliminary
    from unweave.runs.folder import RunFolder

    table = Table(
        "run", "method", "data", "seed", "state", "step", "MIG", title=f"runs in {folder}"
    )
    problems: list[str] = []
    for file in sorted(folder.glob("*/config.json")):
        run_folder = RunFolder(file.parent)
        try:
            config, _ = run_folder.read_config()
            now = progress(run_folder)
            mig = run_folder.scores().get("mig", {})
        except (
            UnweaveError,
            OSError,
        ) as error:  # a plugin that is missing, say, hides no other run
            problems.append(str(error))
            continue
        mark = " fast" if is_preliminary(mig) else ""
        table.add_row(
            printable(file.parent.name),
            catalog.name_of(config.method),
            printable(config.data),
            str(config.seed),
            printable(now["state"]),
            _how_far(config, now),
            "" if mig.get("value") is None else f"{mig['value']:.3f}{mark}",
        )
    for problem in problems:
        _output.say(f"not shown: {printable(problem)}")
    if table.row_count == 0 and not problems:
        _output.say(f"no runs in {folder}; `unweave train` makes one")
    elif table.row_count:
        _output.show(table)
