"""What the files of a run folder say, checked as it is read.

A folder may come from anybody, and may be damaged. Whoever looks at a run can rely on what
passes here: whatever else was found is refused in one line that names the file.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unweave.data import DataSummary
from unweave.errors import DataError, shown

MOST_STEPS = 2**53
"""Steps that a real number still tells apart; no run has as many."""
LARGEST_IMAGE = 2**28
"""Values of an image; a gigabyte as networks see it."""
NUMBERS = ("elbo", "least_kl")
"""Diagnostics that views take to be numbers."""


def check_status(content: Any, file: Path) -> dict[str, Any]:
    """Return the state of a run and what belongs to it."""
    if not isinstance(content, dict) or not isinstance(content.get("state"), str):
        raise DataError(f"{file}: expected a state, found {shown(content)}")
    step = content.get("step", 0)
    if not is_step(step):
        raise DataError(f"{file}: expected a step from 0, found {shown(step)}")
    message = content.get("message")
    if message is not None and not isinstance(message, str):
        raise DataError(f"{file}: expected a message in words, found {shown(message)}")
    return content


def check_line(entry: Any, number: int, file: Path) -> dict[str, Any]:
    """Return a line of the record: a step, and terms or diagnostics by name."""
    if not isinstance(entry, dict) or not is_step(entry.get("step")):
        raise DataError(
            f"{file}, line {number}: expected a step and its terms, found {shown(entry)}. "
            f"Remove the line"
        )
    for name, value in entry.items():
        if not _fits_record(name, value):
            raise DataError(
                f"{file}, line {number}: {shown(name)} is {shown(value)}. Remove the line"
            )
    return entry


def _fits_record(name: str, value: Any) -> bool:
    """Whether a line of the record may say so; what went wrong in training may be no number."""
    if name in ("player", "kind"):
        return isinstance(value, str)
    if name in NUMBERS or name.startswith("rate_"):
        return _is_real(value)
    if name == "kl_per_dimension":
        return isinstance(value, list) and all(map(_is_real, value))
    return not isinstance(value, int) or abs(value) <= MOST_STEPS


def _is_real(value: Any) -> bool:
    return is_number(value) or isinstance(value, float)


def check_scores(content: Any, file: Path) -> dict[str, Any]:
    """Return scores by metric."""
    if not isinstance(content, dict):
        raise DataError(f"{file}: expected scores by metric, found {shown(content)}")
    for name, entry in content.items():
        problem = _wrong_in_score(entry)
        if problem is not None:
            raise DataError(
                f"{file}: the score {shown(name)} {problem}. Remove the file and score again"
            )
    return content


def _wrong_in_score(entry: Any) -> str | None:
    """Say what is wrong with a stored score, if anything is."""
    if not isinstance(entry, dict) or "value" not in entry:
        return f"has no value: {shown(entry)}"
    value = entry["value"]
    if value is not None and not is_number(value):
        return f"has the value {shown(value)}; expected a number or null"
    for key in ("parts", "nulls", "made", "details"):
        if not isinstance(entry.get(key) or {}, dict):
            return f"has {key} {shown(entry[key])}; expected them by name"
    parts, nulls = entry.get("parts") or {}, entry.get("nulls") or {}
    made, details = entry.get("made") or {}, entry.get("details") or {}
    notes, interval = entry.get("notes") or [], details.get("interval")
    fine = {
        "higher_is_better": isinstance(entry.get("higher_is_better", True), bool),
        "protocol": isinstance(entry.get("protocol", ""), str),
        "reason": isinstance(entry.get("reason", ""), str),
        "parts": all(map(is_number, parts.values())),
        "nulls": all(_are_numbers(draws) and draws for draws in nulls.values()),
        "made": isinstance(made.get("preset", ""), str)
        and isinstance(made.get("continuous_factors", []), list)
        and all(is_number(made.get(name, 0)) for name in ("rows", "wanted_rows", "concepts")),
        "notes": isinstance(notes, list) and all(isinstance(note, str) for note in notes),
        "details": interval is None or (_are_numbers(interval) and len(interval) == 2),
    }
    wrong = [key for key, is_fine in fine.items() if not is_fine]
    return f"has {wrong[0]} of another form than we write" if wrong else None


def check_silenced(content: Any, file: Path) -> dict[str, Any]:
    """Return which latents were silenced."""
    latents = content.get("latents") if isinstance(content, dict) else None
    if not isinstance(latents, list) or not all(map(is_step, latents)):
        raise DataError(f"{file}: expected the latents that were silenced, found {shown(content)}")
    found: dict[str, Any] = content
    return found


def check_summary(content: Mapping[str, Any], file: Path) -> DataSummary:
    """Return the sizes of the data that a run was trained on."""
    shape, rows = content.get("image_shape"), content.get("rows", 0)
    sizes = content.get("column_sizes", {})
    if not (isinstance(shape, list) and len(shape) == 3 and all(is_step(n) and n for n in shape)):
        raise DataError(f"{file}: expected image_shape of 3 numbers from 1, found {shown(shape)}")
    if math.prod(shape) > LARGEST_IMAGE:
        raise DataError(
            f"{file}: images of {shown(shape)} have more than {LARGEST_IMAGE:,} values each"
        )
    if not is_step(rows):
        raise DataError(f"{file}: expected rows from 0, found {shown(rows)}")
    if not isinstance(sizes, dict) or not all(map(is_step, sizes.values())):
        raise DataError(f"{file}: expected column_sizes by name, found {shown(sizes)}")
    return DataSummary((shape[0], shape[1], shape[2]), rows, sizes)


def is_step(value: Any) -> bool:
    """Whether a value is a whole number from 0, of a size that is possible."""
    return type(value) is int and 0 <= value <= MOST_STEPS


def is_number(value: Any) -> bool:
    """Whether a value is a finite number that is no truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= MOST_STEPS if isinstance(value, int) else math.isfinite(value)


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(map(is_number, values))
