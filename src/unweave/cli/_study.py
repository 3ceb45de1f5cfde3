"""unweave study run | slurm | table | report FILE"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.table import Table

from unweave.cli import _output
from unweave.cli._parse import PLUGIN, parse, take_name
from unweave.errors import ConfigError
from unweave.pages.words import duration
from unweave.settings.machine import DeviceName
from unweave.studies.run.slurm import Slurm, read_part, script

ACTIONS = ("run", "slurm", "table", "report")
SHIPPED = (
    "content_and_style",
    "exercises",
    "few_labelled_digits",
    "few_labels",
    "higgins_table",
    "info_vae_comparison",
    "infogan_cr_table",
    "shapes3d_table",
    "tcvae_map",
    "tcvae_sampling",
    "tcvae_tables",
    "unsupervised",
    "weak_supervision",
)
MANY_RUNS = 5_000  # are checked in seconds
USAGE = "unweave study run|slurm|table|report FILE"
HELP = f"""usage: {USAGE}

  run     do the runs that are missing; --dry-run shows them with time and disk
  slurm   write a job array that does the runs on a cluster of Slurm
  table   write one row per run (CSV or Parquet) and show the medians
  report  write the report: intervals, comparisons, plots, choice without labels

`unweave study run --help` explains the flags. A study is a TOML file, such as docs/studies.md
describes, or one that comes with unweave, by its name: {", ".join(SHIPPED)}.

{PLUGIN}"""


@dataclass(frozen=True)
class Run:
    file: tyro.conf.Positional[str]
    """TOML file of the study, or the name of a shipped one."""
    out: str = "runs"
    """Folder of the runs; studies that use the same one share runs."""
    dry_run: bool = False
    """Show the runs, and time and disk estimated from a short probe; start nothing."""
    retry_failed: bool = False
    """Begin runs again that failed before."""
    workers: int | None = None
    """Runs at a time; by default one per core, or per GPU."""
    threads: int = 1
    """Threads of each run; 1 gives most images per second in total, and the same bits anywhere."""
    device: DeviceName = "auto"
    """Where to compute."""
    retries: int = 2
    """How often a run whose process died is begun again."""
    checkpoint_seconds: float = 60.0
    """Longest time between two checkpoints of a run; what a crash can cost."""
    stuck_minutes: float = 30.0
    """Minutes without a step after which a training is ended and begun again from its checkpoint;
    preparing data may take twice as long, and scoring four times."""
    ray: bool = False
    """Run on Ray, started on this machine (needs unweave[ray])."""
    ray_address: str | None = None
    """Run on the Ray cluster at this address, such as head:6379, or auto."""
    cpus_per_run: float | None = None
    """Cores that Ray keeps for a run; by default as many as threads."""
    gpus_per_run: float = 0.0
    """GPUs, or a part of one, that Ray keeps for a run."""
    part: str | None = None
    """K/N: do the K-th of N parts of the runs, and leave the others to other machines."""


@dataclass(frozen=True)
class MakeScript:
    file: tyro.conf.Positional[str]
    """TOML file of the study, or the name of a shipped one."""
    out: str = "runs"
    """Folder of the runs, which all nodes must see."""
    to: str | None = None
    """Where the script goes; by default NAME.sbatch here."""
    ask: Annotated[Slurm, tyro.conf.arg(name="")] = Slurm()


@dataclass(frozen=True)
class MakeTable:
    file: tyro.conf.Positional[str]
    """TOML file of the study, or the name of a shipped one."""
    out: str = "runs"
    """Folder of the runs."""
    to: str | None = None
    """Where the table goes, .csv or .parquet; by default table.csv in the study's folder."""


@dataclass(frozen=True)
class MakeReport:
    file: tyro.conf.Positional[str]
    """TOML file of the study, or the name of a shipped one."""
    out: str = "runs"
    """Folder of the runs."""
    to: str | None = None
    """Where the report goes, .html or .md; by default report.html in the study's folder."""
    no_selection: bool = False
    """Leave out the choice without labels, which encodes images with every pair of runs."""
    most_models: int = 24
    """Most runs of a data set among which ModelCentrality chooses."""


def run(words: list[str]) -> int:
    action = take_name(words, ACTIONS, "study", USAGE)
    if action is None:
        _output.say(HELP)
        return 0
    if action == "run":
        return _run(parse(Run, words, "study run", "Run a study: do what is missing of it."))
    if action == "slurm":
        words_of_help = "Write the script of a job array: `sbatch NAME.sbatch` submits it."
        return _slurm(parse(MakeScript, words, "study slurm", words_of_help))
    if action == "table":
        return _table(parse(MakeTable, words, "study table", "Write the table of a study."))
    return _report(parse(MakeReport, words, "study report", "Write the report of a study."))


