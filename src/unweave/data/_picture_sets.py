"""Known sets that come as many picture files: decoded once, into the cache."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unweave.data._archives import read_files, stamped_files
from unweave.data._image_files import fitted, open_image
from unweave.data._options import DataOptions
from unweave.data._pixels import BytePixels
from unweave.data._progress import with_progress
from unweave.errors import DataError
from unweave.files.cache import cache_folder, cache_key, cached_array


def decoded(
    name: str,
    path: Path,
    files: Sequence[str],
    options: DataOptions,
    *,
    color: bool,
    crop: tuple[int, int] | None,
) -> BytePixels:
    """Decode the files of a folder or archive, in the order given: one row each.

    `crop` is the part in the middle (width, height) that is resized; without it,
    the largest square. A damaged picture stops the preparation, as a set with a
    hole in it is not the set.
    """
    size = 64 if options.image_size is None else options.image_size
    if size < 1:
        raise DataError(f"image_size must be at least 1, found {size}")
    shape = (len(files), size, size, 3) if color else (len(files), size, size)
    row_of = {file: row for row, file in enumerate(files)}

    def fill(array: np.ndarray) -> None:
        rest = set(files)
        for file, stream in with_progress(read_files(path, row_of), len(files), f"reading {name}"):
            image = open_image(path / file, stream)
            if crop and (image.width < crop[0] or image.height < crop[1]):
                raise DataError(
                    f"{path / file} has {image.width} × {image.height} pixels, "
                    f"fewer than the {crop[0]} × {crop[1]} that are used"
                )
            array[row_of[file]] = fitted(image, size, color=color, crop=crop)
            rest.discard(file)
        if rest:
            raise DataError(f"{path} lost {min(rest)} while it was read")

    key = cache_key(stamped_files(path, list(files)), name, size, color, crop, list(files))
    target = cache_folder() / "original" / f"{name}-{key}.npy"
    return BytePixels(cached_array(target, shape, np.dtype(np.uint8), fill))
