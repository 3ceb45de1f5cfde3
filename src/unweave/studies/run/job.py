"""One run of a study: trained or continued, scored, its result written exactly once.

The same function works in the local runner's processes and in Ray's.
"""

import functools
import sys
import time
from dataclasses import dataclass
from typing import Any

from unweave import runs, workflows
from unweave.catalog.plugins import Carried, take_over
from unweave.data import DataOptions, FactorImages, load_data
from unweave.errors import ConfigError, UnweaveError
from unweave.evaluation.encode import Encoded, encode_run
from unweave.evaluation.measures import measure_named
from unweave.evaluation.plan import PRESETS
from unweave.files.writing import sweep
from unweave.runs import config as settings_of_run
from unweave.runs.config import Machine, Train
from unweave.runs.effort import read_sittings
from unweave.runs.folder import RunFolder, versions
from unweave.runs.plugins import Used, check_all_there
from unweave.runs.run import Run
from unweave.studies.run.attempt import LONGEST_PAUSE, Heartbeat, Outcome, perform
from unweave.studies.run.ledger import Ledger, Scoring, now
from unweave.training import loop
from unweave.watchers import Effort


@dataclass(frozen=True)
class Job:
    """What a worker has to know of a run."""

    run_id: str
    root: str
    """Folder of the runs."""
    settings: dict[str, Any]
    scoring: Scoring
    machine: Machine
    longest_seconds: float | None = None
    longest_pause: float = LONGEST_PAUSE
    """Seconds without a step after which the training stands still."""
    keeps_checkpoints: bool = False
    needs: tuple[Used, ...] = ()
    """The plugins that it uses."""
    plugins: tuple[Carried, ...] = ()
    """Those that the user gave to the driver; a worker finds what is installed by itself."""

    @property
    def source(self) -> str:
        """Return what its data are shared by: the name of the set and how it is read."""
        return settings_of_run.data_key(
            self.settings["data"], self.settings.get("data_options") or {}
        )


def run_job(job: Job, data: FactorImages | None = None) -> Outcome:
    """Train and score one run of a study."""
    ledger = Ledger(job.root, job.scoring.key)

    def compute(heartbeat: Heartbeat) -> dict[str, Any]:
        return _compute(job, ledger, heartbeat, data)

    return perform(ledger, job.run_id, compute, job.longest_pause)


class _Progress(loop.Watcher):
    """Tells the heartbeat how far a run is, and stops one that takes too long."""

    def __init__(self, heartbeat: Heartbeat, longest_seconds: float | None):
        self.heartbeat, self.longest = heartbeat, longest_seconds
        self.began = time.monotonic()
        self.first_step = 0

    def started(self, run: Run, first_step: int) -> None:
        self.first_step = first_step
        self.heartbeat.progress(phase="training", step=first_step, steps=run.config.steps)

    def stepped(self, step: int) -> None:
        self.heartbeat.progress(step=step)
        if self.longest is not None and time.monotonic() - self.began > self.longest:
            raise UnweaveError(
                f"stopped at step {step} after {self.longest / 60:g} minutes, the longest time of "
                f"a run in this study (budget.minutes_per_run)"
            )


