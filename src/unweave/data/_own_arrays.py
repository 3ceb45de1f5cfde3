"""Arrays of the user's own images, in memory or in .npy and .npz files.

Images are uint8 (0 to 255; black and white if no value exceeds 1), uint16 (white is the
largest number of 8, 10, 12, 14 or 16 bits, whichever the largest value needs), booleans,
or real numbers in [0, 1]; axes (row, height, width), (row, height, width, channel)
or (row, channel, height, width).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from unweave.data._dataset import FactorImages
from unweave.data._factor_table import (
    WHOLE_TABLES,
    archive_columns,
    as_columns,
    read_columns,
)
from unweave.data._options import DataOptions
from unweave.data._own_gaps import facts_of
from unweave.data._pixels import BytePixels, FloatPixels, FunctionPixels, Pixels
from unweave.data._resize import resized
from unweave.errors import DataError, listed
from unweave.files.arrays import ArrayArchive, map_array
from unweave.files.cache import cache_folder, cache_key, cached_array
from unweave.tables import to_numpy

IMAGE_ARRAYS = ("images", "imgs", "image", "x", "data", "x_train", "arr_0")
"""Arrays of an .npz called so hold the images."""
BLOCK = 8_000_000  # values looked at together
TOLERANCE = 1e-3  # filters overshoot a little; what does is clipped when it is handed out
WHITES = tuple((1 << bits) - 1 for bits in (8, 10, 12, 14, 16))
GREY_WEIGHTS = np.array([0.299, 0.587, 0.114], dtype=np.float32)  # ITU-R BT.601


def from_arrays(
    images: Any,
    factors: Any = None,
    factor_names: Sequence[str] | None = None,
    *,
    name: str = "arrays",
    channels: Literal["auto", "first", "last"] = "auto",
    missing: Literal["refuse", "mask"] = "refuse",
) -> FactorImages:
    """Make a data set of numpy arrays or torch tensors.

    `factors` is an array (row[, factor]), a mapping of columns by name, or a
    data frame. A column of whole numbers or strings takes the values it has;
    any other is continuous. With `missing="mask"` a column that has gaps stands beside the
    factors and is scored where it is known. The images are used where they are, not copied.
    """
    pixels = _as_pixels(to_numpy(images), channels, name)
    _check_range(pixels, name)
    note = _note(pixels)
    if factors is None:
        return FactorImages(name, pixels, note=note)
    columns = as_columns(factors, factor_names, name)
    return FactorImages(name, pixels, **facts_of(columns, len(pixels), name, missing), note=note)


def load_array_file(path: Path, options: DataOptions) -> FactorImages:
    """Open an .npy or .npz file of images, mapped into memory."""
    columns = {}
    if path.suffix.lower() == ".npy":
        images = map_array(path)
    else:
        archive = ArrayArchive(path)
        key = _image_array(archive)
        images = archive.map(key)
        if options.factors is None:
            columns = archive_columns(archive, len(images), skip=(key,))
    pixels = _as_pixels(images, options.channels, str(path))
    note = _note(pixels)
    _check_range_once(pixels, path, options)
    if options.image_size is not None:
        pixels = resized(pixels, options.image_size, [path], options.channels)
    pixels = _in_color(pixels, options.color, str(path))
    where = str(path)
    if options.factors is not None:
        columns, where = read_columns(Path(options.factors), len(pixels), None), options.factors
    facts = facts_of(columns, len(pixels), where, options.missing)
    return FactorImages(path.stem, pixels, **facts, note=note)


def _image_array(archive: ArrayArchive) -> str:
    """Find which array holds the images: by its name, or because it is the only candidate."""
    known = {name.lower(): name for name in archive.names}
    for called in IMAGE_ARRAYS:
        if called in known:
            return known[called]
    several_axes = [
        name
        for name, header in archive.headers().items()
        if name.lower() not in WHOLE_TABLES and len(header.shape) in (3, 4)
    ]
    if len(several_axes) == 1:
        return several_axes[0]
    raise DataError(
        f"cannot tell which array of {archive.path} holds the images; it has "
        f"{listed(archive.names) or 'none'}. Call it 'images'"
    )


def _as_pixels(images: np.ndarray, channels: str, where: str) -> Pixels:
    if images.ndim not in (3, 4):
        raise DataError(
            f"{where}: expected images (row, height, width), (row, height, width, channel) or "
            f"(row, channel, height, width), found shape {images.shape}"
        )
    if 0 in images.shape:
        raise DataError(f"{where} holds no pixels: shape {images.shape}")
    channels_first = images.ndim == 4 and _channels_first(images.shape, channels, where)
    if images.dtype == np.bool_:
        return BytePixels(images.view(np.uint8), white=1, channels_first=channels_first)
    if images.dtype == np.uint8:
        # Sets such as dSprites store black and white as 0 and 1.
        white = 1 if _all_at_most_one(images) else 255
        return BytePixels(images, white=white, channels_first=channels_first)
    if images.dtype == np.uint16:
        return BytePixels(images, white=_white_of(images), channels_first=channels_first)
    if images.dtype.kind != "f":
        raise DataError(
            f"{where}: expected images as uint8 (0 to 255), uint16 or real numbers in [0, 1], "
            f"found {images.dtype}. If the values are 0 to 255, save images.astype(numpy.uint8)"
        )
    if images.ndim == 3:
        return FloatPixels(images[:, None])
    return FloatPixels(images if channels_first else images.transpose(0, 3, 1, 2))


def _channels_first(shape: tuple[int, ...], channels: str, where: str) -> bool:
    if channels != "auto":
        return channels == "first"
    if shape[1] == shape[3]:
        raise DataError(
            f"{where}: images of shape {shape} could have their channels first or last; "
            f"say channels='first' or channels='last'"
        )
    return shape[1] < shape[3]


def _all_at_most_one(images: np.ndarray) -> bool:
    return all(block.max() <= 1 for block in _blocks(images))  # stops at the first larger one


def _note(pixels: Pixels) -> str:
    if isinstance(pixels, BytePixels) and pixels.array.dtype == np.uint16:
        return f"16-bit values, of which {pixels.white:,} is white"
    return ""


def _white_of(images: np.ndarray) -> int:
    """Return white of 16-bit images: cameras of 10, 12 or 14 bits leave the upper ones empty."""
    largest = 0
    for block in _blocks(images):
        largest = max(largest, int(block.max()))
        if largest >= 1 << 14:
            break
    return next(white for white in WHITES if largest <= white)


def _blocks(images: np.ndarray) -> Any:
    step = max(1, BLOCK // max(int(np.prod(images.shape[1:])), 1))
    return (images[first : first + step] for first in range(0, len(images), step))


def _check_range(pixels: Pixels, where: str) -> None:
    if not isinstance(pixels, FloatPixels):
        return
    first = 0
    for block in _blocks(pixels.array):
        # A not-a-number makes the extremes so, and then neither comparison holds.
        if not (block.min() >= -TOLERANCE and block.max() <= 1 + TOLERANCE):
            _explain_range(block, first, where)
        first += len(block)


def _explain_range(block: np.ndarray, first: int, where: str) -> None:
    usable = (block >= -TOLERANCE) & (block <= 1 + TOLERANCE)
    wrong = np.flatnonzero(~usable.all(axis=(1, 2, 3)))
    row = first + int(wrong[0])
    if not np.isfinite(block).all():
        raise DataError(
            f"{where}: image {row} has pixels that are not finite numbers; mend or remove it"
        )
    lowest, highest = float(block.min()), float(block.max())
    if lowest < -TOLERANCE:
        advice = "if they lie in [-1, 1], use (images + 1) / 2"
    elif highest <= 255:
        advice = "if they are 0 to 255, divide by 255 or convert to uint8"
    else:
        advice = "divide by the largest value they can take"
    raise DataError(
        f"{where}: pixels must lie in [0, 1], found {lowest:g} to {highest:g} "
        f"around image {row}; {advice}"
    )


def _check_range_once(pixels: Pixels, path: Path, options: DataOptions) -> None:
    """Check every pixel of a file of real numbers, and remember that it was checked."""
    if not isinstance(pixels, FloatPixels):
        return
    key = cache_key([path], "range", options.channels)

    def check(done: np.ndarray) -> None:
        _check_range(pixels, str(path))
        done[:] = 1

    cached_array(cache_folder() / "checked" / f"{key}.npy", (1,), np.dtype(np.uint8), check)


def _in_color(pixels: Pixels, color: str, where: str) -> Pixels:
    channels, height, width = pixels.shape
    if color == "auto" or channels == (1 if color == "grey" else 3):
        return pixels

    def grey(rows: np.ndarray, rng: Generator) -> np.ndarray:
        return np.einsum("nchw,c->nhw", pixels.gather(rows, rng), GREY_WEIGHTS)[:, None].clip(0, 1)

    def rgb(rows: np.ndarray, rng: Generator) -> np.ndarray:
        return pixels.gather(rows, rng).repeat(3, axis=1)

    if color == "grey" and channels == 3:
        return FunctionPixels((1, height, width), len(pixels), grey)
    if color == "rgb" and channels == 1:
        return FunctionPixels((3, height, width), len(pixels), rgb)
    raise DataError(f"{where}: cannot turn images of {channels} channels into {color}")
