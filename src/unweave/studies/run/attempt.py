"""One attempt at a run: claimed, watched, its result or its error written once.

Knows nothing of training; `job.py` says what is computed.
"""

import faulthandler
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any, Literal

from unweave.errors import DataError
from unweave.studies.run.ledger import Ledger

Outcome = Literal["done", "failed", "elsewhere", "stopped"]
"""How an attempt ended; `elsewhere`: another process does it, or has done it."""


STUCK = 77  # exit code of a process that ended itself, because its work stood still
LONGEST_PAUSE = 1800.0
"""Seconds without a step after which a training stands still, unless the user says otherwise."""
PATIENCE = {"starting": 2.0, "training": 1.0, "scoring": 4.0}
"""How many times as long each kind of work may take: at the start data may be prepared, and
of scores nothing is heard until all are there."""


class Heartbeat:
    """Says regularly that a run is worked on; ends the process if that is not so.

    It beats in a thread of its own, while the main thread computes for minutes. So it looks
    at the work as well: a process whose work has stood still for too long, or whose driver
    has died, is ended, and the run begun again from its checkpoint.
    """

    def __init__(self, ledger: Ledger, run_id: str, longest_pause: float = LONGEST_PAUSE):
        self.ledger, self.run_id, self.longest_pause = ledger, run_id, longest_pause
        self.facts: dict[str, Any] = {"phase": "starting", "step": 0, "steps": 1}
        self.driver = multiprocessing.parent_process()
        # Ray's workers have no such parent. A thousand of them spare the disk they share.
        self.seconds = 10.0 if self.driver is None else 1.0
        self._moved = time.monotonic()
        self._wakes, self._wake = multiprocessing.Pipe(duplex=False)
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> "Heartbeat":
        self.ledger.beat(self.run_id, **self.facts)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._wake.close()
        self._thread.join()
        self._wakes.close()
        self.ledger.stop_beating(self.run_id)

    def progress(self, **facts: Any) -> None:
        """Note that the work goes on, and how far it is."""
        self.facts = {**self.facts, **facts}
        self._moved = time.monotonic()

    def _beat(self) -> None:
        ends: list[Any] = [self._wakes]
        if self.driver is not None:
            ends.append(self.driver.sentinel)
        looked = time.monotonic()
        while not (ended := wait(ends, timeout=self.seconds)):
            moment = time.monotonic()
            # Time in which not even this thread ran, as in a process that is stopped, is no pause.
            self._moved += max(moment - looked - self.seconds, 0.0)
            looked = moment
            if moment - self._moved > self.longest_pause * PATIENCE[self.facts["phase"]]:
                self._end_stuck(moment - self._moved)
            with suppress(DataError):  # news that a full disk does not take is no harm to the run
                self.ledger.beat(self.run_id, **self.facts)
        if self._wakes not in ended:
            # Nobody counts this process any more; the next driver goes on from the checkpoint.
            os._exit(1)

    def _end_stuck(self, seconds: float) -> None:
        print(
            f"{self.run_id} stands still: {self.facts['phase']} without progress for "
            f"{seconds:.0f} s, at step {self.facts['step']}. Where it stood:",
            file=sys.stderr,
        )
        faulthandler.dump_traceback()
        os._exit(STUCK)


def perform(
    ledger: Ledger,
    run_id: str,
    compute: Callable[[Heartbeat], dict[str, Any]],
    longest_pause: float = LONGEST_PAUSE,
) -> Outcome:
    """Work on a run unless somebody else does, and write its result or why it failed."""
    with ledger.claim(run_id) as ours:
        if not ours:
            return "elsewhere"
        if ledger.is_done(run_id):
            return "elsewhere"
        if ledger.failure(run_id) is not None:
            return "failed"
        try:
            with Heartbeat(ledger, run_id, longest_pause) as heartbeat:
                content = compute(heartbeat)
            return "done" if ledger.write_result(run_id, content) else "elsewhere"
        except KeyboardInterrupt:  # Stopped is one
            return "stopped"
        except Exception as error:
            try:
                ledger.write_exception(run_id, error)
            except DataError as unwritten:  # a full disk: it counts as died, and is begun again
                print(f"{run_id}: {error}\n{run_id}: {unwritten}", file=sys.stderr)
            return "failed"
