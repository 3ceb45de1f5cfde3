"""dSprites: white sprites on black, 737,280 images of 64×64, each combination once.

L. Matthey et al., 2017, github.com/deepmind/dsprites-dataset.

The set is rendered on this machine, in seconds and once; the original file
(.npz, or its .h5 twin) is read instead when its path is given, and kept as bits
in the cache. The constant colour factor is left out.
Against the original, the rendering has two pixels more in 128 million that are
on; at most about 150 images are thought to differ, by about one pixel each.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from unweave.data._dataset import FactorImages
from unweave.data._hdf5_files import check_images, find_dataset, hdf5_blocks, open_hdf5
from unweave.data._options import DataOptions
from unweave.data._original import check_grid_order, grid_size, required_path
from unweave.data._pixels import BitPixels
from unweave.data._progress import with_progress
from unweave.data._sprites import FACTORS, SIDE, SPLITS, sprites
from unweave.errors import DataError
from unweave.files.arrays import ArrayArchive
from unweave.files.cache import cache_folder, cache_key, cached_array


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Render the set, or read the original file."""
    if path is None:
        return FactorImages("dsprites", sprites(), FACTORS, splits=SPLITS)
    path = required_path("dsprites", path, "/path/to/dsprites_…_64x64.npz")
    words = cached_array(
        cache_folder() / "unpacked" / f"{cache_key([path], 'dsprites')}.npy",
        (grid_size(FACTORS), SIDE),
        np.dtype("<u8"),
        lambda words: _pack_file(path, words),
    )
    return FactorImages("dsprites", BitPixels(words), FACTORS, splits=SPLITS)


def _pack_file(path: Path, words: np.ndarray) -> None:
    """Read the original images as bits, having checked that they come in the right order."""
    shape = (len(words), SIDE, SIDE)
    if path.suffix.lower() in (".h5", ".hdf5"):
        with open_hdf5(path) as file:
            images = find_dataset(file, "imgs", path)
            check_images(images, shape, path)
            if "latents/classes" in file:
                _check_classes(find_dataset(file, "latents/classes", path)[:], path)
            _pack(hdf5_blocks(images), words, path)
        return
    archive = ArrayArchive(path)
    header = archive.header("imgs")
    if header.shape != shape or header.dtype != np.uint8:
        raise DataError(f"{path}: expected 'imgs' as uint8 of shape {shape}, found {header}")
    if "latents_classes" in archive.names:
        _check_classes(archive.load("latents_classes"), path)
    _pack(archive.blocks("imgs"), words, path)


def _check_classes(classes: np.ndarray, path: Path) -> None:
    if classes.ndim != 2:
        raise DataError(f"{path}: expected classes (row, factor), found shape {classes.shape}")
    check_grid_order(classes[:, 1:], FACTORS, str(path))  # the constant colour comes first


def _pack(blocks: Iterable[tuple[int, np.ndarray]], words: np.ndarray, path: Path) -> None:
    count = -(-len(words) * SIDE * SIDE // 16_000_000)
    for first, block in with_progress(blocks, count, f"reading {path.name}"):
        if block.max() > 1:
            raise DataError(f"{path}: expected pixels of 0 and 1, found {block.max()}")
        octets = np.packbits(block, axis=-1, bitorder="little")
        words[first : first + len(block)] = octets.view("<u8")[..., 0]
