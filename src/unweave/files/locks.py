"""Locks that end with their holder, however it dies."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unweave.errors import ConfigError


@contextmanager
def sole_owner(path: Path, refusal: str) -> Iterator[None]:
    """Hold the lock at `path`, or raise `refusal` if another process holds it.

    The lock ends with the process, however it dies.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no flock: two writers are not noticed there
        yield
        return
    with open(path, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(refusal) from None
        yield
