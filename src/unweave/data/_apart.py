"""A data set taken apart into arrays and what puts them together again.

So several processes hold one copy: where the arrays lie is the business of whoever asks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.data._dataset import Column, FactorImages
from unweave.data._factor import Factor
from unweave.data._pixels import BitPixels, BytePixels, FloatPixels, Pixels, SelectedPixels

Arrays = dict[str, np.ndarray]

OF_ROWS = ("held_out", "weights", "inverse_weights")
"""What an arrangement of a set knows of each row, if it is arranged."""


@dataclass(frozen=True)
class DataParts:
    """A data set without its arrays."""

    name: str
    kinds: tuple[str, ...]
    """How the pixels are kept: the selection first, if there is one."""
    options: Mapping[str, Any]
    factors: tuple[Factor, ...]
    partitions: tuple[str, ...]
    columns: tuple[Factor, ...]
    has_table: bool
    note: str
    graph: Mapping[str, tuple[str, ...]]
    splits: Mapping[str, str]
    known: bool


def take_apart(data: FactorImages) -> tuple[DataParts, Arrays] | None:
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
    for name in OF_ROWS:
        if (values := getattr(data, name)) is not None:
            arrays[name] = values
    arrays |= {f"partition {name}": rows for name, rows in data.partitions.items()}
    arrays |= {f"column {name}": column.values for name, column in data.columns.items()}
    parts = DataParts(
        name=data.name,
        kinds=tuple(kinds),
        options=options,
        factors=data.factor_list,
        partitions=tuple(data.partitions),
        columns=tuple(column.factor for column in data.columns.values()),
        has_table=has_table,
        note=data.note,
        graph=data.graph,
        splits=data.splits,
        known=data.known,
    )
    return parts, arrays


def put_together(parts: DataParts, arrays: Mapping[str, np.ndarray]) -> FactorImages:
    """Return the data set that was taken apart; its arrays are not copied."""
    makers: dict[str, Callable[..., Pixels]] = {
        "bytes": BytePixels,
        "floats": FloatPixels,
        "bits": BitPixels,
    }
    pixels = makers[parts.kinds[-1]](arrays["pixels"], **parts.options)
    if parts.kinds[0] == "selected":
        pixels = SelectedPixels(pixels, arrays["rows"])
    data = FactorImages(
        parts.name,
        pixels,
        parts.factors,
        arrays["table"] if parts.has_table else None,
        {name: arrays[f"partition {name}"] for name in parts.partitions},
        [Column(factor, arrays[f"column {factor.name}"]) for factor in parts.columns],
        arrays["row numbers"],
        parts.note,
        parts.graph,
        parts.splits,
    )
    data.known = parts.known
    for name in OF_ROWS:
        setattr(data, name, arrays.get(name))
    return data
