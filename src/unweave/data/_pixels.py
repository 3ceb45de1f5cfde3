"""Where images live: arrays, memory maps, bits, or a function that makes them.

Each kind hands out float images in [0, 1] for the rows asked for and nothing
more, so that a set larger than memory trains like a small one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from unweave.errors import DataError

Shape = tuple[int, int, int]
"""Channels, height, width."""


class Pixels(Protocol):
    """Images by row number."""

    @property
    def shape(self) -> Shape: ...

    def __len__(self) -> int: ...

    def gather(self, rows: np.ndarray, rng: Generator) -> np.ndarray:
        """Return float32 images (row, channel, height, width) in [0, 1].

        Only images with a random part, such as a noisy background, use `rng`.
        """
        ...


class BytePixels:
    """Images in an array or memory map of bytes or of 16 bits: (row, height, width[, channel]).

    No value may exceed `white`, which is handed out as 1.
    """

    def __init__(self, array: np.ndarray, *, white: int = 255, channels_first: bool = False):
        if array.dtype not in (np.uint8, np.uint16) or array.ndim not in (3, 4):
            raise DataError(
                f"expected images as a uint8 or uint16 array of 3 or 4 axes, "
                f"found {array.dtype} of shape {array.shape}"
            )
        self.array = array
        self.white = white
        self.channels_first = channels_first

    @property
    def shape(self) -> Shape:
        if self.array.ndim == 3:
            return (1, self.array.shape[1], self.array.shape[2])
        if self.channels_first:
            return (self.array.shape[1], self.array.shape[2], self.array.shape[3])
        return (self.array.shape[3], self.array.shape[1], self.array.shape[2])

    def __len__(self) -> int:
        return len(self.array)

    def gather(self, rows: np.ndarray, rng: Generator) -> np.ndarray:
        # Divided in the layout in which they are stored, which is several times faster;
        # channels that come last in memory still do so, as convolutions like them.
        images = np.divide(self.array[rows], self.white, dtype=np.float32)
        if images.ndim == 3:
            return images[:, None]
        return images if self.channels_first else images.transpose(0, 3, 1, 2)


class FloatPixels:
    """Images in a float array or memory map, (row, channel, height, width), in [0, 1].

    What lies outside is clipped.
    """

    def __init__(self, array: np.ndarray):
        self.array = array

    @property
    def shape(self) -> Shape:
        return (self.array.shape[1], self.array.shape[2], self.array.shape[3])

    def __len__(self) -> int:
        return len(self.array)

    def gather(self, rows: np.ndarray, rng: Generator) -> np.ndarray:
        images = self.array[rows].astype(np.float32, copy=False)  # of our own: rows were copied
        return np.clip(images, 0, 1, out=images)


# The eight pixels of every byte, first pixel in the lowest bit.
_EIGHT_PIXELS = np.unpackbits(
    np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"
).astype(np.float32)


class BitPixels:
    """Black-and-white images 64 pixels wide, one little-endian uint64 per image row.

    Bit c of a word is column c.
    """

    def __init__(self, words: np.ndarray):
        if words.dtype != np.dtype("<u8") or words.ndim != 2:
            raise DataError(
                f"expected words as (row, height) of uint64, found {words.dtype} {words.shape}"
            )
        self.words = words

    @property
    def shape(self) -> Shape:
        return (1, self.words.shape[1], 64)

    def __len__(self) -> int:
        return len(self.words)

    def gather(self, rows: np.ndarray, rng: Generator) -> np.ndarray:
        octets = np.ascontiguousarray(self.words[rows]).view(np.uint8)
        return _EIGHT_PIXELS.take(octets, axis=0).reshape(len(octets), *self.shape)


@dataclass(frozen=True)
class FunctionPixels:
    """Images made when asked for, such as reads from an HDF5 file."""

    shape: Shape
    count: int
    make: Callable[[np.ndarray, Generator], np.ndarray]

    def __len__(self) -> int:
        return self.count

    def gather(self, rows: np.ndarray, rng: Generator) -> np.ndarray:
        return self.make(rows, rng)


@dataclass(frozen=True)
class SelectedPixels:
    """Some rows of other pixels, in a given order."""

    pixels: Pixels
    rows: np.ndarray

    @property
    def shape(self) -> Shape:
        return self.pixels.shape

    def __len__(self) -> int:
        return len(self.rows)

    def gather(self, rows: np.ndarray, rng: Generator) -> np.ndarray:
        return self.pixels.gather(self.rows[rows], rng)
