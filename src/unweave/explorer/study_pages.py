"""A study of the folder: its arms and seeds, their scores, and what labels were not needed for.

All is read from the files that a study keeps (`study.json`, `selection.json`, results of runs).
They may come from anybody, so nothing in them is taken for granted, and no path is followed
that leads out of the folder.
"""

import math
from pathlib import Path
from typing import Any

from unweave.errors import DataError, shown
from unweave.explorer.open_runs import Library, NoSuchRun
from unweave.files.json_files import read_json

MOST_RUNS = 10_000
LONGEST = 300  # characters of a name


def study(library: Library, name: str) -> dict[str, Any]:
    """Return every run of a study with its arm, seed, state, scores and terms of the loss."""
    folder = _folder(library, name)
    file = folder / "study.json"
    content = read_json(file)
    if not isinstance(content, dict) or not isinstance(content.get("runs"), list):
        raise DataError(f"{file}: expected a study with its runs, found {shown(content)}")
    entries = content["runs"][:MOST_RUNS]
    rows = [_row(library, entry, file) for entry in entries]
    selection = _selection(folder / "selection.json", {row["run"] for row in rows})
    for row in rows:
        run = row["run"]
        row["chosen_by"] = {name: runs[run] for name, runs in selection.items() if run in runs}
    varied = dict.fromkeys(path for row in rows for path in row["varied"])
    wanted = content.get("metrics")
    metrics = [m for m in wanted if isinstance(m, str)] if isinstance(wanted, list) else []
    return {
        "name": name,
        "title": _words(content.get("title") or name),
        "metrics": [m for m in metrics if any(m in row["scores"] for row in rows)],
        "settings": list(varied),
        "terms": sorted({term for row in rows for term in row["terms"]}),
        "selection": sorted(selection),
        "runs": rows,
    }


def _folder(library: Library, name: str) -> Path:
    if name in ("", ".", "..") or any(sign in name for sign in "/\\\0"):
        raise NoSuchRun(f"{name!r} is not the name of a study")
    folder = library.root / "studies" / name
    if folder.resolve() != folder or not (folder / "study.json").is_file():
        raise NoSuchRun(f"no study {name!r} in {library.root}")
    if (folder / "study.json").is_symlink():
        raise NoSuchRun(f"{name}: study.json is a link")
    return folder


def _row(library: Library, entry: Any, file: Path) -> dict[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("run"), str):
        raise DataError(f"{file}: expected a run of the study, found {shown(entry)}")
    run, varied = entry["run"], entry.get("varied")
    varied = varied if isinstance(varied, dict) else {}
    plain = {
        _words(path).removeprefix("method."): value if _is_number(value) else _words(value)
        for path, value in varied.items()
    }
    method = _words(entry.get("method"))
    said = ", ".join(f"{path} {value}" for path, value in plain.items() if path != "data")
    result = _result(library, run, entry.get("result"))
    scores, terms = _numbers(result.get("scores")), _numbers(result.get("terms"))
    failed = library.root / ".studies" / f"{run}.failed"
    is_failed = _is_name(run) and not result and failed.is_file()
    seed = entry.get("seed")
    return {
        "run": run,
        "method": method,
        "arm": f"{method}, {said}" if said else method,
        "data": _words(entry.get("data")),
        "seed": seed if type(seed) is int else None,
        "varied": plain,
        "state": "done" if result else "failed" if is_failed else "missing",
        "scores": scores,
        "terms": terms,
        "is_here": _is_name(run) and _is_inside(library.root, library.root / run / "config.json"),
    }


def _result(library: Library, run: str, place: Any) -> dict[str, Any]:
    """Return what a run gave, if it is kept where runs of studies keep it."""
    if not _is_name(run) or not isinstance(place, str):
        return {}
    file = library.root / run / "results" / Path(place).name
    if not _is_inside(library.root, file):
        return {}
    content = read_json(file)
    return content if isinstance(content, dict) else {}


def _selection(file: Path, runs: set[str]) -> dict[str, dict[str, float]]:
    """Return the scores that need no labels, by name and run; those of the last report."""
    if not file.is_file() or file.is_symlink():
        return {}
    content = read_json(file)
    scores = content.get("scores") if isinstance(content, dict) else None
    if not isinstance(scores, dict):
        return {}
    found = {_words(name): _numbers(by_run) for name, by_run in scores.items()}
    return {
        name: {run: value for run, value in by_run.items() if run in runs}
        for name, by_run in found.items()
        if by_run
    }


def _numbers(table: Any) -> dict[str, float]:
    if not isinstance(table, dict):
        return {}
    return {_words(name): float(value) for name, value in table.items() if _is_number(value)}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_name(run: str) -> bool:
    return run not in ("", ".", "..") and not any(sign in run for sign in "/\\\0")


def _is_inside(root: Path, file: Path) -> bool:
    return file.is_file() and file.resolve() == root / file.relative_to(root)


def _words(value: Any) -> str:
    return str(value)[:LONGEST]
