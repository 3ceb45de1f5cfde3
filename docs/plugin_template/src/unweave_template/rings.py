"""rings: one white ring, 512 images of 32×32; horizontal and vertical place, radius.

A template for data sets of your own. One that reads a file takes its path from
`rings:/path/to/file`, and may map it instead of reading it whole.
"""

from pathlib import Path

import numpy as np

from unweave.data import DataOptions, FactorImages, from_arrays
from unweave.errors import DataError

PLACES = np.arange(8, 24, 2)
RADII = np.linspace(3, 7, 8)


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Draw the set."""
    if path is not None:
        raise DataError(f"rings is drawn here and takes no file, found {path}")
    x, y, radius = (axis.ravel() for axis in np.meshgrid(*[np.arange(8)] * 3, indexing="ij"))
    rows, columns = np.mgrid[:32, :32]
    from_centre = np.hypot(
        columns - PLACES[x][:, None, None] + 0.5, rows - PLACES[y][:, None, None] + 0.5
    )
    images = (np.abs(from_centre - RADII[radius][:, None, None]) < 1).astype(np.uint8) * 255
    return from_arrays(images, {"x": x, "y": y, "radius": radius}, name="rings")
