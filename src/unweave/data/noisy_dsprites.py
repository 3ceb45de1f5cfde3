"""Noisy-dSprites: white sprites on coloured pixel noise, redrawn at every access.

F. Locatello et al., ICML 2019, arXiv:1811.12359: min(sprite + U(0, 1), 1) for
every pixel and channel.
"""

from pathlib import Path

import numpy as np
from numpy.random import Generator

from unweave.data._dataset import FactorImages
from unweave.data._nuisance import dressed_sprites
from unweave.data._options import DataOptions
from unweave.data._original import takes_no_file


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Render the sprites; noise is added when they are asked for."""
    takes_no_file("noisy_dsprites", path)
    return dressed_sprites("noisy_dsprites", on_noise)


def on_noise(sprite: np.ndarray, rng: Generator) -> np.ndarray:
    noise = rng.random((len(sprite), 3, *sprite.shape[2:]), dtype=np.float32)
    return np.minimum(sprite + noise, 1)
