"""Files made once and kept: rendered sets, decoded folders.

Two processes preparing the same thing at once give one valid result: a lock lets
one of them work, and the result appears by a rename, whole or not at all. What a
killed process left unfinished is cleared away by the next one.
"""

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from unweave.errors import DataError
from unweave.files.locks import held
from unweave.files.writing import flush_folder


def cache_folder() -> Path:
    """Return the folder of prepared data: $UNWEAVE_CACHE, or unweave in the user's cache."""
    chosen = os.environ.get("UNWEAVE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unweave"


def cache_key(files: Iterable[Path], *settings: object) -> str:
    """Return a name that changes when a file or a setting does.

    A file is known by its place, size and time of change, not by its content,
    which may take minutes to read.
    """
    digest = hashlib.sha256(json.dumps(settings).encode())
    for file in files:
        try:
            about = file.stat()
        except OSError as error:
            raise DataError(f"cannot read {file}: {error.strerror or error}") from error
        line = f"{os.path.abspath(file)}\0{about.st_size}\0{about.st_mtime_ns}\n"
        digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()[:20]


def new_array(path: Path, shape: tuple[int, ...], dtype: np.dtype) -> np.memmap:
    """Create an array file and map it for writing.

    Its space is reserved at once: on a disk that fills up later, writing to a
    map would kill the process instead of raising an error.
    """
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    if hasattr(os, "posix_fallocate") and array.nbytes:
        with open(path, "r+b") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, os.path.getsize(path))
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # some disks cannot
                    raise
    return array


def open_array(path: Path) -> np.ndarray | None:
    """Map an array file for reading, or return None if it is missing or damaged."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None


def cached_array(
    path: Path, shape: tuple[int, ...], dtype: np.dtype, fill: Callable[[np.ndarray], None]
) -> np.ndarray:
    """Return a read-only memory map of the array at `path`, made by `fill` if it is not there.

    `fill` writes into the array it is given. A file of another shape or type, or
    one cut short, is made again.
    """

    def ready() -> np.ndarray | None:
        array = open_array(path)
        fits = array is not None and array.shape == shape and array.dtype == dtype
        return array if fits else None

    def make(unfinished: Path) -> None:
        array = new_array(unfinished, shape, dtype)
        fill(array)
        array.flush()

    return _made_once(path, ready, make, needed=int(np.prod(shape)) * np.dtype(dtype).itemsize)


def cached_folder(
    path: Path, make: Callable[[Path], None], *, notes: str, needed: int
) -> tuple[np.ndarray, Any]:
    """Return a memory map of images and notes on them, prepared by `make` if they are not there.

    `make` gets an empty folder, in which it writes `images.npy` and a JSON file
    called `notes`. `needed` is about how many bytes that takes, for the message
    when there is no room.
    """

    def ready() -> tuple[np.ndarray, Any] | None:
        images = open_array(path / "images.npy")
        try:
            about = json.loads((path / notes).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return None if images is None else (images, about)

    def make_folder(unfinished: Path) -> None:
        unfinished.mkdir()
        make(unfinished)

    return _made_once(path, ready, make_folder, needed)


def _made_once(
    path: Path, ready: Callable[[], Any], make: Callable[[Path], None], needed: int
) -> Any:
    if (result := ready()) is not None:
        return result
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with held(path.with_name(path.name + ".lock"), waits=True):
            if (result := ready()) is not None:
                return result  # another process made it while we waited
            for leftover in path.parent.glob(f"{path.name}.*.unfinished"):
                if _owner_is_gone(leftover):
                    _remove(leftover)
            # Two machines on one disk may have processes of the same number.
            number, token = os.getpid(), secrets.token_hex(4)
            unfinished = path.with_name(f"{path.name}.{token}.{number}.unfinished")
            try:
                make(unfinished)
                _sync(unfinished)
                if path.is_dir():
                    shutil.rmtree(path)  # damaged; a folder cannot be renamed over another
                os.replace(unfinished, path)
                flush_folder(path.parent)
            finally:
                _remove(unfinished)
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}. "
            f"Set UNWEAVE_CACHE to a folder with {needed / 1e6:,.0f} MB free."
        ) from error
    if (result := ready()) is None:
        raise DataError(f"{path} was written but cannot be read back; is the disk full?")
    return result


def _sync(path: Path) -> None:
    """Bring what was written to the disk, so that a rename never outlives its content."""
    for file in path.iterdir() if path.is_dir() else (path,):
        with open(file, "rb") as opened:
            os.fsync(opened.fileno())
    if path.is_dir():
        flush_folder(path)


def _owner_is_gone(unfinished: Path) -> bool:
    """Whether the process that was writing this has ended.

    Under the lock that is certain, unless there are no locks on this system.
    """
    return os.name == "posix" or str(os.getpid()) == unfinished.name.split(".")[-2]


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
