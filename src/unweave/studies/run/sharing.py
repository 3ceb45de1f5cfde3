"""One copy of the data for many processes: as files they map, or as objects of Ray.

Sets that are memory maps already are shared by the system, and workers open them
by their names. A set held in memory is taken apart into arrays and what is needed
to put it together again; where the arrays lie is the runner's business.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unweave.data import Column, Factor, FactorImages
from unweave.data._pixels import BitPixels, BytePixels, FloatPixels, Pixels, SelectedPixels

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Parts:
    """A data set without its arrays."""

    name: str
    kinds: tuple[str, ...]
    """How the pixels are kept: the selection first, if there is one."""
    options: Mapping[str, Any]
    factors: tuple[Factor, ...]
    partitions: tuple[str, ...]
    columns: tuple[Factor, ...]
    has_table: bool


def take_apart(data: FactorImages) -> tuple[Parts, Arrays] | None:
    """Return a data set as parts and arrays, or None if its images are made by a function."""
    arrays: Arrays = {"row numbers": data.row_numbers}
    kinds: list[str] = []
    options: dict[str, Any] = {}
    pixels: Pixels = data.pixels
    if isinstance(pixels, SelectedPixels):
        kinds.append("selected")
        arrays["rows"] = pixels.rows
        pixels = pixels.pixels
    if isinstance(pixels, BytePixels):
        kinds.append("bytes")
        arrays["pixels"] = pixels.array
        options = {"white": pixels.white, "channels_first": pixels.channels_first}
    elif isinstance(pixels, FloatPixels):
        kinds.append("floats")
        arrays["pixels"] = pixels.array
    elif isinstance(pixels, BitPixels):
        kinds.append("bits")
        arrays["pixels"] = pixels.words
    else:
        return None
    if has_table := not data.is_grid:
        arrays["table"] = data.factors()
    arrays |= {f"partition {name}": rows for name, rows in data.partitions.items()}
    arrays |= {f"column {name}": column.values for name, column in data.columns.items()}
    parts = Parts(
        name=data.name,
        kinds=tuple(kinds),
        options=options,
        factors=data.factor_list,
        partitions=tuple(data.partitions),
        columns=tuple(column.factor for column in data.columns.values()),
        has_table=has_table,
    )
    return parts, arrays


def put_together(parts: Parts, arrays: Mapping[str, np.ndarray]) -> FactorImages:
    """Return the data set that was taken apart; its arrays are not copied."""
    makers: dict[str, Callable[..., Pixels]] = {
        "bytes": BytePixels,
        "floats": FloatPixels,
        "bits": BitPixels,
    }
    pixels = makers[parts.kinds[-1]](arrays["pixels"], **parts.options)
    if parts.kinds[0] == "selected":
        pixels = SelectedPixels(pixels, arrays["rows"])
    return FactorImages(
        parts.name,
        pixels,
        parts.factors,
        arrays["table"] if parts.has_table else None,
        {name: arrays[f"partition {name}"] for name in parts.partitions},
        [Column(factor, arrays[f"column {factor.name}"]) for factor in parts.columns],
        arrays["row numbers"],
    )


@dataclass(frozen=True)
class MappedFiles:
    """A data set whose arrays are files that every process maps."""

    parts: Parts
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
