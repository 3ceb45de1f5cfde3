"""How long a run was trained, and on what: effort.json, an entry for each sitting.

A sitting begins when training does, or goes on, and ends when it stops, whichever way; a killed
one is known up to its last evaluation.
"""

import json
import math
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from unweave.errors import DataError, shown
from unweave.files.json_files import read_json
from unweave.files.writing import write_atomically

FILE = "effort.json"
CPU_INFO = Path("/proc/cpuinfo")
MOST_SITTINGS, LONGEST_NAME = 10_000, 200


@dataclass(frozen=True)
class Sitting:
    """One stretch of training."""

    first_step: int
    last_step: int
    seconds: float
    """By the clock."""
    cpu_seconds: float
    """Of all threads together."""
    processor: str
    cores: int
    """Those of the machine."""
    threads: int
    device: str


def processor_name() -> str:
    """Return what the processor calls itself, as far as the system says so."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", CPU_INFO.read_text(), flags=re.MULTILINE)
    except OSError:
        found = None
    return (found[1] if found else platform.processor() or platform.machine())[:LONGEST_NAME]


def core_count() -> int:
    """Return how many cores the machine has."""
    return os.cpu_count() or 1


def write_sittings(run_folder: Path, sittings: Sequence[Sitting]) -> None:
    """Keep all sittings of a run."""
    content = json.dumps([asdict(sitting) for sitting in sittings], indent=1)
    write_atomically(run_folder / FILE, content + "\n")


def read_sittings(run_folder: Path) -> list[Sitting]:
    """Return the sittings of a run; none of one trained before they were kept."""
    file = run_folder / FILE
    if not file.is_file():
        return []
    content = read_json(file)
    if not isinstance(content, list) or len(content) > MOST_SITTINGS:
        raise DataError(f"{file}: expected a list of sittings, found {shown(content)}")
    return [_checked(entry, file) for entry in content]


def _checked(entry: object, file: Path) -> Sitting:
    kinds = Sitting.__annotations__
    if not isinstance(entry, dict) or set(entry) != set(kinds):
        raise DataError(f"{file}: expected {', '.join(kinds)}, found {shown(entry)}")
    for name, kind in kinds.items():
        value = entry[name]
        if kind is str:
            fits = isinstance(value, str) and len(value) <= LONGEST_NAME
        else:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            fits = number and math.isfinite(value) and 0 <= value < 2**53
        if not fits:
            raise DataError(f"{file}: {name} is {shown(value)}; remove the file")
    return Sitting(**entry)
