"""The tidy table of a study: one row per run, one column per setting, score and figure."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from unweave.errors import ConfigError
from unweave.files.writing import write_atomically
from unweave.runs.config import to_json
from unweave.settings.plain import to_plain
from unweave.studies.define.expansion import Plan, PlannedRun, short
from unweave.studies.run.ledger import Ledger

EFFORT = ("parameters", "train_seconds", "train_cpu_seconds", "score_seconds", "peak_megabytes")
"""What a run took, by the names of results and of columns."""
MADE_BY = "made_by"
"""The column that tells lines of other settings or protocols."""


@dataclass(frozen=True)
class StudyTable:
    """Rows of plain values; what a run does not have is None."""

    rows: list[dict[str, Any]]
    settings: list[str]
    """Columns that the study varies."""
    metrics: list[str]
    """Columns of scores."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def done(self) -> "StudyTable":
        """Return the rows of finished runs."""
        kept = [row for row in self.rows if row["state"] == "done"]
        return StudyTable(kept, self.settings, self.metrics)

    def where(self, **values: Any) -> "StudyTable":
        """Return the rows that have these values."""
        kept = [row for row in self.rows if all(row.get(k) == v for k, v in values.items())]
        return StudyTable(kept, self.settings, self.metrics)

    def column(self, name: str) -> np.ndarray:
        """Return a column of numbers; NaN where there is none."""
        return np.array(
            [np.nan if row.get(name) is None else float(row[name]) for row in self.rows]
        )

    def with_scores(self, chosen: Mapping[str, Mapping[str, float]]) -> "StudyTable":
        """Return the table with what scores without labels say of its runs, a column for each."""
        of_runs = [
            {name: scores.get(row["run"]) for name, scores in chosen.items() if scores}
            for row in self.rows
        ]
        rows = [row | said for row, said in zip(self.rows, of_runs, strict=True)]
        return StudyTable(rows, self.settings, self.metrics)

    def arms(self) -> dict[str, "StudyTable"]:
        """Return the rows by arm: runs that differ by their seed only."""
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows:
            groups.setdefault(row["arm"], []).append(row)
        return {arm: StudyTable(rows, self.settings, self.metrics) for arm, rows in groups.items()}

    def to_csv(self, path: Path) -> None:
        """Write the table with a header."""
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=self._columns(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_atomically(path, text.getvalue())

    def to_parquet(self, path: Path) -> None:
        """Write the table as a Parquet file (needs unweave[table])."""
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise ConfigError(
                "a Parquet file needs pyarrow: pip install 'unweave[table]'"
            ) from None
        columns = {name: [row.get(name) for row in self.rows] for name in self._columns()}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)

    def write(self, path: str | Path) -> Path:
        """Write the table in the format that the file's ending names."""
        path = Path(path)
        if path.suffix not in (".csv", ".parquet"):
            raise ConfigError(f"{path}: expected a file ending in .csv or .parquet")
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.to_csv if path.suffix == ".csv" else self.to_parquet)(path)
        return path

    def _columns(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row))


def make_table(plan: Plan, ledger: Ledger) -> StudyTable:
    """Gather the results of a study's runs, also of those that are missing."""
    varied = _varied(plan)
    rows = []
    for run in plan.runs:
        result = ledger.result(run.run_id)
        failure = None if result is not None else ledger.failure(run.run_id)
        rows.append(_row(plan, run, varied, result, failure))
    return StudyTable(rows, [short(path) for path in varied], list(plan.metrics))


def columns_of_all(plan: Plan) -> set[str]:
    """Return the columns that every run of a study has, done or not; terms of losses are others."""
    return set(_row(plan, plan.runs[0], _varied(plan), None, None))


def _varied(plan: Plan) -> list[str]:
    varied = dict.fromkeys(path for run in plan.runs for path in run.varied)
    return [path for path in varied if path != "data"]


def _row(
    plan: Plan,
    run: PlannedRun,
    varied: list[str],
    result: dict[str, Any] | None,
    failure: dict[str, Any] | None,
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "run": run.run_id,
        "method": run.method,
        "arm": run.arm,
        "data": run.config.data,
        "seed": run.config.seed,
    }
    row |= {short(path): _simple(run.varied.get(path)) for path in varied}
    state = "done" if result else "failed" if failure else "missing"
    row |= {"steps": run.config.steps, "batch_size": run.config.batch_size, "state": state}
    found = result or {}
    row |= {name: found.get("scores", {}).get(name) for name in plan.metrics}
    row |= found.get("terms", {})
    row["active_dimensions"] = found.get("diagnostics", {}).get("active_dimensions")
    row |= {name: found.get(name) for name in EFFORT}
    row["images_per_second"] = _rate(found, run.config.batch_size)
    row["error"] = None if failure is None else failure["message"]
    row[MADE_BY] = made_by(plan, run)
    return row


def made_by(plan: Plan, run: PlannedRun) -> str:
    """Return a digest of all that makes a line: every setting, also default ones, and protocols.

    Names of runs leave out what is the default, so a default that changes does not rename them.
    """
    content = {
        "settings": to_json(run.config),
        "preset": plan.study.preset,
        "protocol": to_plain(plan.study.protocol),
    }
    text = json.dumps(content, sort_keys=True, default=str)
    return "x" + sha256(text.encode()).hexdigest()[:12]  # never to be read as a number


def read_csv(path: Path) -> StudyTable:
    """Read a table that was written as CSV; numbers are numbers again, and nothing is None.

    Which columns are settings and which are scores the file does not say: any may be asked for.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{key: _read(value) for key, value in row.items()} for row in csv.DictReader(file)]
    columns = list(rows[0]) if rows else []
    return StudyTable(rows, columns, columns)


def _read(text: str | None) -> Any:
    """Return what a cell says: a number, true or false, words, or None where it is empty."""
    if not text:
        return None
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _simple(value: Any) -> Any:
    """Return a value a cell can hold."""
    plain = to_plain(value)
    return plain if plain is None or isinstance(plain, (int, float, str, bool)) else str(plain)


def _rate(result: dict[str, Any], batch_size: int) -> float | None:
    seconds, steps = result.get("train_seconds"), result.get("steps_trained_here")
    return batch_size * steps / seconds if seconds and steps else None