def _run(flags: Run) -> int:
    from unweave.studies import run_study
    from unweave.studies.define.study import study_file

    study = _read(flags.file)
    if flags.dry_run:
        return _dry_run(study, flags)
    outcome = run_study(
        study,
        root=flags.out,
        workers=flags.workers,
        threads=flags.threads,
        device=flags.device,
        retries=flags.retries,
        checkpoint_seconds=flags.checkpoint_seconds,
        stuck_minutes=flags.stuck_minutes,
        retry_failed=flags.retry_failed,
        source=study_file(flags.file),
        runner=_ray_runner(flags) if flags.ray or flags.ray_address else None,
        part=None if flags.part is None else read_part(flags.part),
    )
    _output.say(f"{outcome.new} new runs; results: {outcome.folder}")
    failures = outcome.failures()
    for run_id, message in failures[:10]:
        _output.say(f"failed: {run_id}: {message}")
    if failures:
        _output.say(f"{len(failures)} failed; --retry-failed begins them again")
    return 1 if failures else 0


def _slurm(flags: MakeScript) -> int:
    from unweave.files.writing import write_atomically
    from unweave.studies import expand
    from unweave.studies.define.study import SHIPPED as SHIPPED_FOLDER
    from unweave.studies.define.study import study_file

    study = _read(flags.file)
    plan = expand(study)
    # A task on another node starts elsewhere; a shipped study is found by its name there too.
    given = study_file(flags.file)
    file = Path(flags.file) if given.parent == SHIPPED_FOLDER else given.absolute()
    root = Path(flags.out).absolute()
    (root / "studies" / study.name / "slurm").mkdir(parents=True, exist_ok=True)
    path = Path(flags.to or f"{study.name}.sbatch")
    write_atomically(path, script(study.name, file, root, flags.ask))
    _output.say(
        f"{path}: {len(plan.runs)} runs in {flags.ask.tasks} tasks; submit it with: sbatch {path}"
    )
    return 0


def _read(file: str) -> Any:
    """Read a study; of one with many runs, say that looking at each of them takes a while."""
    from unweave.studies import read_study
    from unweave.studies.define.expansion import MOST_RUNS, count_runs

    study = read_study(file)
    if MANY_RUNS < (count := count_runs(study)) <= MOST_RUNS:
        _output.say(f"{count:,} runs: checking the settings of each")
    return study


def _ray_runner(flags: Run) -> Any:
    from unweave.studies.run.ray import RayRunner

    cpus = flags.threads if flags.cpus_per_run is None else flags.cpus_per_run
    return lambda plan: RayRunner(
        flags.ray_address,
        cpus_per_run=cpus,
        gpus_per_run=flags.gpus_per_run,
        retries=flags.retries,
        data=plan.data,
    )


def _dry_run(study: Any, flags: Run) -> int:
    from unweave.studies import estimate, expand, ledger_of
    from unweave.studies.run.driver import choose_workers

    plan = expand(study)
    ledger = ledger_of(plan, flags.out)
    missing = [run for run in plan.runs if not ledger.is_done(run.run_id)]
    for run in plan.runs:
        _output.say(f"{run.run_id}  {run.arm}, seed {run.config.seed}")
    done = len(plan.runs) - len(missing)
    _output.say(f"{len(plan.runs)} runs, {done} of them done")
    if not missing:
        return 0
    estimates = estimate(plan, missing, flags.threads)
    table = Table("kind of run", "runs", "training", "scoring", "disk each")
    for line in estimates:
        table.add_row(
            line.kind,
            f"{line.runs:,}",
            duration(line.train_seconds),
            duration(line.score_seconds),
            f"{line.bytes / 1e6:.1f} MB",
        )
    _output.show(table)
    workers = choose_workers(flags.workers, flags.threads, flags.device)
    seconds = sum(line.runs * line.seconds for line in estimates)
    size = sum(line.runs * line.bytes for line in estimates)
    _output.say(
        f"about {duration(seconds / min(workers, len(missing)))} with {workers} at a time "
        f"({duration(seconds)} of one), {size / 1e9:.2f} GB"
    )
    return 0


def _table(flags: MakeTable) -> int:
    from unweave.studies import expand, ledger_of, make_table
    from unweave.studies.report.statistics import median_interval

    plan = expand(_read(flags.file))
    ledger = ledger_of(plan, flags.out)
    table = make_table(plan, ledger)
    path = table.write(flags.to or ledger.study_folder(plan.study.name) / "table.csv")
    shown = Table("arm", "seeds", *plan.metrics, title="medians and 95 % intervals")
    for arm, rows in table.done.arms().items():
        cells = [median_interval(rows.column(metric)) for metric in plan.metrics]
        shown.add_row(arm, str(len(rows)), *("–" if c.count == 0 else str(c) for c in cells))
    _output.show(shown)
    _output.say(f"{len(table.done)} of {len(table)} runs done; table: {path}")
    return 0


def _report(flags: MakeReport) -> int:
    target = None if flags.to is None else Path(flags.to)
    if target is not None and target.suffix not in (".html", ".md"):
        raise ConfigError(f"{target}: expected a file ending in .html or .md")
    path = _read(flags.file).report(
        flags.out,
        target,
        with_selection=not flags.no_selection,
        most_models=flags.most_models,
        command=f"unweave study run {flags.file}\nunweave study report {flags.file}",
    )
    _output.say(f"report: {path}")
    return 0
