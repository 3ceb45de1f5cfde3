"""A study as a job array of Slurm: one script, whose tasks share the runs among them.

Tasks need nothing but the folder of the runs, which all nodes must see. Which runs a task does
follows from its number alone (`part_of`), so tasks can be lost, repeated and requeued; what is
done is skipped, and what was stopped goes on from its checkpoint.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from unweave.errors import ConfigError

T = TypeVar("T")
WARNING_SECONDS = 120
"""How long before its end a task is told, so that its runs are saved."""


@dataclass(frozen=True, kw_only=True)
class Slurm:
    """What a script asks Slurm for."""

    tasks: int = 10
    """Tasks of the array, among which the runs are shared."""
    at_once: int | None = None
    """Most tasks that run at a time."""
    time: str = "12:00:00"
    """Longest time of a task, as Slurm writes it; a run that it cuts off goes on when the script
    is submitted again."""
    cpus: int = 2
    """Cores of a task; it does as many runs at a time, of one thread each."""
    gpus: int = 0
    """GPUs of a task; with any, it does one run on each at a time."""
    memory: str = "4G"
    """Memory of a task."""
    partition: str | None = None
    """Partition of the cluster; by default its own."""
    account: str | None = None
    """Account that pays."""
    setup: str = ""
    """Line of shell that each task runs first, such as `module load python` or `source
    ~/env/bin/activate`."""

    def __post_init__(self) -> None:
        for name in ("tasks", "cpus", "at_once"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be 1 or more, found {value}")
        if self.gpus < 0:
            raise ConfigError(f"gpus must be 0 or more, found {self.gpus}")
        for name in ("time", "memory", "partition", "account", "setup"):
            if "\n" in (getattr(self, name) or ""):
                raise ConfigError(f"{name} must be one line")


def script(study: str, file: Path, root: Path, ask: Slurm) -> str:
    """Return the script: `sbatch FILE` submits it, as often as something is missing."""
    logs = root / "studies" / study / "slurm"
    together = f"%{ask.at_once}" if ask.at_once else ""
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name=unweave-{study}",
        f"#SBATCH --array=1-{ask.tasks}{together}",
        "#SBATCH --ntasks=1",
        f"#SBATCH --cpus-per-task={ask.cpus}",
        f"#SBATCH --mem={ask.memory}",
        f"#SBATCH --time={ask.time}",
        "#SBATCH --requeue",
        f"#SBATCH --signal=B:TERM@{WARNING_SECONDS}",
        f"#SBATCH --output={logs}/%A_%a.log",
    ]
    if ask.gpus:
        lines.append(f"#SBATCH --gpus-per-task={ask.gpus}")
    for name in ("partition", "account"):
        if getattr(ask, name):
            lines.append(f"#SBATCH --{name}={getattr(ask, name)}")
    place = ["--out", str(root)]
    run = ["unweave", "study", "run", str(file), *place, "--threads", "1"]
    if not ask.gpus:
        run += ["--workers", str(ask.cpus), "--device", "cpu"]
    report = shlex.join(["unweave", "study", "report", str(file), *place])
    lines += [
        "",
        "# Submit it again to do what is missing; when nothing is, make the report with",
        f"#   {report}",
        "set -euo pipefail",
        "export OMP_NUM_THREADS=1",
    ]
    if ask.setup:
        lines.append(ask.setup)
    part = '"$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"'
    return "\n".join([*lines, f"exec {shlex.join(run)} --part {part}", ""])


def read_part(text: str) -> tuple[int, int]:
    """Read `3/20`, the third of twenty parts."""
    number, sign, count = text.partition("/")
    if not (sign and number.isdecimal() and count.isdecimal()):
        raise ConfigError(f"part: expected K/N such as 3/20, found {text!r}")
    if not 1 <= int(number) <= int(count):
        raise ConfigError(f"part: expected K from 1 to N, found {text!r}")
    return int(number), int(count)


def part_of(runs: Sequence[T], part: tuple[int, int]) -> list[T]:
    """Return every N-th run from the K-th on: tasks get runs of every kind."""
    number, count = part
    return list(runs[number - 1 :: count])
