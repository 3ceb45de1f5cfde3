"""Writing files so that a crash leaves the old one or the new one, never half."""

import os
from contextlib import suppress
from pathlib import Path

from unweave.errors import DataError


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace a file: write beside it, flush to disk, rename, flush the folder.

    A full disk leaves the old file in place and no partial one behind.
    """
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")  # names of files need not be text
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
        # Where nothing can be written there is nothing to remove, and that was said above.
        with suppress(OSError):
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
