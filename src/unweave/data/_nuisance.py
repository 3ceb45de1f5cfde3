"""dSprites with a random part that is no factor: redrawn whenever an image is asked for.

F. Locatello et al., "Challenging Common Assumptions in the Unsupervised
Learning of Disentangled Representations", ICML 2019, arXiv:1811.12359.
"""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from unweave.data._dataset import FactorImages
from unweave.data._pixels import FunctionPixels
from unweave.data._sprites import FACTORS, SPLITS, sprites

Dress = Callable[[np.ndarray, Generator], np.ndarray]
"""From sprites (row, 1, height, width) to images (row, 3, height, width)."""


def dressed_sprites(name: str, dress: Dress) -> FactorImages:
    """Return dSprites with every image passed through `dress`."""
    plain = sprites()
    _, height, width = plain.shape

    def make(rows: np.ndarray, rng: Generator) -> np.ndarray:
        return dress(plain.gather(rows, rng), rng).astype(np.float32)

    pixels = FunctionPixels((3, height, width), len(plain), make)
    return FactorImages(name, pixels, FACTORS, splits=SPLITS)


def random_colors(count: int, rng: Generator, lowest: float) -> np.ndarray:
    """Draw one colour per image, (row, 3, 1, 1)."""
    return rng.uniform(lowest, 1, size=(count, 3, 1, 1)).astype(np.float32)
