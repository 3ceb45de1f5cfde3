"""What is done, failed or in work, kept as files beside the runs; no engine remembers anything.

runs/
  NAME-…-s0/results/SCORING.json   what the run gave, written once, whole or not at all
  .studies/NAME-…-s0.lock          held by the process that works on the run
  .studies/NAME-…-s0.alive         touched while it works: step, phase, process
  .studies/NAME-…-s0.failed        why the run failed
  .studies/NAME-…-s0.SCORING.kept  what a run gave whose folder is elsewhere
  studies/STUDY/                   definition, progress, table and report of a study

Two studies that share runs, and two drivers of one study, meet here.
"""

import json
import os
import socket
import time
import traceback
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from unweave.errors import DataError, UnweaveError
from unweave.files.json_files import read_json
from unweave.files.locks import held
from unweave.files.writing import flush_folder, sweep, unfinished_name, write_atomically


@dataclass(frozen=True)
class Scoring:
    """How runs are scored; part of what makes a result the same."""

    metrics: tuple[str, ...]
    preset: str = "full"
    protocol: str | dict[str, str] | None = None

    @property
    def key(self) -> str:
        """Return a name that other ways of scoring do not share."""
        content = json.dumps({**asdict(self), "metrics": sorted(self.metrics)}, sort_keys=True)
        return sha256(content.encode()).hexdigest()[:12]


class Ledger:
    """Every read and write of the files through which workers and drivers meet."""

    def __init__(self, root: str | Path, scoring_key: str):
        self.root = Path(root)
        self.scoring_key = scoring_key
        self.desk = self.root / ".studies"

    def open(self) -> None:
        """Make the folders, and clear what killed processes left half-written there."""
        try:
            self.desk.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot make {self.desk}: {error.strerror or error}") from error
        sweep(self.desk)

    def study_folder(self, name: str) -> Path:
        """Return the folder of a study's own files, made if it is not there."""
        folder = self.root / "studies" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def run_path(self, run_id: str) -> Path:
        return self.root / run_id

    def result_file(self, run_id: str) -> Path:
        return self.run_path(run_id) / "results" / f"{self.scoring_key}.json"

    def result(self, run_id: str) -> dict[str, Any] | None:
        """Return what a run gave, or None if it is not finished."""
        return _read(self.result_file(run_id)) or _read(self._kept_file(run_id))

    def is_done(self, run_id: str) -> bool:
        return self.result_file(run_id).is_file() or self._kept_file(run_id).is_file()

    def keep_result(self, run_id: str, content: dict[str, Any]) -> None:
        """Keep what a run gave whose folder is elsewhere."""
        write_atomically(self._kept_file(run_id), json.dumps(content, indent=1) + "\n")

    def _kept_file(self, run_id: str) -> Path:
        return self.desk / f"{run_id}.{self.scoring_key}.kept"

    def write_result(self, run_id: str, content: dict[str, Any]) -> bool:
        """Write a result that is not there yet; return whether this call wrote it."""
        file = self.result_file(run_id)
        file.parent.mkdir(parents=True, exist_ok=True)
        sweep(file.parent)  # the run is claimed: nobody else writes there
        unfinished = unfinished_name(file)
        try:
            write_atomically(unfinished, json.dumps(content, indent=1) + "\n")
            # Unlike a rename, a link refuses to replace a file that is there.
            os.link(unfinished, file)
            flush_folder(file.parent)
        except FileExistsError:
            return False
        finally:
            unfinished.unlink(missing_ok=True)
        return True

    def claim(self, run_id: str) -> AbstractContextManager[bool]:
        """Hold the run, so that nobody else works on it; yields False if somebody does.

        The claim ends with the process, however it dies.
        """
        return held(self.desk / f"{run_id}.lock")

    def failure(self, run_id: str) -> dict[str, Any] | None:
        """Return why a run failed, or None if it did not."""
        return _read(self.desk / f"{run_id}.failed")

    def write_failure(self, run_id: str, message: str, kind: str, details: str = "") -> None:
        content = {
            "message": message,
            "kind": kind,
            "details": details,
            "host": socket.gethostname(),
            "time": now(),
        }
        write_atomically(self.desk / f"{run_id}.failed", json.dumps(content) + "\n")

    def write_exception(self, run_id: str, error: BaseException) -> None:
        """Record an error that a run raised; one of ours keeps its traceback."""
        is_known = isinstance(error, UnweaveError)
        details = "" if is_known else "".join(traceback.format_exception(error))
        message = str(error) or type(error).__name__
        self.write_failure(run_id, message, type(error).__name__, details)

    def forget_failure(self, run_id: str) -> None:
        (self.desk / f"{run_id}.failed").unlink(missing_ok=True)

    def beat(self, run_id: str, **facts: Any) -> None:
        """Say that the run is being worked on."""
        file = self.desk / f"{run_id}.alive"
        content = {**facts, "pid": os.getpid(), "host": socket.gethostname(), "time": time.time()}
        write_atomically(file, json.dumps(content), durable=False)

    def last_beat(self, run_id: str) -> dict[str, Any] | None:
        """Return what the worker said last, or None if nobody has begun."""
        try:
            found: dict[str, Any] = json.loads((self.desk / f"{run_id}.alive").read_text())
        except (OSError, ValueError):
            return None
        return found

    def stop_beating(self, run_id: str) -> None:
        (self.desk / f"{run_id}.alive").unlink(missing_ok=True)


def _read(file: Path) -> dict[str, Any] | None:
    """Return what a file says, or None if it is not there."""
    if not file.is_file():
        return None
    try:
        content: dict[str, Any] = read_json(file)
    except DataError as error:
        raise DataError(f"{error}. Remove it to do the run again.") from error
    return content


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
