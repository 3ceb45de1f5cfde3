"""One attempt at a run: claimed, watched, its result or its error written once.

Knows nothing of training; `job.py` says what is computed.
"""

import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any, Literal

from unweave.studies.run.ledger import Ledger

Outcome = Literal["done", "failed", "elsewhere", "stopped"]


class Heartbeat:
    """Says regularly that a run is worked on; ends the process if its driver has died."""

    def __init__(self, ledger: Ledger, run_id: str):
        self.ledger, self.run_id = ledger, run_id
        self.facts: dict[str, Any] = {"phase": "starting", "step": 0, "steps": 1}
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

    def _beat(self) -> None:
        driver = multiprocessing.parent_process()
        # Ray's workers have no such parent. A thousand of them spare the disk they share.
        seconds = 10.0 if driver is None else 1.0
        ends: list[Any] = [self._wakes] if driver is None else [self._wakes, driver.sentinel]
        while not (ended := wait(ends, timeout=seconds)):
            self.ledger.beat(self.run_id, **self.facts)
        if self._wakes not in ended:
            # Nobody counts this process any more; the next driver goes on from the checkpoint.
            os._exit(1)


def perform(ledger: Ledger, run_id: str, compute: Callable[[Heartbeat], dict[str, Any]]) -> Outcome:
    """Work on a run unless somebody else does, and write its result or why it failed."""
    with ledger.claim(run_id) as ours:
        if not ours:
            return "elsewhere"
        if ledger.is_done(run_id):
            return "done"
        if ledger.failure(run_id) is not None:
            return "failed"
        try:
            with Heartbeat(ledger, run_id) as heartbeat:
                content = compute(heartbeat)
        except KeyboardInterrupt:  # Stopped is one
            return "stopped"
        except Exception as error:
            ledger.write_exception(run_id, error)
            return "failed"
        ledger.write_result(run_id, content)
        return "done"
