"""unweave reproduce [NAME]"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro
from rich.table import Table

from unweave.cli import _output
from unweave.cli._parse import parse
from unweave.errors import ConfigError
from unweave.settings.machine import DeviceName

DESCRIPTION = """Train what a table of a paper shows, and print what was obtained against it.

Without a name: the tables there are. With one: its runs that are missing are done, on as many
cores as there are; then every published cell is printed with the median and range of ours and a
mark. Kill it at any time and give the command again: what is done is not done again."""


@dataclass(frozen=True)
class Flags:
    name: tyro.conf.Positional[str] = ""
    """Table to reproduce."""
    quick: bool = False
    """A tenth of the steps and at most three seeds: whether it works, not what it gives. Nothing
    published is judged by it."""
    out: str = "runs"
    """Folder of the runs."""
    to: str | None = None
    """Folder for NAME.csv, one line for each run, and NAME.md, the page; by default that of the
    study below --out."""
    keep: bool = False
    """Lines of NAME.csv in the folder --to count as runs that are done, though their folders are
    elsewhere: they are not trained again."""
    only_show: bool = False
    """Train nothing: show what the runs that are done give."""
    workers: int | None = None
    """Runs at a time; by default one per core, or per GPU."""
    device: DeviceName = "auto"
    """Where to compute."""
    board: str | None = field(default=None)
    """Folder with the CSV files of several tables: write README.md there, which counts how many
    published cells are reproduced."""


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "reproduce", DESCRIPTION)
    if flags.board is not None:
        return _write_board(Path(flags.board))
    if not flags.name:
        return _list()
    return _reproduce(flags)


def _list() -> int:
    from unweave.studies.define.expansion import count_runs
    from unweave.studies.define.study import read_study, shipped_studies

    table = Table("name", "what", "runs", "published cells")
    for name in shipped_studies():
        study = read_study(name)
        table.add_row(name, study.title, f"{count_runs(study):,}", str(len(study.published)))
    _output.show(table)
    return 0


def _reproduce(flags: Flags) -> int:
    from unweave.studies import expand, ledger_of, make_table, run_study
    from unweave.studies.define.study import read_study, shipped_studies
    from unweave.studies.report.published import cells_of, counted
    from unweave.studies.report.write import chosen_without_labels, write_report

    study = read_study(flags.name)
    if flags.name not in shipped_studies():
        raise ConfigError(
            f"{flags.name} is a study of your own; `unweave study run` does it, and its report "
            f"shows what the file says is published"
        )
    if flags.quick:
        study = study.quick()
    if flags.keep:
        _keep(study, flags)
    failures: list[tuple[str, str]] = []
    if not flags.only_show:
        outcome = run_study(study, root=flags.out, workers=flags.workers, device=flags.device)
        failures = outcome.failures()
    plan = expand(study)
    ledger = ledger_of(plan, flags.out)
    table = make_table(plan, ledger).with_scores(chosen_without_labels(plan, ledger))
    folder = Path(flags.to) if flags.to else ledger.study_folder(study.name)
    table.write(folder / f"{study.name}.csv")
    page = write_report(plan, ledger, folder / f"{study.name}.md")
    cells = cells_of(plan, table.done)
    if cells:
        _output.show(_as_table(cells))
        _output.say(f"{counted(cells)}; {page}")
    else:
        _output.show(_medians(table.done, study.main_metric or plan.metrics[0]))
        _output.say(f"no published number to set beside them; {page}")
    for run_id, message in failures[:10]:
        _output.say(f"failed: {run_id}: {message}")
    return 1 if failures else 0


def _keep(study: Any, flags: Flags) -> None:
    from unweave.studies import expand, ledger_of
    from unweave.studies.report.kept import take_over

    if flags.to is None:
        raise ConfigError("--keep takes lines of NAME.csv in the folder --to; give that folder")
    plan = expand(study)
    path = Path(flags.to) / f"{study.name}.csv"
    taken = take_over(plan, ledger_of(plan, flags.out), path)
    _output.say(f"{path}: {taken} lines count as runs that are done")


def _as_table(cells: Any) -> Table:
    shown = Table("method", "metric", "published", "ours: median (range)", "seeds", "mark")
    for cell in cells:
        entry = cell.published
        spread = "" if entry.spread is None else f" ± {entry.spread:g}"
        shown.add_row(
            cell.name,
            entry.metric,
            f"{entry.value:g}{spread}",
            cell.in_words,
            cell.in_seeds,
            cell.mark,
        )
    return shown


def _medians(done: Any, metric: str) -> Table:
    """Return the median and the range of each arm, by the score that the study is about."""
    import numpy as np

    shown = Table("data", "arm", f"{metric}: median (range)", "seeds")
    for data in dict.fromkeys(row["data"] for row in done.rows):
        for arm, rows in done.where(data=data).arms().items():
            values = rows.column(metric)
            found = values[np.isfinite(values)]
            words = "–"
            if len(found):
                words = f"{np.median(found):.3g} ({found.min():.3g} to {found.max():.3g})"
            shown.add_row(data, arm, words, str(len(found)))
    return shown


def _write_board(folder: Path) -> int:
    from unweave.studies.report.scoreboard import write_scoreboard

    _output.say(str(write_scoreboard(folder)))
    return 0
