"""This process: how many cores it may use, when it is asked to stop, how long things take."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_asked = threading.local()


@contextmanager
def asked_to_stop() -> Iterator[threading.Event]:
    """Turn SIGTERM and the first Ctrl-C into an event to look at; a second one stops at once.

    Only the main thread hears signals; in any other the event is set by `ask_to_stop` alone.
    """
    asked = threading.Event()
    _asked.events = [*getattr(_asked, "events", []), asked]
    try:
        with _heard(asked):
            yield asked
    finally:
        _asked.events = _asked.events[:-1]


def ask_to_stop() -> None:
    """Set the event of the `asked_to_stop` that this thread is in, as Ctrl-C would."""
    for asked in getattr(_asked, "events", [])[-1:]:
        asked.set()


@contextmanager
def _heard(asked: threading.Event) -> Iterator[None]:
    """Let signals set the event, in the thread that hears them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_signal(number: int, frame: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {s: signal.signal(s, on_signal) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def memory_bytes() -> int:
    """Return how much memory this machine has; as much as can be numbered where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        return sys.maxsize
