"""Images of arrays brought to another size, once, into the cache."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from unweave.data._image_files import resized_planes
from unweave.data._pixels import BytePixels, FloatPixels, Pixels
from unweave.data._progress import with_progress
from unweave.errors import DataError
from unweave.files.cache import cache_folder, cache_key, cached_array


def resized(pixels: Pixels, size: int, files: Iterable[Path], *settings: object) -> Pixels:
    """Resize the middle square of every image to `size` pixels a side.

    `files` and `settings` are what the pixels came from; the result is kept for them.
    """
    if size < 1:
        raise DataError(f"image_size must be at least 1, found {size}")
    if pixels.shape[1:] == (size, size):
        return pixels
    shape = (len(pixels), pixels.shape[0], size, size)
    as_bytes = isinstance(pixels, BytePixels) and pixels.array.dtype == np.uint8
    dtype = np.dtype(np.uint8 if as_bytes else np.float32)
    rng = np.random.default_rng(0)  # these pixels have no random part

    def fill(array: np.ndarray) -> None:
        for row in with_progress(range(len(pixels)), len(pixels), "resizing images"):
            image = pixels.gather(np.array([row]), rng)[0]
            if as_bytes:
                image = np.rint(image * 255).astype(np.uint8)
            # The filter overshoots at edges; bytes are clipped by Pillow itself.
            planes = resized_planes(image, size)
            array[row] = planes if as_bytes else planes.clip(0, 1)

    key = cache_key(files, "resized", size, *settings)
    array = cached_array(cache_folder() / "resized" / f"{key}.npy", shape, dtype, fill)
    return BytePixels(array, channels_first=True) if as_bytes else FloatPixels(array)
