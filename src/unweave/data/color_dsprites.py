"""Color-dSprites: each sprite in one random colour, redrawn at every access.

F. Locatello et al., ICML 2019, arXiv:1811.12359. The colour is uniform on
[0.5, 1]³ and not a factor.
"""

from pathlib import Path

import numpy as np
from numpy.random import Generator

from unweave.data._dataset import FactorImages
from unweave.data._nuisance import dressed_sprites, random_colors
from unweave.data._options import DataOptions
from unweave.data._original import takes_no_file


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Render the sprites; they are coloured when asked for."""
    takes_no_file("color_dsprites", path)
    return dressed_sprites("color_dsprites", in_color)


def in_color(sprite: np.ndarray, rng: Generator) -> np.ndarray:
    return sprite * random_colors(len(sprite), rng, lowest=0.5)
