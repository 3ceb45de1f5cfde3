"""How long training took, and on what."""

import logging
import time
from typing import Any

import torch

from unweave.errors import DataError
from unweave.runs.effort import (
    Sitting,
    core_count,
    processor_name,
    read_sittings,
    write_sittings,
)
from unweave.runs.run import Run
from unweave.training.loop import Watcher

log = logging.getLogger(__name__)


class Effort(Watcher):
    """Keeps how long training took and on what, for the report."""

    def __init__(self) -> None:
        self.run: Run | None = None

    def started(self, run: Run, first_step: int) -> None:
        self.run, self.first_step = run, first_step
        self.began, self.cpu_began = time.monotonic(), time.process_time()
        self.step = first_step
        try:
            self.before = read_sittings(run.path)
        except DataError as error:
            log.warning("%s; it is written anew", error)
            self.before = []

    def stepped(self, step: int) -> None:
        self.step = step

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        write_sittings(run.path, [*self.before, self._sitting()])

    def stopped(self) -> None:
        if self.run is None:  # it was refused before it began
            return
        try:
            write_sittings(self.run.path, [*self.before, self._sitting()])
        except OSError as error:  # what stopped the run, a full disk for instance, matters more
            log.warning("how long the run took is not kept: %s", error)

    def _sitting(self) -> Sitting:
        assert self.run is not None, "told when it began"
        return Sitting(
            self.first_step,
            self.step,
            round(time.monotonic() - self.began, 2),
            round(time.process_time() - self.cpu_began, 2),
            processor_name(),
            core_count(),
            torch.get_num_threads(),
            self.run.device.type,
        )
