"""How many cores other work leaves idle. Known on Linux alone."""

import os
import time
from pathlib import Path

STATISTICS = Path("/proc/stat")
SECONDS = 0.2  # the kernel counts in hundredths


def free_cores(seconds: float = SECONDS) -> float | None:
    """Return how many of the cores this process may use were idle just now, if that is known."""
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
