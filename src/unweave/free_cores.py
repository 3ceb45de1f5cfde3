"""How many cores other work leaves free, and a run that takes no more threads than these."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

STATISTICS = Path("/proc/stat")
SECONDS = 0.2  # the kernel counts in hundredths


@contextmanager
def fewer_threads_if_busy(threads: int | None, device: torch.device) -> Iterator[str]:
    """Let torch use no more threads than cores are free, and say so; "" if it needs not.

    The threads of a run wait for each other hundreds of times a step. If one of them shares its
    core with other work, all wait, and a run of fewer is faster: docs/results/training_speed.md.
    Whoever asks for a number of threads gets that.
    """
    own = torch.get_num_threads()
    asked = threads is not None or "OMP_NUM_THREADS" in os.environ
    free = None if asked or own == 1 or device.type != "cpu" else free_cores()
    fitting = own if free is None else max(round(free), 1)
    if fitting >= own:
        yield ""
        return
    torch.set_num_threads(fitting)
    try:
        yield (
            f"{fitting} of {own} threads, as other work keeps cores busy and threads of a run wait "
            f"for each other; --threads {own} takes all"
        )
    finally:
        torch.set_num_threads(own)


def free_cores(seconds: float = SECONDS) -> float | None:
    """Return how many of the cores this process may use were idle just now; known on Linux."""
    before = _ticks()
    time.sleep(seconds)
    spent = [
        (now[0] - then[0], now[1] - then[1]) for now, then in zip(_ticks(), before, strict=True)
    ]
    if not spent or any(every <= 0 for _, every in spent):
        return None
    return sum(idle / every for idle, every in spent)


def _ticks() -> list[tuple[int, int]]:
    """Return how long each core was idle, and how long there were any, in the kernel's ticks."""
    if not STATISTICS.is_file() or not hasattr(os, "sched_getaffinity"):
        return []
    own = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    found = []
    for line in STATISTICS.read_text(encoding="ascii").splitlines():
        name, *numbers = line.split()
        if name in own:
            # user, nice, system, idle, waiting for a disk, interrupts (2), what hosts took
            ticks = [int(number) for number in numbers[:8]]
            found.append((ticks[3] + ticks[4], sum(ticks)))
    return found
