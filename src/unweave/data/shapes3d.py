"""3D Shapes: one object in a room, 480,000 images of 64×64 in colour, each combination once.

C. Burgess and H. Kim, 2018, github.com/deepmind/3d-shapes; the original file is
3dshapes.h5. It is packed; its images (5.9 GB) are unpacked once into the cache.
"""

from pathlib import Path

from unweave.data._dataset import Factor, FactorImages
from unweave.data._hdf5_files import find_dataset, map_images, open_hdf5
from unweave.data._options import DataOptions
from unweave.data._original import check_count, check_grid_order, grid_size, required_path
from unweave.data._pixels import BytePixels

FACTORS = (
    Factor("floor_hue", 10),
    Factor("wall_hue", 10),
    Factor("object_hue", 10),
    Factor("scale", 8),
    Factor("shape", 4, ("cube", "cylinder", "sphere", "capsule"), categorical=True),
    Factor("orientation", 15),
)


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Read the original file."""
    path = required_path("shapes3d", path, "/path/to/3dshapes.h5")
    count = grid_size(FACTORS)
    with open_hdf5(path) as file:
        labels = find_dataset(file, "labels", path)
        check_count("3D Shapes", "labels", len(labels), count, path)
        check_grid_order(labels[:], FACTORS, str(path))
    images = map_images(path, "images", (count, 64, 64, 3))
    return FactorImages("shapes3d", BytePixels(images), FACTORS)
