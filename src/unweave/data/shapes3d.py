"""3D Shapes: one object in a room, 480,000 images of 64×64 in colour, each combination once.

C. Burgess and H. Kim, 2018, github.com/deepmind/3d-shapes.

Without a file the set is rendered on this machine in the manner of the original: the same
factors in the same order, the same room, light of the same kind; not the same pixels. The
original 3dshapes.h5, or a copy as .npz with the same arrays, is read when its path is given;
where it is packed, its images (5.9 GB) are unpacked once into the cache.
"""

from pathlib import Path

import numpy as np

from unweave.data._dataset import FactorImages
from unweave.data._hdf5_files import find_dataset, map_images, open_hdf5
from unweave.data._options import DataOptions
from unweave.data._original import check_count, check_grid_order, grid_size, required_path
from unweave.data._pixels import BytePixels
from unweave.data._room import FACTORS, RENDERED, SIDE, SPLITS, rooms
from unweave.errors import DataError
from unweave.files.arrays import ArrayArchive


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Render the set, or read the original file."""
    if path is None:
        return FactorImages("shapes3d", rooms(), FACTORS, note=RENDERED, splits=SPLITS)
    path = required_path("shapes3d", path, "/path/to/3dshapes.h5")
    shape = (grid_size(FACTORS), SIDE, SIDE, 3)
    if path.suffix.lower() == ".npz":
        archive = ArrayArchive(path)
        header = archive.header("images")
        if header.shape != shape or header.dtype != np.uint8:
            raise DataError(f"{path}: expected 'images' as uint8 of shape {shape}, found {header}")
        check_grid_order(archive.load("labels"), FACTORS, str(path))
        return _original(archive.map("images"))
    with open_hdf5(path) as file:
        labels = find_dataset(file, "labels", path)
        check_count("3D Shapes", "labels", len(labels), shape[0], path)
        check_grid_order(labels[:], FACTORS, str(path))
    return _original(map_images(path, "images", shape))


def _original(images: np.ndarray) -> FactorImages:
    return FactorImages("shapes3d", BytePixels(images), FACTORS, splits=SPLITS)
