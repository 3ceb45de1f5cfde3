"""toy_xys: one white square, 1,024 images of 32×32; trains in a minute on one core.

Centre x and y from 8 to 23, side 5, 8, 11 or 14; every combination once.
"""

from pathlib import Path

import numpy as np

from unweave.data._dataset import Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import takes_no_file
from unweave.data._pixels import BytePixels

SIDES = (5, 8, 11, 14)
FACTORS = (Factor("x", 16), Factor("y", 16), Factor("side", 4, tuple(map(str, SIDES))))


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Draw the set."""
    takes_no_file("toy_xys", path)
    images = np.zeros((16, 16, len(SIDES), 32, 32), dtype=np.uint8)
    for x in range(16):
        for y in range(16):
            for index, side in enumerate(SIDES):
                left, top = 8 + x - side // 2, 8 + y - side // 2
                images[x, y, index, top : top + side, left : left + side] = 1
    return FactorImages("toy_xys", BytePixels(images.reshape(-1, 32, 32), white=1), FACTORS)
