"""Writing files so that a crash leaves the old one or the new one, never half."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unweave.errors import ConfigError, DataError


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace a file: write beside it, flush to disk, rename, flush the folder.

    A full disk leaves the old file in place and no partial one behind.
    """
    if isinstance(content, str):
        content = content.encode()
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
        flush_folder(path.parent)
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}. What was there before is kept."
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make renames in a folder survive a power loss, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
