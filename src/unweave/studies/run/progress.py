"""How far a study is: one line on screen, and a file that the explorer reads."""

import json
import sys
import time
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, TextIO

from unweave.errors import DataError
from unweave.files.writing import write_atomically
from unweave.pages.words import duration
from unweave.studies.run.ledger import Ledger, now


class Progress:
    """Counts runs by state; prints one line and writes `status.json`, every few seconds."""

    def __init__(
        self,
        name: str,
        ledger: Ledger,
        total: int,
        done: int,
        failed: int,
        *,
        quiet: bool = False,
        stream: TextIO | None = None,
    ):
        self.name, self.ledger, self.total = name, ledger, total
        self.done, self.failed = done, failed
        self.new = 0
        """Runs that workers of this driver finished."""
        self.stream = sys.stderr if stream is None else stream
        self.quiet = quiet
        self.began, self.done_before = time.monotonic(), done
        self.file: Path = ledger.study_folder(name) / "status.json"
        self._written = self._printed = -1e9
        self._line = ""

    def show(self, running: Iterable[str], state: str = "running") -> None:
        """Renew the line and the file if it is time, or if the study is over."""
        moment = time.monotonic()
        over = state != "running"
        if moment - self._written < 1 and not over:
            return
        self._written = moment
        beats = {run_id: self.ledger.last_beat(run_id) or {} for run_id in running}
        parts = sum(b.get("step", 0) / max(b.get("steps", 1), 1) for b in beats.values())
        elapsed = moment - self.began
        gained = self.done - self.done_before + parts
        rate = gained / elapsed if elapsed > 0 else 0.0
        left = self.total - self.failed - self.done - parts
        seconds_left = left / rate if rate > 0 and not over else None
        # News of a moment that a full disk does not take are no reason to end the study.
        with nullcontext() if over else suppress(DataError):
            self._write(beats, rate, seconds_left, state)
        self._print(len(beats), rate, seconds_left, over)

    def _write(
        self, beats: dict[str, Any], rate: float, seconds_left: float | None, state: str
    ) -> None:
        content = {
            "name": self.name,
            "state": state,
            "total": self.total,
            "done": self.done,
            "failed": self.failed,
            "running": [{"run": run_id, **beat} for run_id, beat in beats.items()],
            "runs_per_minute": 60 * rate,
            "seconds_left": seconds_left,
            "updated": now(),
        }
        write_atomically(self.file, json.dumps(content) + "\n")

    def _print(self, running: int, rate: float, seconds_left: float | None, over: bool) -> None:
        if self.quiet:
            return
        line = f"{self.name}: {self.done}/{self.total} done, {running} running, "
        line += f"{self.failed} failed, {60 * rate:.2g} runs/min"
        if seconds_left is not None:
            line += f", {duration(seconds_left)} left"
        if self.stream.isatty():
            padding = " " * max(len(self._line) - len(line), 0)
            self.stream.write(f"\r{line}{padding}" + ("\n" if over else ""))
        elif over or time.monotonic() - self._printed >= 15:
            self.stream.write(line + "\n")
        else:
            return
        self._printed, self._line = time.monotonic(), line
        self.stream.flush()
