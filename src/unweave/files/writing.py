"""Writing files so that a crash leaves the old one or the new one, never half.

What is being written has a name of its own, which no other process shares, on this
machine or another that sees the same disk, and is locked meanwhile. So what a killed
process left can be told from what is in work, and swept away by the next one.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from unweave.errors import DataError
from unweave.files.locks import try_lock

UNFINISHED = ".unfinished"
"""How names of files end that are being written."""


def write_atomically(path: Path, content: bytes | str, *, durable: bool = True) -> None:
    """Replace a file: write beside it, flush to disk, rename, flush the folder.

    A full disk leaves the old file in place and no partial one behind. What is old news
    in a moment need not be `durable`: it is not flushed, and a power loss may take it.
    """
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")  # names of files need not be text
    unfinished = unfinished_name(path)
    try:
        with open(unfinished, "wb") as lock:
            if try_lock(lock) is False:  # swept away in the very moment it was made
                return write_atomically(path, content, durable=durable)
            with open(unfinished, "wb") as file:
                file.write(content)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            if os.name != "posix":
                lock.close()  # Windows renames no file that is open
            os.replace(unfinished, path)
        if durable:
            flush_folder(path.parent)
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}. What was there before is kept."
        ) from error
    finally:
        # Where nothing can be written there is nothing to remove, and that was said above.
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def unfinished_name(path: Path) -> Path:
    """Return a name beside a file for what is to become it."""
    return path.with_name(f".{path.name[:40]}.{secrets.token_hex(8)}{UNFINISHED}")


def is_unfinished(path: Path) -> bool:
    """Whether a name is that of a file that is being written, or was when its process died."""
    return path.name.startswith(".") and path.name.endswith(UNFINISHED)


def sweep(folder: Path) -> None:
    """Remove what processes that were killed left half-written in a folder."""
    for leftover in folder.glob(f".*{UNFINISHED}"):
        with suppress(OSError), open(leftover, "r+b") as file:  # it may be renamed meanwhile
            if try_lock(file):
                leftover.unlink()


def flush_folder(folder: Path) -> None:
    """Make renames in a folder survive a power loss, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
