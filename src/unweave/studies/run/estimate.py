"""What a study will take, from a short probe of every kind of run: time and disk."""

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from unweave import catalog
from unweave.runs.config import Machine
from unweave.runs.folder import RunFolder
from unweave.studies.define.expansion import Plan, PlannedRun
from unweave.studies.run.driver import scoring_of
from unweave.studies.run.job import score_run
from unweave.training import loop

PROBE_STEPS = 20


@dataclass(frozen=True)
class Estimate:
    """What one run of a kind is expected to take."""

    kind: str
    """Method, architecture and data, which decide the time of a step."""
    runs: int
    train_seconds: float
    score_seconds: float
    bytes: int

    @property
    def seconds(self) -> float:
        return self.train_seconds + self.score_seconds


def kind_of(run: PlannedRun) -> str:
    """Say what decides how long a step takes."""
    config = run.config
    assert config.architecture is not None
    return (
        f"{catalog.name_of(config.method)}, {catalog.name_of(config.architecture)}, "
        f"{config.data}, {config.steps:,} × {config.batch_size}"
    )


def estimate(plan: Plan, runs: list[PlannedRun], threads: int = 1) -> list[Estimate]:
    """Train a run of each kind for a few steps and reckon up.

    Scoring is tried once for every data set and size of code, which decide its time.
    """
    kinds: dict[str, list[PlannedRun]] = {}
    for run in runs:
        kinds.setdefault(kind_of(run), []).append(run)
    scoring: dict[tuple[str, int], float] = {}
    return [_probe(plan, kind, alike, threads, scoring) for kind, alike in kinds.items()]


class _Clock(loop.Watcher):
    """Notes when each step was done."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def started(self, run: object, first_step: int) -> None:
        self.times.append(time.monotonic())

    def stepped(self, step: int) -> None:
        self.times.append(time.monotonic())


def _probe(
    plan: Plan,
    kind: str,
    alike: list[PlannedRun],
    threads: int,
    scoring: dict[tuple[str, int], float],
) -> Estimate:
    config = alike[0].config
    short = replace(config, steps=min(PROBE_STEPS, config.steps))
    clock = _Clock()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "probe"
        machine = Machine(threads=threads, evaluations=1)
        trained = loop.start(short, plan.data[config.data_key], folder, machine, [clock])
        ended = time.monotonic()
        # The first steps pay for what is set up once.
        steps = clock.times[min(5, len(clock.times) - 1) :]
        per_step = (steps[-1] - steps[0]) / max(len(steps) - 1, 1)
        fixed = ended - began - per_step * (len(clock.times) - 1)
        key = (config.data, trained.latent_dim)
        if key not in scoring:
            score_run(trained, scoring_of(plan))
            scoring[key] = time.monotonic() - ended
        sizes = {f.name: f.stat().st_size for f in folder.rglob("*") if f.is_file()}
        record = RunFolder(folder).record_file
        turns, diagnostics = _record_sizes(record)
    sizes[record.name] = round(
        turns * config.steps / short.steps + diagnostics * plan.study.budget.evaluations
    )
    if plan.study.keep == "networks":
        sizes = {name: size for name, size in sizes.items() if not name.startswith("checkpoint")}
    trains = bool(config.method.players)
    return Estimate(
        kind=kind,
        runs=len(alike),
        train_seconds=fixed + (per_step * config.steps if trains else 0),
        score_seconds=scoring[key],
        bytes=sum(sizes.values()),
    )


def _record_sizes(record: Path) -> tuple[int, int]:
    """Return the bytes of a record's lines on turns, and of those on diagnostics."""
    turns = diagnostics = 0
    for line in record.read_bytes().splitlines(keepends=True):
        if b'"kind": "diagnostics"' in line:
            diagnostics += len(line)
        else:
            turns += len(line)
    return turns, diagnostics
