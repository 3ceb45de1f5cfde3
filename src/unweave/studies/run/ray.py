"""Run a study on Ray: several nodes, lost workers and nodes retried (needs unweave[ray]).

Ray Core tasks place the runs and begin lost ones again; results, checkpoints and
claims are files below the folder of runs, which every node must see under the same
path. The data set is put into Ray's object store, which keeps one copy per node.
"""

import logging
import os
import secrets
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from unweave.data import FactorImages, put_together, take_apart
from unweave.errors import ConfigError, Stopped
from unweave.process import asked_to_stop
from unweave.studies.run.attempt import Outcome
from unweave.studies.run.ledger import Ledger
from unweave.studies.run.local import LOOK_AGAIN, Work
from unweave.studies.run.progress import Progress

LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""The variable by which Ray, when it is imported, is kept to this machine's loopback address:
it was made for systems whose firewalls ask about open ports, and works on all."""


class RayRunner:
    """Runs jobs as Ray tasks, on a cluster or on a Ray of this machine alone."""

    def __init__(
        self,
        address: str | None = None,
        *,
        cpus_per_run: float = 1,
        gpus_per_run: float = 0,
        retries: int = 2,
        silence_seconds: float = 120.0,
        data: Mapping[str, FactorImages] | None = None,
    ):
        if cpus_per_run < 0 or gpus_per_run < 0 or cpus_per_run + gpus_per_run == 0:
            raise ConfigError(
                f"a run needs CPUs or GPUs, found {cpus_per_run} CPUs and {gpus_per_run} GPUs"
            )
        self.address = address
        """Address of a cluster's head; without one, a Ray of this machine is started."""
        self.cpus_per_run, self.gpus_per_run = cpus_per_run, gpus_per_run
        self.retries, self.silence_seconds = retries, silence_seconds
        self.data = data or {}

    def run(self, jobs: Sequence[Any], work: Work, ledger: Ledger, progress: Progress) -> None:
        """Do all jobs; results and failures are in the ledger afterwards."""
        if not jobs:
            return
        ray = connect(self.address)
        try:
            check_shared_disk(ray, ledger)
            placed = {name: _place(ray, data) for name, data in self.data.items()}
            remote = ray.remote(_in_ray).options(
                num_cpus=self.cpus_per_run,
                num_gpus=self.gpus_per_run,
                max_retries=self.retries,
            )
            self._drive(ray, remote, placed, jobs, work, ledger, progress)
        finally:
            ray.shutdown()

    def _drive(
        self,
        ray: Any,
        remote: Any,
        placed: Mapping[str, Any],
        jobs: Sequence[Any],
        work: Work,
        ledger: Ledger,
        progress: Progress,
    ) -> None:
        waiting = deque((job, 0.0) for job in jobs)
        running: dict[Any, Any] = {}
        heard: dict[str, tuple[object, float]] = {}
        deaths: dict[str, int] = {}
        look_next = 0.0
        with asked_to_stop() as stop:
            while waiting or running:
                # Twice the places keeps every node busy without a queue of thousands.
                for _ in range(max(2 * self._places(ray), 1) - len(running)):
                    if waiting and waiting[0][1] <= time.monotonic():
                        job, _ = waiting.popleft()
                        shared = placed.get(getattr(job, "source", ""))
                        running[remote.remote(work, job, shared)] = job
                    waiting.rotate(-1)  # one that must wait holds nobody up
                if time.monotonic() >= look_next:
                    # Files of so many runs are read over the network: seldom, if they are many.
                    look_next = time.monotonic() + max(1.0, 0.005 * len(running))
                    beats = {j.run_id: ledger.last_beat(j.run_id) for j in running.values()}
                    progress.show(run_id for run_id, beat in beats.items() if beat is not None)
                    self._end_silent(ray, running, heard, beats)
                finished, _ = ray.wait(list(running), timeout=0.5) if running else ([], [])
                if not running:
                    time.sleep(0.5)
                for ref in finished:
                    job = running.pop(ref)
                    outcome = self._outcome(ray, ref)
                    self._ended(job, outcome, waiting, deaths, ledger, progress)
                if stop.is_set():
                    for ref in running:
                        ray.cancel(ref)
                    ray.wait(list(running), num_returns=len(running), timeout=30)
                    raise Stopped("stopped; every run has been saved. The same command goes on.")

    def _places(self, ray: Any) -> int:
        """Return how many runs fit on the cluster as it is now."""
        total = ray.cluster_resources()
        places = []
        if self.cpus_per_run:
            places.append(total.get("CPU", 0) // self.cpus_per_run)
        if self.gpus_per_run:
            places.append(total.get("GPU", 0) // self.gpus_per_run)
        return int(min(places))

    def _outcome(self, ray: Any, ref: Any) -> str:
        """Return how a task ended; what is not ours to know counts as a death."""
        try:
            ended: Outcome = ray.get(ref)
        except ray.exceptions.RayError as error:
            return f"died: {type(error).__name__}: {str(error).strip().splitlines()[0]}"
        return ended

    def _ended(
        self,
        job: Any,
        outcome: str,
        waiting: deque[tuple[Any, float]],
        deaths: dict[str, int],
        ledger: Ledger,
        progress: Progress,
    ) -> None:
        if ledger.is_done(job.run_id):
            progress.done += 1
            progress.new += outcome != "elsewhere"
        elif ledger.failure(job.run_id) is not None:
            progress.failed += 1
        elif outcome in ("elsewhere", "stopped"):
            waiting.append((job, time.monotonic() + LOOK_AGAIN))
        else:
            deaths[job.run_id] = deaths.get(job.run_id, 0) + 1
            if deaths[job.run_id] <= self.retries:
                waiting.append((job, 0.0))
                return
            ledger.write_failure(job.run_id, f"its worker was lost: {outcome}", "died")
            progress.failed += 1

    def _end_silent(
        self,
        ray: Any,
        running: Mapping[Any, Any],
        heard: dict[str, tuple[object, float]],
        beats: Mapping[str, dict[str, Any] | None],
    ) -> None:
        """Cancel tasks whose workers hang; they count as died and are begun again."""
        moment = time.monotonic()
        for ref, job in running.items():
            beat = (beats.get(job.run_id) or {}).get("time")
            before = heard.get(job.run_id)
            if beat is None or before is None or before[0] != beat:
                heard[job.run_id] = (beat, moment)
            elif moment - before[1] > self.silence_seconds:
                ray.cancel(ref, force=True)
                del heard[job.run_id]


def connect(address: str | None) -> Any:
    """Join a cluster or start a Ray of this machine; its ports ask for a token either way."""
    if os.environ.get("RAY_AUTH_MODE", "token") != "token":
        raise ConfigError(
            "RAY_AUTH_MODE is not token: whoever reaches Ray's ports, which are open to the "
            "network, could run anything here. Set RAY_AUTH_MODE=token on every node."
        )
    if "ray" in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        raise ConfigError(
            "Ray was imported without its token authentication, which it reads when imported; "
            "set RAY_AUTH_MODE=token in the environment first"
        )
    os.environ["RAY_AUTH_MODE"] = "token"
    if address is None:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        # Ray's workers are nice to others by default, which halves a run's speed on a busy machine.
        os.environ.setdefault("RAY_worker_niceness", "0")
        if "ray" not in sys.modules:
            os.environ[LOOPBACK] = "0"
    try:
        import ray
    except ImportError:
        raise ConfigError("--ray needs Ray: pip install 'unweave[ray]'") from None
    if ray.is_initialized():
        raise ConfigError("Ray is in use by this process already; call ray.shutdown() first")
    try:
        ray.init(
            # Without an address Ray would join whatever cluster it finds on this machine.
            address=address or "local",
            log_to_driver=False,
            include_dashboard=False if address is None else None,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ConfigError(f"cannot reach Ray at {address or 'this machine'}: {error}") from error
    if address is None and not ip_address(ray.util.get_node_ip_address()).is_loopback:
        ray.shutdown()
        raise ConfigError(
            f"Ray was imported before and would open its ports to the network; set {LOOPBACK}=0 "
            f"in the environment first, or name a cluster by its address"
        )
    return ray


def check_shared_disk(ray: Any, ledger: Ledger) -> None:
    """Refuse nodes that do not see the folder of runs: their results would be lost."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    mark = ledger.desk / f"{secrets.token_hex(8)}.mark"
    mark.touch()
    try:
        asked = {}
        for node in ray.nodes():
            if node["Alive"]:
                there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                task = ray.remote(_sees).options(num_cpus=0, scheduling_strategy=there)
                asked[task.remote(str(mark))] = node["NodeManagerAddress"]
        blind = [place for ref, place in asked.items() if not ray.get(ref)]
    finally:
        mark.unlink()
    if blind:
        raise ConfigError(
            f"{ledger.root} is not visible on {', '.join(blind)}; give --out a folder that "
            f"every node sees under the same path"
        )


def _sees(path: str) -> bool:
    return Path(path).exists()


def _place(ray: Any, data: FactorImages) -> Any:
    """Put a data set into the object store; None if every node opens it by its name."""
    import numpy as np

    apart = take_apart(data)
    if apart is None:
        return None
    parts, arrays = apart
    # A memory map would be pickled as a copy in the task; a plain array is shared.
    return ray.put((parts, {name: np.asarray(array) for name, array in arrays.items()}))


def _in_ray(work: Any, job: Any, placed: Any) -> Outcome:
    data = None if placed is None else put_together(*placed)
    outcome: Outcome = work(job, data)
    return outcome
