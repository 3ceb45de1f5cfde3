"""MPI3D: a robot arm holds an object, 1,036,800 images of 64×64 in colour, each combination once.

M. W. Gondal et al., NeurIPS 2019, arXiv:1906.03292. The original files are
mpi3d_toy.npz, mpi3d_realistic.npz and mpi3d_real.npz, 12.7 GB of images each; a
fourth with everyday objects has 460,800. They are mapped, not loaded.
"""

from pathlib import Path

import numpy as np

from unweave.data._dataset import Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import grid_size, required_path
from unweave.data._pixels import BytePixels
from unweave.errors import DataError
from unweave.files.arrays import ArrayArchive

SETTING = (
    Factor("size", 2, ("small", "large")),
    Factor("camera_height", 3, ("top", "center", "bottom")),
    Factor("background", 3, ("purple", "sea green", "salmon"), categorical=True),
    Factor("horizontal", 40, values=tuple(range(40))),
    Factor("vertical", 40, values=tuple(range(40))),
)
SIMPLE = (
    Factor("color", 6, ("white", "green", "red", "blue", "brown", "olive"), categorical=True),
    Factor(
        "shape",
        6,
        ("cone", "cube", "cylinder", "hexagonal", "pyramid", "sphere"),
        categorical=True,
    ),
    *SETTING,
)
COMPLEX = (
    Factor("color", 4, ("yellow", "green", "olive", "red"), categorical=True),
    Factor("shape", 4, ("coffee cup", "tennis ball", "croissant", "beer cup"), categorical=True),
    *SETTING,
)
SPLITS = {
    "element": "color=olive,shape=cylinder,size=large,camera_height=center,"
    "background=sea green,horizontal>35,vertical>35",
    "range": "shape=cylinder,horizontal<20",
    "range_red": "color=red,horizontal<20",
    "extrapolation": "horizontal>=20",
    "extrapolation_color": "color=brown;color=olive",
}
"""What M. Montero et al., ICLR 2021, openreview:qbH974jKUVy, hold out of training; of the
simple objects."""
KINDS = ("realistic", "real", "toy")  # in this order: the first begins like the second


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Map one of the original files; the number of images tells simple from complex objects."""
    path = required_path("mpi3d", path, "/path/to/mpi3d_real.npz")
    archive = ArrayArchive(path)
    header = archive.header("images")
    factors = {grid_size(f): f for f in (SIMPLE, COMPLEX)}.get(header.shape[0])
    if factors is None or header.shape[1:] != (64, 64, 3) or header.dtype != np.uint8:
        raise DataError(
            f"{path}: expected 'images' as uint8 of shape ({grid_size(SIMPLE)}, 64, 64, 3), or "
            f"{grid_size(COMPLEX)} of them for the complex objects, found {header}"
        )
    kind = next((f"_{kind}" for kind in KINDS if kind in path.stem.lower()), "")
    name = f"mpi3d{kind}{'_complex' if factors is COMPLEX else ''}"
    splits = SPLITS if factors is SIMPLE else None
    return FactorImages(name, BytePixels(archive.map("images")), factors, splits=splits)