def _compute(
    job: Job, ledger: Ledger, heartbeat: Heartbeat, data: FactorImages | None
) -> dict[str, Any]:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    take_over(job.plugins)
    check_all_there(job.needs, ledger.run_path(job.run_id))
    sweep(ledger.run_path(job.run_id))
    config = settings_of_run.from_json(job.settings)
    data = data or open_data(config.data, config.data_options)
    watcher = _Progress(heartbeat, job.longest_seconds)
    began = time.monotonic()
    with threadpool_limits(job.machine.threads):
        run = _trained(config, data, RunFolder(ledger.run_path(job.run_id)), job.machine, watcher)
        trained = time.monotonic()
        heartbeat.progress(phase="scoring", step=config.steps, steps=config.steps)
        content = score_run(run, job.scoring)
    if not job.keeps_checkpoints and run.folder is not None:
        run.folder.checkpoint_file.unlink(missing_ok=True)
        run.folder.previous_checkpoint_file.unlink(missing_ok=True)
    return {
        "run": job.run_id,
        "settings": job.settings,
        "scoring": {"metrics": list(job.scoring.metrics), "preset": job.scoring.preset},
        **content,
        "steps_trained_here": config.steps - watcher.first_step if config.method.players else 0,
        "train_seconds": trained - began,
        "train_cpu_seconds": _spent_on(run),
        "score_seconds": time.monotonic() - trained,
        "threads": job.machine.threads,
        "peak_megabytes": peak_megabytes(),
        "versions": versions(),
        "finished": now(),
    }


def _spent_on(run: Run) -> float | None:
    """Return the seconds of the processor of all sittings: a run may have been trained before.

    None of a run that does not say.
    """
    sittings = [] if run.folder is None else read_sittings(run.folder.path)
    return sum(sitting.cpu_seconds for sitting in sittings) or None


def _trained(
    config: Train, data: FactorImages, folder: RunFolder, machine: Machine, watcher: _Progress
) -> Run:
    """Return the run at its last step: new, continued, or loaded if it was trained before."""
    if not folder.exists():
        return loop.start(config, data, folder.path, machine, [watcher, Effort()])
    stored, _ = folder.read_config()
    if settings_of_run.to_json(stored) != settings_of_run.to_json(config):
        raise ConfigError(
            f"{folder.path} holds a run of other settings; move it away or study elsewhere (--out)"
        )
    if folder.status()["state"] == "done":
        watcher.first_step = config.steps
        return runs.load(folder.path, machine.device, data)
    return loop.resume(folder.path, data, machine, [watcher, Effort()])


def score_run(run: Run, scoring: Scoring) -> dict[str, Any]:
    """Draw and score a trained run; return what a result keeps of that."""
    workflows.draw_figures(run)
    size = PRESETS[scoring.preset]
    encoded = encode_run(run, rows=size.train_rows + size.test_rows)
    of_codes = [name for name in scoring.metrics if measure_named(name) is None]
    scores, reasons = _scored(run, encoded, of_codes, scoring)
    measured, not_measured = _measured(run, [m for m in scoring.metrics if m not in of_codes])
    assert run.folder is not None
    last = [line for line in run.folder.record() if line.get("kind") == "diagnostics"][-1:]
    kept = ("active_dimensions", "kl_per_dimension")
    return {
        "scores": scores | measured,
        "not_scored": reasons | not_measured,
        "terms": encoded.terms,
        "diagnostics": {name: line[name] for line in last for name in kept if name in line},
        "parameters": sum(p.numel() for p in run.nets.parameters()),
    }


def _scored(
    run: Run, encoded: Encoded, names: list[str], scoring: Scoring
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Score the codes of a run; return the scores, and why anything has none."""
    if not names:
        return {}, {}
    found = workflows.evaluate(
        run, names, preset=scoring.preset, protocol=scoring.protocol, encoded=encoded
    )
    return {name: result.value for name, result in found.items()}, dict(found.reasons)


def _measured(run: Run, names: list[str]) -> tuple[dict[str, float], dict[str, str]]:
    """Measure a run; return what was found, and why anything could not be."""
    found, reasons = {}, {}
    for name in names:
        measure = measure_named(name)
        assert measure is not None
        try:
            found[name] = measure.of(run)
        except UnweaveError as error:
            reasons[name] = str(error)
    return found, reasons


def peak_megabytes() -> float | None:
    """Return the most memory this process has had, what it shares with others included."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 1024)


@functools.lru_cache(maxsize=4)
def open_data(source: str, options: DataOptions) -> FactorImages:
    """Open a data set once per process; large sets are memory maps that processes share."""
    return load_data(source, options)
