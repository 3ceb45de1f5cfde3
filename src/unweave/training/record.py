"""Loss terms and diagnostics → record.jsonl, one line per turn."""

import json
import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unweave.errors import DataError, Diverged
from unweave.files.json_files import read_json_lines
from unweave.files.writing import write_atomically
from unweave.methods import Turn
from unweave.runs.stored import check_line


class Record:
    """Collects the terms of every step and writes them in batches.

    Values are fetched from the device once per flush, so that a GPU is not made
    to wait after every step.
    """

    def __init__(self, path: Path, first_step: int, *, forget_evaluation: bool = False):
        """Go on with a record at a step; the evaluation before it is forgotten on wish."""
        self.path = path
        self.latest: dict[str, float] = {}
        """Newest value of each term that has been written."""
        self._waiting: list[tuple[int, str, list[str], Tensor]] = []
        self._keep_lines_before(first_step, first_step - forget_evaluation)

    def _keep_lines_before(self, first_step: int, first_evaluation: int) -> None:
        """Drop what was recorded after the checkpoint that is continued from."""
        kept = []
        for number, line, content in read_json_lines(self.path):
            entry = check_line(content, number, self.path)
            is_evaluation = entry.get("kind") == "diagnostics"
            if entry["step"] < (first_evaluation if is_evaluation else first_step):
                kept.append(line)
        write_atomically(self.path, "".join(kept))

    def add(self, step: int, turn: Turn) -> None:
        """Note the terms of a turn."""
        names = ["loss", *turn.loss.terms]
        values = torch.stack(
            [v.detach().float() for v in (turn.loss.total, *turn.loss.terms.values())]
        )
        self._waiting.append((step, turn.player, names, values))

    def add_diagnostics(self, step: int, diagnostics: dict[str, Any]) -> None:
        """Write the figures of an evaluation."""
        self.flush()
        self._append([{"step": step, "kind": "diagnostics", **diagnostics}])

    def flush(self) -> None:
        """Write what waits; raise if a term is no longer finite."""
        lines: list[dict[str, Any]] = []
        for step, player, names, values in self._waiting:
            terms = dict(zip(names, values.tolist(), strict=True))
            for name, value in terms.items():
                if not math.isfinite(value):
                    self._waiting.clear()
                    self._append(lines)
                    raise Diverged(
                        f"{name} of {player} became {value} at step {step}. Try a lower learning "
                        f"rate (--method.optimizer.learning-rate) or a warm-up of the weights; "
                        f"checkpoints before that step are kept."
                    )
            lines.append({"step": step, "player": player, **terms})
            self.latest.update(terms)
        self._waiting.clear()
        self._append(lines)

    def _append(self, lines: list[dict[str, Any]]) -> None:
        if not lines:
            return
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write("".join(json.dumps(line) + "\n" for line in lines))
        except OSError as error:
            raise DataError(f"cannot write {self.path}: {error.strerror or error}") from error
