"""The local runner: a fresh process for every run, from a server that has torch loaded.

A run that crashes takes nothing with it: its process is the only thing that dies.
The driver holds no state that matters; what is done is read from the runs' files,
so that it may be killed at any moment and started again.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from typing import TYPE_CHECKING, Any

from unweave.errors import Stopped
from unweave.process import asked_to_stop
from unweave.studies.run.attempt import STUCK, Outcome
from unweave.studies.run.ledger import Ledger
from unweave.studies.run.progress import Progress

if TYPE_CHECKING:
    from unweave.data import FactorImages

Work = Callable[[Any, Any], Outcome]
"""Does one job, with its data set if that is shared; must be importable by name."""

ELSEWHERE, STOPPED = 75, 76  # exit codes, out of the way of Python's own
STOPPED_WELL = "stopped; every run has been saved. The same command goes on."
LOOK_AGAIN = 2.0  # seconds until a run that another driver works on is looked at again
SIGNAL_SECONDS = 1.0  # within which a signal that went to several processes has come to all


@dataclass
class _Worker:
    job: Any
    process: ForkServerProcess
    slot: int
    """Its place among those that run at a time."""
    last_beat: object = None
    heard: float = 0.0


class LocalRunner:
    """Runs jobs in processes of this machine, so many at a time."""

    def __init__(
        self,
        workers: int,
        *,
        retries: int = 2,
        silence_seconds: float = 120.0,
        data: "Mapping[str, FactorImages] | None" = None,
        gpus: Sequence[str] = (),
        preload: Sequence[str] = ("unweave.studies.run.preload",),
    ):
        self.workers = workers
        self.retries = retries
        """How often a run whose process died is begun again."""
        self.silence_seconds = silence_seconds
        """A process that has not been heard of for so long hangs, and is ended."""
        self.data = data or {}
        """Data sets by name, to be shared by all processes."""
        self.gpus = list(gpus)
        """Names of GPUs, dealt out to the processes in turn; each sees its own alone."""
        self.preload = list(preload)
        """What the server of processes imports, so that processes need not."""
        self._looked = 0.0

    def run(self, jobs: Sequence[Any], work: Work, ledger: Ledger, progress: Progress) -> None:
        """Do all jobs; results and failures are in the ledger afterwards."""
        from unweave.studies.run.sharing import as_files, place_for_copies

        with place_for_copies() as folder:
            shared = {}
            for index, (name, data) in enumerate(self.data.items()):
                place = folder / str(index)
                place.mkdir()
                shared[name] = as_files(data, place)
            self._drive(jobs, work, ledger, progress, shared)

    def _drive(
        self,
        jobs: Sequence[Any],
        work: Work,
        ledger: Ledger,
        progress: Progress,
        shared: Mapping[str, Any],
    ) -> None:
        waiting = deque((job, 0.0) for job in jobs)
        running: dict[Any, _Worker] = {}
        deaths: dict[str, int] = {}
        with asked_to_stop() as stop:
            try:
                while waiting or running:
                    self._fill(waiting, running, work, shared, ledger, stop)
                    progress.show(worker.job.run_id for worker in running.values())
                    for sentinel in wait(list(running), timeout=0.5):
                        worker = running.pop(sentinel)
                        worker.process.join()
                        self._ended(worker, waiting, deaths, ledger, progress)
                    self._end_silent(running, ledger)
                    if stop.is_set():
                        raise Stopped(STOPPED_WELL)
            finally:
                _end(running.values())

    def _fill(
        self,
        waiting: deque[tuple[Any, float]],
        running: dict[Any, _Worker],
        work: Work,
        shared: Mapping[str, Any],
        ledger: Ledger,
        stop: threading.Event,
    ) -> None:
        """Start processes while there is room."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(self.preload)
        for _ in range(len(waiting)):
            if len(running) >= self.workers:
                return
            job, not_before = waiting.popleft()
            if time.monotonic() < not_before:
                waiting.append((job, not_before))
                continue
            with ledger.claim(job.run_id) as free:
                if not free:  # another driver's: no process need find that out
                    waiting.append((job, time.monotonic() + LOOK_AGAIN))
                    continue
            taken = {worker.slot for worker in running.values()}
            slot = next(place for place in range(self.workers) if place not in taken)
            gpu = self.gpus[slot % len(self.gpus)] if self.gpus else None
            process = context.Process(
                target=_in_worker,
                args=(work, job, shared.get(getattr(job, "source", "")), gpu),
                daemon=True,
            )
            try:
                with _main_left_out(), _one_thread():
                    _start_server()
                    process.start()
            except (EOFError, OSError):
                # The same signal ended the server of processes, perhaps before we hear it.
                if stop.wait(SIGNAL_SECONDS):
                    raise Stopped(STOPPED_WELL) from None
                raise
            running[process.sentinel] = _Worker(job, process, slot, heard=time.monotonic())

    def _ended(
        self,
        worker: _Worker,
        waiting: deque[tuple[Any, float]],
        deaths: dict[str, int],
        ledger: Ledger,
        progress: Progress,
    ) -> None:
        """Count a run as done or failed, or put it back."""
        job, code = worker.job, worker.process.exitcode
        if ledger.is_done(job.run_id):
            progress.done += 1
            progress.new += code != ELSEWHERE
        elif ledger.failure(job.run_id) is not None:
            progress.failed += 1
        elif code == ELSEWHERE:
            waiting.append((job, time.monotonic() + LOOK_AGAIN))
        elif code == STOPPED:
            waiting.append((job, 0.0))  # somebody stopped that process alone
        else:
            deaths[job.run_id] = deaths.get(job.run_id, 0) + 1
            if deaths[job.run_id] <= self.retries:
                waiting.append((job, 0.0))
                return
            ledger.write_failure(
                job.run_id,
                f"its process ended {deaths[job.run_id]} times without a result, "
                f"the last time by {cause_of_death(code)}",
                "died",
            )
            progress.failed += 1

    def _end_silent(self, running: dict[Any, _Worker], ledger: Ledger) -> None:
        """Kill processes that hang; they count as died and are begun again."""
        moment = time.monotonic()
        # Silence while the driver was stopped itself, by Ctrl-Z say, means nothing.
        was_away, self._looked = moment - self._looked > 10, moment
        for worker in running.values():
            beat = (ledger.last_beat(worker.job.run_id) or {}).get("time")
            if beat != worker.last_beat or was_away:
                worker.last_beat, worker.heard = beat, moment
            elif moment - worker.heard > self.silence_seconds:
                worker.process.kill()


