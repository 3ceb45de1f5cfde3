"""What the list of runs shows: a line per run, how far it is, and what has changed since."""

import json
import os
from typing import Any

from unweave import catalog
from unweave.errors import DataError, UnweaveError
from unweave.explorer.kept_pictures import has_thumbnail
from unweave.explorer.open_runs import Library, weights_signature
from unweave.files.json_files import read_json
from unweave.metrics import protocol_words
from unweave.runs.config import Train, named
from unweave.runs.folder import RunFolder

TAIL = 65_536  # bytes at the end of a record in which its last step stands


def all_runs(library: Library, since: int = 0) -> dict[str, Any]:
    """Return a line per run that has changed since a list of that version; 0 gives them all.

    `gone` are runs that were in the list then and are no more. `metrics` are those that any
    run was scored with.
    """
    with library.listing:
        lines = [run_line(library, name) for name in library.names()]
        gone = library.gone({line["name"] for line in lines}, since)
        version = library.version
    metrics: dict[str, bool] = {}
    for line in lines:
        for metric, score in line["scores"].items():
            metrics[metric] = score["higher_is_better"]
    return {
        "folder": library.root.name,
        "version": version,
        "studies": studies(library),
        "runs": [line for line in lines if line["version"] > since],
        "gone": gone,
        "metrics": [{"name": m, "higher_is_better": metrics[m]} for m in sorted(metrics)],
    }


def studies(library: Library) -> list[dict[str, Any]]:
    """Return how far each study of the folder is, as its `studies/NAME/status.json` says."""
    found: list[dict[str, Any]] = []
    for file in sorted(library.root.glob("studies/*/status.json")):
        if file.resolve() != file:  # a link, perhaps to the outside
            continue
        try:
            status = read_json(file)
        except DataError as error:
            found.append({"name": file.parent.name, "state": "unreadable", "problem": str(error)})
            continue
        if not isinstance(status, dict):
            status = {}
        counts = {
            key: status[key] if isinstance(status.get(key), int | float) else None
            for key in ("total", "done", "failed", "seconds_left")
        }
        running = status.get("running")
        found.append(
            {
                "name": file.parent.name,
                "state": str(status.get("state", "unknown")),
                "running": len(running) if isinstance(running, list) else 0,
                **counts,
                "problem": None,
            }
        )
    return found


def run_line(library: Library, name: str) -> dict[str, Any]:
    """Return what the list says of a run; a run that cannot be read says why."""
    try:
        folder = library.folder(name)
        line = library.remembered(name, folder, lambda: _run_line(name, folder))
    except (UnweaveError, OSError) as error:
        line = {"name": name, "state": "unreadable", "scores": {}, "problem": str(error)}
    return library.numbered(name, line)


def _run_line(name: str, folder: RunFolder) -> dict[str, Any]:
    config, _ = folder.read_config()
    created = read_json(folder.config_file).get("created")
    return {
        "name": name,
        **in_short(config),
        **progress(folder),
        "created": created,
        "has_picture": has_thumbnail(folder),
        "scores": short_scores(folder.scores()),
        "problem": None,
    }


def in_short(config: Train) -> dict[str, Any]:
    method = config.method
    knob = method.main_knob
    return {
        "method": catalog.name_of(method),
        "knob": knob,
        "knob_value": named(method).get(knob),
        "data": config.data,
        "seed": config.seed,
        "steps": config.steps,
    }


def progress(folder: RunFolder) -> dict[str, Any]:
    """Return how far a run is, and words that change when its curves and weights do."""
    status = folder.status()
    step = status["step"] if isinstance(status.get("step"), int) else 0
    record = f"{folder.record_file.stat().st_size}" if folder.record_file.is_file() else ""
    if status["state"] == "running":
        step = max(step, _last_step(folder))
    return {
        "state": _lost(status) or status["state"],
        "step": step,
        "message": status.get("message"),
        "curves_version": record,
        "weights_version": weights_signature(folder),
        "scores_version": _modified(folder),
    }


def _lost(status: dict[str, Any]) -> str | None:
    """Tell a run whose process is gone from one that is running, where the system can say."""
    pid = status.get("pid")
    if status["state"] != "running" or not isinstance(pid, int) or os.name != "posix":
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return "lost"
    except PermissionError:
        return None
    return None


def _modified(folder: RunFolder) -> str:
    return str(folder.scores_file.stat().st_mtime_ns) if folder.scores_file.is_file() else ""


def _last_step(folder: RunFolder) -> int:
    """Read the step off the last whole line of the record."""
    if not folder.record_file.is_file():
        return 0
    with open(folder.record_file, "rb") as file:
        file.seek(max(0, folder.record_file.stat().st_size - TAIL))
        lines = file.read().split(b"\n")[:-1]
    for line in reversed(lines):
        try:
            return int(json.loads(line)["step"]) + 1
        except (ValueError, KeyError, TypeError):
            continue
    return 0


def short_scores(scores: dict[str, Any]) -> dict[str, Any]:
    """Return value, direction and protocol of each score that could be computed."""
    return {
        metric: {
            "value": entry["value"],
            "higher_is_better": entry.get("higher_is_better", True),
            "protocol": protocol_words(entry),
        }
        for metric, entry in scores.items()
        if entry["value"] is not None
    }
