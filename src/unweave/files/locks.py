"""Locks that end with their holder, however it dies."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from unweave.errors import ConfigError, DataError


def try_lock(file: IO[Any]) -> bool | None:
    """Lock an open file; return False if another process has it, None where there are no locks.

    The lock ends when the file is closed, or with the process.
    """
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # Windows, and disks that know no locks
        return None
    return True


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