def cause_of_death(code: int | None) -> str:
    """Say in words how a process ended."""
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        hint = " (the system kills this way when memory runs out)" if name == "SIGKILL" else ""
        return f"signal {name}{hint}"
    if code == STUCK:
        return "itself: its work stood still (--stuck-minutes says how long it may)"
    return f"exit code {code}"


def _in_worker(work: Work, job: Any, shared: Any, gpu: str | None) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # which its server does not hear
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu  # read when the first tensor goes there
    try:
        data = None if shared is None else shared.open()
    except FileNotFoundError:
        driver = multiprocessing.parent_process()
        if driver is None or driver.is_alive():
            raise
        sys.exit(1)  # the driver was killed, and the next one has removed its copies of data
    outcome = work(job, data)
    sys.exit({"elsewhere": ELSEWHERE, "stopped": STOPPED}.get(outcome, 0))


def _end(workers: Any) -> None:
    """Let processes save and stop; end those that do not."""
    workers = list(workers)
    for worker in workers:
        worker.process.terminate()
    deadline = time.monotonic() + 30
    for worker in workers:
        worker.process.join(max(deadline - time.monotonic(), 0))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _start_server() -> None:
    """Start the server of processes, if need be, deaf to Ctrl-C, which ends it while it loads."""
    resource_tracker.ensure_running()  # its own start would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _main_left_out() -> Iterator[None]:
    """Start a process without the script that runs the study: a worker needs nothing of it,
    and a script that is not guarded would start the study again."""
    main = sys.modules["__main__"]
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    main.__spec__ = None
    if file is not None:
        del main.__file__
    try:
        yield
    finally:
        main.__spec__ = spec
        if file is not None:
            main.__file__ = file


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let the server of processes load its libraries with one thread each."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
