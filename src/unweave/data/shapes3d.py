"""3D Shapes: one object in a room, 480,000 images of 64×64 in colour, each combination once.

C. Burgess and H. Kim, 2018, github.com/deepmind/3d-shapes.

Without a file the set is rendered on this machine in the manner of the original: the same
factors in the same order, the same room, light of the same kind; not the same pixels. The
original 3dshapes.h5, or a copy as .npz with the same arrays, is read when its path is given;
where it is packed, its images (5.9 GB) are unpacked once into the cache.
"""

from pathlib import Path

import numpy as np
from numpy.random import Generator

from unweave.data._array_files import ArrayArchive
from unweave.data._dataset import Factor, FactorImages
from unweave.data._hdf5_files import find_dataset, map_images, open_hdf5
from unweave.data._options import DataOptions
from unweave.data._original import check_count, check_grid_order, grid_size, required_path
from unweave.data._pixels import BytePixels, FunctionPixels
from unweave.data._room import SIDE, paint, room_maps
from unweave.errors import DataError

FACTORS = (
    Factor("floor_hue", 10),
    Factor("wall_hue", 10),
    Factor("object_hue", 10),
    Factor("scale", 8),
    Factor("shape", 4, ("cube", "cylinder", "sphere", "capsule"), categorical=True),
    Factor("orientation", 15),
)
RENDERED = (
    "rendered here in the manner of 3D Shapes; for the original images give the file, as "
    "shapes3d:/path/to/3dshapes.h5"
)


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Render the set, or read the original file."""
    if path is None:
        return rendered()
    path = required_path("shapes3d", path, "/path/to/3dshapes.h5")
    shape = (grid_size(FACTORS), SIDE, SIDE, 3)
    if path.suffix.lower() == ".npz":
        archive = ArrayArchive(path)
        header = archive.header("images")
        if header.shape != shape or header.dtype != np.uint8:
            raise DataError(f"{path}: expected 'images' as uint8 of shape {shape}, found {header}")
        check_grid_order(archive.load("labels"), FACTORS, str(path))
        return FactorImages("shapes3d", BytePixels(archive.map("images")), FACTORS)
    with open_hdf5(path) as file:
        labels = find_dataset(file, "labels", path)
        check_count("3D Shapes", "labels", len(labels), shape[0], path)
        check_grid_order(labels[:], FACTORS, str(path))
    return FactorImages("shapes3d", BytePixels(map_images(path, "images", shape)), FACTORS)


def rendered() -> FactorImages:
    """Return the set as it is rendered here, painted when images are asked for."""
    maps = room_maps()

    def make(rows: np.ndarray, rng: Generator) -> np.ndarray:
        hues, scene = np.divmod(rows, len(maps))
        floor, wall, thing = np.unravel_index(hues, [factor.size for factor in FACTORS[:3]])
        return paint(maps[scene], floor, wall, thing)

    pixels = FunctionPixels((3, SIDE, SIDE), grid_size(FACTORS), make)
    return FactorImages("shapes3d", pixels, FACTORS, note=RENDERED)
