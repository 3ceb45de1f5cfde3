"""Files made once and kept: rendered sets, decoded folders.

Two processes preparing the same file at once give one valid file: a lock lets
one of them work, and the result appears by a rename, whole or not at all.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from unweave.errors import DataError


def cache_folder() -> Path:
    """Return the folder of prepared data: $UNWEAVE_CACHE, or unweave in the user's cache."""
    chosen = os.environ.get("UNWEAVE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unweave"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file while it is made. Ends with the process, however it dies."""
    try:
        import fcntl
    except ImportError:  # Windows: no flock; the rename alone keeps the file whole
        yield
        return
    with open(path.with_name(path.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def cached_array(
    path: Path, shape: tuple[int, ...], dtype: np.dtype, fill: Callable[[np.ndarray], None]
) -> np.ndarray:
    """Return a read-only memory map of the array at `path`, made by `fill` if it is not there.

    `fill` writes into the array it is given. A file of another shape or type, or
    one cut short, is made again.
    """
    if (ready := _open(path, shape, dtype)) is not None:
        return ready
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path):
            if (ready := _open(path, shape, dtype)) is not None:
                return ready  # another process made it while we waited
            unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
            try:
                array = np.lib.format.open_memmap(unfinished, mode="w+", dtype=dtype, shape=shape)
                fill(array)
                array.flush()
                del array
                os.replace(unfinished, path)
            finally:
                unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}. "
            f"Set UNWEAVE_CACHE to a folder with {_megabytes(shape, dtype)} MB free."
        ) from error
    ready = _open(path, shape, dtype)
    if ready is None:
        raise DataError(f"{path} was written but cannot be read back; is the disk full?")
    return ready


def _open(path: Path, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray | None:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return array if array.shape == shape and array.dtype == dtype else None


def _megabytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    return int(np.prod(shape) * np.dtype(dtype).itemsize / 1e6) + 1
