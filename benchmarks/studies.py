"""What the executor of studies costs, and what a second worker gains.

python benchmarks/studies.py                  # runs of 60 seconds: about 12 minutes
python benchmarks/studies.py --seconds 20     # shorter runs, in which overhead weighs more

First what a process costs: the start of the server of processes, once per study, and of
a process whose run turns out to be done already, once per run.

Then three measurements of the same trainings (β-VAE, quick64, dSprites, one thread each):
one after the other in this process, without any executor; by the local runner with one
worker; by the local runner with two. Runs are scored by MIG alone. Rounds alternate, so
that other load on the machine falls on all of them.
"""

import argparse
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unweave import devices
from unweave.process import usable_cores
from unweave.runs.config import Machine
from unweave.studies import Plan, Study, estimate, expand, ledger_of, run_study
from unweave.studies.run.driver import Runner, job_of
from unweave.studies.run.job import run_job
from unweave.studies.run.local import LocalRunner
from unweave.studies.run.progress import Progress


@dataclass(frozen=True)
class Measured:
    """One way of doing all runs."""

    wall: float
    """Seconds that passed."""
    inside: float
    """Seconds that the runs themselves took, added up."""
    training: float
    """Seconds of those spent in training."""


def study(steps: int, runs: int) -> Study:
    return Study(
        name="overhead",
        methods=["beta_vae"],
        data="dsprites",
        seeds=runs,
        metrics=["mig"],
        settings={"architecture": "quick64"},
        budget={"steps": steps, "batch_size": 64, "evaluations": 1},
    )


def steps_for(seconds: float) -> int:
    """Return how many steps take so long on one thread of this machine."""
    plan = expand(study(10_000, 1))
    (line,) = estimate(plan, plan.runs, threads=1)
    return max(round(10_000 * seconds / line.train_seconds), 50)


def without_executor(plan: Plan, root: Path) -> Measured:
    """Do the runs one after the other in this process."""
    devices.use_threads(1)
    ledger = ledger_of(plan, root)
    ledger.open()
    began = time.monotonic()
    for run in plan.runs:
        job = job_of(plan, run, root, Machine(threads=1))
        assert run_job(job, plan.data[run.config.data_key]) == "done"
    return _measured(plan, root, time.monotonic() - began)


def with_executor(plan: Plan, root: Path, workers: int, runner: Runner | None = None) -> Measured:
    """Do the runs as a study does, the start of its processes included."""
    began = time.monotonic()
    made = None if runner is None else (lambda _: runner)
    outcome = run_study(plan.study, root=root, workers=workers, quiet=True, runner=made)
    assert outcome.done == len(plan.runs), outcome.failures()
    return _measured(plan, root, time.monotonic() - began)


def cost_of_processes(plan: Plan, root: Path, count: int = 20) -> tuple[float, float]:
    """Return the seconds to start the server, and those of each process that has nothing to do."""
    ledger = ledger_of(plan, root)
    ledger.open()
    run = plan.runs[0]
    ledger.write_result(run.run_id, {})
    job = job_of(plan, run, root, Machine(threads=1))
    times = []
    for jobs in ([job], [job] * count):
        began = time.monotonic()
        progress = Progress("overhead", ledger, len(jobs), 0, 0, quiet=True)
        LocalRunner(1, data=plan.data).run(jobs, run_job, ledger, progress)
        times.append(time.monotonic() - began)
    return times[0] - times[1] / count, times[1] / count


def _measured(plan: Plan, root: Path, wall: float) -> Measured:
    ledger = ledger_of(plan, root)
    results = [ledger.result(run.run_id) for run in plan.runs]
    training = sum(result["train_seconds"] for result in results if result)
    scoring = sum(result["score_seconds"] for result in results if result)
    return Measured(wall, training + scoring, training)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="training time of a run")
    parser.add_argument("--runs", type=int, default=2, help="runs of each measurement")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--ray", action="store_true", help="measure Ray on this machine too")
    options = parser.parse_args()
    steps = steps_for(options.seconds)
    plan = expand(study(steps, options.runs))
    print(f"β-VAE, quick64, {steps:,} steps of 64 images, ", end="")
    print(f"{options.runs} runs, {usable_cores()} cores, load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as place:
        start, each = cost_of_processes(plan, Path(place))
    print(f"Server of processes: {start:.1f} s once. Process of a run: {each:.3f} s.")
    share = (each + start / 20) / 60
    print(f"In a study of 20 runs of 60 s on one worker: {100 * share:.1f} % of training.\n")
    ways = {
        "one process, no executor": lambda root: without_executor(plan, root),
        "local runner, 1 worker": lambda root: with_executor(plan, root, 1),
        "local runner, 2 workers": lambda root: with_executor(plan, root, 2),
    }
    if options.ray:
        from unweave.studies.run.ray import RayRunner

        runner = RayRunner(data=plan.data)
        ways["Ray on this machine"] = lambda root: with_executor(plan, root, 2, runner)
    found: dict[str, list[Measured]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, measure in ways.items():
            with tempfile.TemporaryDirectory() as place:
                found[name].append(measure(Path(place)))
    print("| way | wall s | inside runs s | of it training s | executor's own share |")
    print("|---|---|---|---|---|")
    medians = {}
    for name, rounds in found.items():
        wall, inside, training = (
            float(np.median([getattr(m, part) for m in rounds]))
            for part in ("wall", "inside", "training")
        )
        medians[name] = wall
        # With several workers the runs' seconds pass side by side.
        side_by_side = min(2, options.runs) if "2 workers" in name or "Ray" in name else 1
        share = (wall - inside / side_by_side) / (training / side_by_side)
        print(f"| {name} | {wall:.1f} | {inside:.1f} | {training:.1f} | {100 * share:.1f} % |")
    one, two = medians["local runner, 1 worker"], medians["local runner, 2 workers"]
    print(f"\nTwo workers against one: {one / two:.2f} ×. Medians of {options.rounds} rounds.")
    print("Executor's own share: time that passed outside the runs, over the time of training.")


if __name__ == "__main__":
    main()
