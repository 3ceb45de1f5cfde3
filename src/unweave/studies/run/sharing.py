"""One copy of the data for many processes: as files they map, or as objects of Ray.

Sets that are memory maps already are shared by the system, and workers open them
by their names. A set held in memory is taken apart into arrays and what is needed
to put it together again; where the arrays lie is the runner's business.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unweave.data import DataParts, FactorImages, put_together, take_apart


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
