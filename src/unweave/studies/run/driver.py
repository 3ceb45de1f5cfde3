"""Run a study to its end: plan, ledger, runner."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from unweave import devices
from unweave.catalog.plugins import carried
from unweave.devices import DeviceName
from unweave.errors import ConfigError
from unweave.files.writing import write_atomically
from unweave.process import usable_cores
from unweave.runs import config
from unweave.runs.config import Machine
from unweave.runs.plugins import among, used_by
from unweave.settings.plain import to_plain
from unweave.studies.define.expansion import Plan, PlannedRun, expand
from unweave.studies.define.study import Study
from unweave.studies.run.attempt import LONGEST_PAUSE
from unweave.studies.run.job import Job, run_job
from unweave.studies.run.ledger import Ledger, Scoring
from unweave.studies.run.local import LocalRunner, Work
from unweave.studies.run.progress import Progress
from unweave.studies.run.slurm import part_of


class Runner(Protocol):
    """Places jobs and begins lost ones again; what is done it reads from the ledger."""

    def run(self, jobs: Sequence[Any], work: Work, ledger: Ledger, progress: Progress) -> None: ...


@dataclass(frozen=True)
class Outcome:
    """How a study ended."""

    plan: Plan
    ledger: Ledger
    done: int
    failed: int
    new: int
    """Runs finished by this call; not those that another driver finished meanwhile."""

    @property
    def folder(self) -> Path:
        """Return the folder of the study's own files."""
        return self.ledger.study_folder(self.plan.study.name)

    def failures(self) -> list[tuple[str, str]]:
        """Return the runs that failed and why."""
        found = []
        for run in self.plan.runs:
            failure = self.ledger.failure(run.run_id)
            if failure is not None and not self.ledger.is_done(run.run_id):
                found.append((run.run_id, failure["message"]))
        return found


def ledger_of(plan: Plan, root: str | Path) -> Ledger:
    """Return the ledger that holds the results of a plan's runs."""
    return Ledger(root, scoring_of(plan).key)


def scoring_of(plan: Plan) -> Scoring:
    """Return how a study scores its runs."""
    protocol = plan.study.protocol
    plain = protocol if protocol is None or isinstance(protocol, str) else dict(protocol)
    return Scoring(tuple(plan.metrics), plan.study.preset, plain)


def run_study(
    study: Study,
    *,
    root: str | Path = "runs",
    runner: Callable[[Plan], Runner] | None = None,
    workers: int | None = None,
    threads: int = 1,
    device: DeviceName = "auto",
    retries: int = 2,
    checkpoint_seconds: float = 60.0,
    stuck_minutes: float = LONGEST_PAUSE / 60,
    retry_failed: bool = False,
    quiet: bool = False,
    source: Path | None = None,
    part: tuple[int, int] | None = None,
) -> Outcome:
    """Do what is missing of a study.

    `runner` makes another runner than the local one for a plan; `source` is the
    study's file, kept beside the results. A run that makes no step for `stuck_minutes`
    is ended and begun again from its checkpoint. `part`, (K, N), does the K-th of N parts of the
    runs and leaves the others to others.
    """
    if not stuck_minutes > 0:
        raise ConfigError(f"stuck_minutes must be above 0, found {stuck_minutes}")
    plan = expand(study)
    ledger = ledger_of(plan, root)
    ledger.open()
    _describe(plan, ledger, source)
    if retry_failed:
        for run in plan.runs:
            ledger.forget_failure(run.run_id)
    done = [run for run in plan.runs if ledger.is_done(run.run_id)]
    finished = {run.run_id for run in done}
    failed = {
        run.run_id
        for run in plan.runs
        if run.run_id not in finished and ledger.failure(run.run_id) is not None
    }
    ours = plan.runs if part is None else part_of(plan.runs, part)
    todo = [run for run in ours if run.run_id not in finished | failed]
    progress = Progress(study.name, ledger, len(plan.runs), len(done), len(failed), quiet=quiet)
    if runner is not None:
        chosen: Runner = runner(plan)
    else:
        count = choose_workers(workers, threads, device)
        chosen = LocalRunner(count, retries=retries, data=plan.data, gpus=gpu_names(device))
    machine = Machine(device=device, threads=threads, checkpoint_seconds=checkpoint_seconds)
    jobs = [job_of(plan, run, root, machine, 60 * stuck_minutes) for run in todo]
    state = "stopped"
    try:
        chosen.run(jobs, run_job, ledger, progress)
        state = "done"
    finally:
        progress.show((), state)
    return Outcome(plan, ledger, progress.done, progress.failed, progress.new)


def job_of(
    plan: Plan,
    run: PlannedRun,
    root: str | Path,
    machine: Machine,
    longest_pause: float = LONGEST_PAUSE,
) -> Job:
    """Return what a worker has to know of a run."""
    budget = plan.study.budget
    minutes = budget.minutes_per_run
    metrics = among(("unweave.metrics", metric) for metric in plan.metrics)
    used = [*used_by(run.config), *metrics]
    return Job(
        run_id=run.run_id,
        root=str(Path(root).absolute()),
        settings=config.to_json(run.config),
        scoring=scoring_of(plan),
        machine=replace(machine, evaluations=budget.evaluations),
        longest_seconds=None if minutes is None else 60 * minutes,
        longest_pause=longest_pause,
        keeps_checkpoints=plan.study.keep == "checkpoints",
        needs=tuple(used),
        plugins=carried((plugin.package, plugin.name) for plugin in used),
    )


def choose_workers(workers: int | None, threads: int, device: str) -> int:
    """Return how many runs to do at a time: as many as there are cores, or GPUs, for them."""
    if threads < 1 or (workers is not None and workers < 1):
        raise ConfigError(f"workers and threads must be 1 or more, found {workers}, {threads}")
    if workers is not None:
        return workers
    return len(gpu_names(device)) or max(usable_cores() // threads, 1)


def gpu_names(device: str) -> list[str]:
    """Return the GPUs to compute on, as CUDA_VISIBLE_DEVICES names them; none on a CPU."""
    if devices.choose_device(device).type != "cuda":
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible:
        return [name.strip() for name in visible.split(",")]
    import torch

    return [str(index) for index in range(torch.cuda.device_count())]


def _describe(plan: Plan, ledger: Ledger, source: Path | None) -> None:
    """Keep the study's file and its list of runs beside the results."""
    folder = ledger.study_folder(plan.study.name)
    if source is not None:
        write_atomically(folder / "study.toml", source.read_bytes())
    runs = [
        {
            "run": run.run_id,
            "method": run.method,
            "seed": run.config.seed,
            "data": run.config.data,
            "varied": to_plain(run.varied),
            "result": str(ledger.result_file(run.run_id).relative_to(ledger.root)),
        }
        for run in plan.runs
    ]
    content = {
        "name": plan.study.name,
        "title": plan.study.title,
        "metrics": plan.metrics,
        "runs": runs,
    }
    write_atomically(folder / "study.json", json.dumps(content, indent=1) + "\n")
