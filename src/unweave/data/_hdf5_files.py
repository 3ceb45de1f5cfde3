"""Images in HDF5 files, mapped.

HDF5 files are packed in chunks that often cut through many images, and a
library handle does not survive a fork. So packed images are copied once, block
by block, into the cache; unpacked ones are mapped where they lie.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from unweave.data._progress import with_progress
from unweave.errors import DataError, reason
from unweave.files.cache import cache_folder, cache_key, cached_array

BLOCK = 128_000_000  # bytes read at a time; a multiple of the chunks where they allow


@contextmanager
def open_hdf5(path: Path) -> Iterator[Any]:
    """Open an HDF5 file for reading."""
    try:
        import h5py
    except ImportError as error:
        raise DataError(
            f"reading {path} needs h5py: python -m pip install 'unweave[data]'"
        ) from error
    try:
        with h5py.File(path, "r") as file:
            yield file
    except DataError:
        raise
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise DataError(f"{path} is not a readable HDF5 file: {reason(error)}") from error


def find_dataset(file: Any, name: str, path: Path) -> Any:
    """Return an array of an open file."""
    import h5py

    if not isinstance(file.get(name), h5py.Dataset):
        raise DataError(f"{path} has no array {name!r}; it holds {', '.join(file) or 'none'}")
    return file[name]


def check_images(dataset: Any, shape: tuple[int, ...], path: Path) -> None:
    """Refuse images of another shape or type."""
    if dataset.shape != shape or dataset.dtype != np.uint8:
        raise DataError(
            f"{path}: expected images as uint8 of shape {shape}, "
            f"found {dataset.dtype} of shape {dataset.shape}"
        )


def hdf5_blocks(dataset: Any) -> Iterator[tuple[int, np.ndarray]]:
    """Go through an array in order: the first row of each block, and the block."""
    row_bytes = max(1, dataset.nbytes // len(dataset))
    step = max(1, BLOCK // row_bytes)
    chunk = dataset.chunks[0] if dataset.chunks else 1
    if chunk < step:
        step -= step % chunk  # so that no chunk is unpacked twice
    for first in range(0, len(dataset), step):
        yield first, dataset[first : first + step]


def map_images(path: Path, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Map uint8 images for reading: in place, or once unpacked into the cache."""
    with open_hdf5(path) as file:
        dataset = find_dataset(file, name, path)
        check_images(dataset, shape, path)
        start = dataset.id.get_offset()
        in_place = start is not None and file.userblock_size == 0  # no place: in chunks
    if in_place:
        return np.memmap(path, np.uint8, "r", start, shape)

    def fill(array: np.ndarray) -> None:
        with open_hdf5(path) as file:
            dataset = find_dataset(file, name, path)
            steps = -(-dataset.nbytes // BLOCK)
            for first, block in with_progress(
                hdf5_blocks(dataset), steps, f"unpacking {path.name}"
            ):
                array[first : first + len(block)] = block

    key = cache_key([path], "hdf5", name)
    return cached_array(cache_folder() / "unpacked" / f"{key}.npy", shape, np.dtype("u1"), fill)
