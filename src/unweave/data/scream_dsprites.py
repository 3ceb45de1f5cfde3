"""Scream-dSprites: sprites as inverted holes in random patches of a painting.

F. Locatello et al., ICML 2019, arXiv:1811.12359: a random 64×64 patch of the
picture, scaled to fit 350×274, is averaged with a random colour; at the pixels
of the sprite the value is inverted. Patch and colour are redrawn at every access.

The painting is not ours to ship: give your copy as
`scream_dsprites:/path/to/scream.jpg`. Without it a generated cloud texture of
the same size takes its place, and the set calls itself `texture_dsprites`;
its scores do not compare with published ones.
"""

from pathlib import Path

import numpy as np
from numpy.random import Generator
from scipy.ndimage import gaussian_filter

from unweave.data._dataset import FactorImages
from unweave.data._image_files import open_image
from unweave.data._nuisance import Dress, dressed_sprites, random_colors
from unweave.data._options import DataOptions
from unweave.data._sprites import SIDE
from unweave.errors import DataError

WIDTH, HEIGHT = 350, 274


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Render the sprites; they are cut into the picture when asked for."""
    if path is None:
        return dressed_sprites("texture_dsprites", holes_in(cloud_texture()))
    picture = open_image(path).convert("RGB")
    picture.thumbnail((WIDTH, HEIGHT))
    if min(picture.size) < SIDE:
        raise DataError(
            f"{path} scaled to fit {WIDTH}×{HEIGHT} is {picture.width}×{picture.height}; "
            f"patches of {SIDE}×{SIDE} do not fit in"
        )
    pixels = np.asarray(picture, dtype=np.float32) / 255
    return dressed_sprites("scream_dsprites", holes_in(pixels.transpose(2, 0, 1)))


def holes_in(background: np.ndarray) -> Dress:
    """Return a function that cuts sprites into patches of a background (3, height, width)."""

    def dress(sprite: np.ndarray, rng: Generator) -> np.ndarray:
        count, _, height, width = sprite.shape
        top = rng.integers(background.shape[1] - height + 1, size=count)
        left = rng.integers(background.shape[2] - width + 1, size=count)
        windows = np.lib.stride_tricks.sliding_window_view(background, (height, width), (1, 2))
        patches = windows[:, top, left].transpose(1, 0, 2, 3)
        images = (patches + random_colors(count, rng, lowest=0)) / 2
        return np.where(sprite > 0, 1 - images, images)

    return dress


def cloud_texture(seed: int = 0) -> np.ndarray:
    """Make smooth coloured clouds at several scales, (3, height, width) in [0, 1]."""
    rng = np.random.default_rng(seed)
    clouds = np.zeros((3, HEIGHT, WIDTH))
    for scale in (2, 6, 18, 48):
        layer = gaussian_filter(rng.normal(size=clouds.shape), (0, scale, scale), mode="wrap")
        clouds += layer / layer.std()
    lowest = clouds.min(axis=(1, 2), keepdims=True)
    highest = clouds.max(axis=(1, 2), keepdims=True)
    return ((clouds - lowest) / (highest - lowest)).astype(np.float32)
