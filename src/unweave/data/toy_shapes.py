"""toy_shapes: a square, disc or cross, 2,535 images of 32×32; the class is the shape.

Side 9 to 13 and centre within ±6 pixels of the middle; every combination once.
"""

from pathlib import Path

import numpy as np

from unweave.data._dataset import Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import takes_no_file
from unweave.data._pixels import BytePixels

FACTORS = (
    Factor("shape", 3, ("square", "disc", "cross"), categorical=True),
    Factor("side", 5, tuple(map(str, range(9, 14)))),
    Factor("x", 13),
    Factor("y", 13),
)


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Draw the set."""
    takes_no_file("toy_shapes", path)
    rows = np.indices([factor.size for factor in FACTORS]).reshape(4, -1).T
    images = np.stack([draw(*row) for row in rows])
    return FactorImages("toy_shapes", BytePixels(images, white=1), FACTORS)


def draw(shape: int, side: int, x: int, y: int) -> np.ndarray:
    """Draw one image (32, 32) of 0 and 1 from factor indices."""
    width = 9 + side
    # Distance of each pixel centre from the middle of the shape, which covers
    # exactly `width` pixels starting at centre − width // 2.
    down = np.arange(32)[:, None] - (10 + y - width // 2) - (width - 1) / 2
    across = np.arange(32)[None, :] - (10 + x - width // 2) - (width - 1) / 2
    inside_square = (abs(down) < width / 2) & (abs(across) < width / 2)
    if shape == 0:
        return inside_square.astype(np.uint8)
    if shape == 1:
        return (down**2 + across**2 < (width / 2) ** 2).astype(np.uint8)
    arms = (abs(down) < width / 6) | (abs(across) < width / 6)
    return (inside_square & arms).astype(np.uint8)
