"""Jobs that compute nothing, and a driver for them that a test may kill."""

import json
import os
import signal
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from unweave.studies.run.attempt import Heartbeat, Outcome, perform
from unweave.studies.run.ledger import Ledger
from unweave.studies.run.local import LocalRunner
from unweave.studies.run.progress import Progress

KEY = "fake"


@dataclass(frozen=True)
class FakeJob:
    run_id: str
    root: str
    trouble: str = ""
    seconds: float = 0.0
    longest_pause: float = 1800.0


def log(job: FakeJob, event: str, token: str) -> None:
    """Append a line, which is atomic for lines this short."""
    with open(Path(job.root) / "log.jsonl", "a") as file:
        file.write(json.dumps({"run": job.run_id, "event": event, "token": token}) + "\n")


def events(root: Path, event: str) -> list[dict]:
    lines = (root / "log.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == event]


def first_time(job: FakeJob) -> bool:
    mark = Path(job.root) / f"{job.run_id}.was-here"
    if mark.exists():
        return False
    mark.touch()
    return True


def work(job: FakeJob, data: object = None) -> Outcome:
    ledger = Ledger(job.root, KEY)
    return perform(ledger, job.run_id, lambda heart: compute(job, heart), job.longest_pause)


def compute(job: FakeJob, heartbeat: Heartbeat) -> dict:
    token = uuid.uuid4().hex
    log(job, "began", token)
    if job.trouble == "dies once" and first_time(job):
        os.kill(os.getpid(), signal.SIGKILL)
    if job.trouble == "raises once" and first_time(job):
        raise RuntimeError(f"injected into {job.run_id}")
    if job.trouble == "always dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.trouble == "hangs once" and first_time(job):
        os.kill(os.getpid(), signal.SIGSTOP)
    if job.trouble == "stands still once" and first_time(job):
        time.sleep(600)
    if job.trouble == "always stands still":
        time.sleep(600)
    time.sleep(job.seconds)
    log(job, "finished", token)
    return {"token": token, "node": node(), "gpu": os.environ.get("CUDA_VISIBLE_DEVICES")}


def node() -> str:
    """Return the name of the Ray node this runs on, if any."""
    if "ray" not in sys.modules:
        return "here"
    return str(sys.modules["ray"].get_runtime_context().get_node_id())


def jobs(root: Path, count: int, seconds: float = 0.0) -> list[FakeJob]:
    """Make jobs of which a twentieth dies once and a twentieth raises once."""
    troubles = {0: "dies once", 10: "raises once"}
    return [
        FakeJob(f"run-{index:03d}", str(root), troubles.get(index % 20, ""), seconds)
        for index in range(count)
    ]


def drive(root: Path, todo: list[FakeJob], workers: int = 2, **how) -> Progress:
    """Do what is missing, as a study does."""
    ledger = Ledger(root, KEY)
    ledger.open()
    missing = [j for j in todo if not ledger.is_done(j.run_id) and not ledger.failure(j.run_id)]
    progress = Progress("fake", ledger, len(todo), len(todo) - len(missing), 0, quiet=True)
    LocalRunner(workers, **how).run(missing, work, ledger, progress)
    return progress


if __name__ == "__main__":
    # As another module, so that workers find the functions under the name they are known by.
    import fake_jobs

    place = Path(sys.argv[1])
    todo = fake_jobs.jobs(place, int(sys.argv[2]), float(sys.argv[3]))
    done = fake_jobs.drive(place, todo, preload=["fake_jobs"])
    print(done.new, done.done)
