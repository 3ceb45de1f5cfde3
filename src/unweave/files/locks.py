"""Locks that end with their holder, however it dies."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from unweave.errors import ConfigError, DataError


@contextmanager
def held(path: Path, *, waits: bool = False) -> Iterator[bool]:
    """Hold the lock at `path`; yield False if another process holds it, unless this one waits.

    Windows has no such locks: there every process is told that it holds them.
    """
    try:
        import fcntl
    except ImportError:
        yield True
        return
    with open(path, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
            ours = True
        except BlockingIOError:
            ours = False
        yield ours


@contextmanager
def sole_owner(path: Path, refusal: str) -> Iterator[None]:
    """Hold the lock at `path`, or raise `refusal` if another process holds it."""
    with ExitStack() as stack:
        try:
            ours = stack.enter_context(held(path))
        except OSError as error:
            raise DataError(f"cannot lock {path}: {error.strerror or error}") from error
        if not ours:
            raise ConfigError(refusal)
        yield
