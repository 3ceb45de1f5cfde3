"""Cars3D: 183 cars from 4 × 24 directions, 17,568 images of 64×64 (from 128×128) in colour.

S. Reed et al., "Deep Visual Analogy-Making", NIPS 2015. The original is
nips2015-analogy-data.tar.gz, or the unpacked folder data/cars with one .mat file
per car; cars are numbered in the order of their file names.
"""

from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np
from PIL import Image
from scipy.io import loadmat

from unweave.data._archives import list_files, read_files, stamped_files
from unweave.data._dataset import Factor, FactorImages
from unweave.data._image_files import fitted
from unweave.data._options import DataOptions
from unweave.data._original import check_count, grid_size, required_path
from unweave.data._pixels import BytePixels
from unweave.data._progress import with_progress
from unweave.errors import DataError, reason
from unweave.files.cache import cache_folder, cache_key, cached_array

FACTORS = (Factor("elevation", 4), Factor("azimuth", 24), Factor("car", 183, categorical=True))
SIDE = 128


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Read the original archive or folder."""
    path = required_path("cars3d", path, "/path/to/nips2015-analogy-data.tar.gz")
    size = options.image_size or 64
    cars = [file for file in list_files(path) if _is_car(file, path)] if path.is_dir() else []
    key = cache_key(stamped_files(path, cars), size)
    images = cached_array(
        cache_folder() / "original" / f"cars3d-{key}.npy",
        (grid_size(FACTORS), size, size, 3),
        np.dtype(np.uint8),
        lambda array: _fill(array, path),
    )
    return FactorImages("cars3d", BytePixels(images), FACTORS)


def _fill(array: np.ndarray, path: Path) -> None:
    cars = [file for file in list_files(path) if _is_car(file, path)]
    elevations, azimuths, count = (factor.size for factor in FACTORS)
    check_count("Cars3D", "cars (.mat files)", len(cars), count, path)
    by_factors = array.reshape(elevations, azimuths, count, *array.shape[1:])
    number = {name: i for i, name in enumerate(cars)}
    for name, file in with_progress(read_files(path, number), count, "reading cars3d"):
        views = _read_car(file, name)
        if views.shape != (SIDE, SIDE, 3, azimuths, elevations) or views.dtype != np.uint8:
            raise DataError(
                f"{name} in {path}: expected 'im' as uint8 of shape "
                f"{(SIDE, SIDE, 3, azimuths, elevations)}, found {views.dtype} {views.shape}"
            )
        for elevation in range(elevations):
            for azimuth in range(azimuths):
                view = Image.fromarray(np.ascontiguousarray(views[..., azimuth, elevation]))
                by_factors[elevation, azimuth, number[name]] = fitted(
                    view, array.shape[1], color=True
                )


def _is_car(file: str, path: Path) -> bool:
    """Whether a file is a car: any .mat of a folder; in the archive, those under cars."""
    place = PurePosixPath(file)
    if place.suffix != ".mat" or place.name.startswith("."):  # such as archives from a Mac hold
        return False
    return path.is_dir() or place.parent.name == "cars"


def _read_car(file: IO[bytes], name: str) -> np.ndarray:
    try:
        contents = loadmat(file, variable_names=["im"])
    # The reader meets damaged bytes with errors of every kind; all mean the same to the user.
    except Exception as error:
        raise DataError(f"{name} is not a readable .mat file: {reason(error)}") from error
    if "im" not in contents:
        raise DataError(f"{name} has no array 'im'")
    return contents["im"]
