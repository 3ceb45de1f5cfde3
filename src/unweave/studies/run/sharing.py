"""One copy of the data for many processes: as files they map, or as objects of Ray.

Sets that are memory maps already are shared by the system, and workers open them
by their names. A set held in memory is taken apart into arrays and what is needed
to put it together again; where the arrays lie is the runner's business.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unweave.data import DataParts, FactorImages, put_together, take_apart
from unweave.files.locks import try_lock

PREFIX, LOCK = "unweave-study-", ".lock"


@dataclass(frozen=True)
class MappedFiles:
    """A data set whose arrays are files that every process maps."""

    parts: DataParts
    files: Mapping[str, str]

    def open(self) -> FactorImages:
        """Return the data set."""
        arrays = {name: np.load(file, mmap_mode="r") for name, file in self.files.items()}
        return put_together(self.parts, arrays)


def as_files(data: FactorImages, folder: Path) -> MappedFiles | None:
    """Write a set held in memory to files; None if it is shared as it is."""
    apart = take_apart(data)
    if apart is None or isinstance(apart[1]["pixels"], np.memmap):
        return None
    parts, arrays = apart
    files = {}
    for index, (name, array) in enumerate(arrays.items()):
        file = folder / f"{index}.npy"
        np.save(file, array)
        files[name] = str(file)
    return MappedFiles(parts, files)


@contextmanager
def place_for_copies() -> Iterator[Path]:
    """Make a folder for a driver's copies of data; first remove those of drivers that were killed.

    Each driver holds a lock in its folder, which ends with it.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        # It may be another user's, or be removed meanwhile.
        with suppress(OSError), open(left, "r+b") as file:
            if try_lock(file):
                shutil.rmtree(left.parent)
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX) as folder,
        open(Path(folder) / LOCK, "wb") as lock,
    ):
        try_lock(lock)
        yield Path(folder)
