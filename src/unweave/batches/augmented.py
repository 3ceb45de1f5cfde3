"""Augmented pairs: two views of each image, deformed a little at random.

What a view changes (where, how large, how turned, how noisy) is what a method is told
not to care about. Views are computed from the images and a generator alone.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample, interpolate

from unweave.batches._batch import Batch, Supervision, draw_images
from unweave.data import FactorImages
from unweave.errors import ConfigError
from unweave.tensors import Images

CELLS = 4  # corners along a side of the grid that elastic deformations pull at


@dataclass(frozen=True)
class AugmentedBatch(Batch):
    """Images and, in the same order, two views of each."""

    first: Tensor
    """(image, channel, height, width), in [0, 1]."""
    second: Tensor
    """(image, channel, height, width), in [0, 1]."""


@dataclass(frozen=True)
class AugmentedPairs(Supervision):
    """Images in two views; every change is drawn evenly up to its size."""

    shift: float = 0.1
    """Largest shift along each side, as a share of it."""
    rotation: float = 10.0
    """Largest angle of a turn, in degrees. Elastic-InfoGAN: 20."""
    zoom: float = 0.1
    """Largest change of size, as a share of it. Elastic-InfoGAN: 0.1."""
    elastic: float = 0.0
    """Largest pull at the corners of a coarse grid, as a share of the sides."""
    noise: float = 0.0
    """Deviation of Gaussian noise on every pixel; what leaves [0, 1] is cut off."""

    def __post_init__(self) -> None:
        for name in ("shift", "rotation", "elastic", "noise"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be 0 or more, found {getattr(self, name)}")
        if not 0 <= self.zoom < 1:
            raise ConfigError(f"zoom must lie in [0, 1), found {self.zoom}")

    def draw(self, data: FactorImages, size: int, rng: Generator) -> AugmentedBatch:
        images = draw_images(data, size, rng)
        first, second = self.view(images, rng), self.view(images, rng)
        return AugmentedBatch(images, len(data), first=first, second=second)

    def view(self, images: Images, rng: Generator) -> Images:
        """Return images deformed at random; what comes in from outside repeats the border."""
        places = affine_grid(self._turns(images, rng), list(images.shape), align_corners=False)
        if self.elastic:
            places = places + self._pulls(images, rng)
        seen = grid_sample(images, places, padding_mode="border", align_corners=False)
        if self.noise:
            noise = rng.standard_normal(images.shape, dtype=np.float32)
            seen = seen + self.noise * torch.from_numpy(noise)
        return seen.clamp(0, 1)

    def _pulls(self, images: Images, rng: Generator) -> Tensor:
        """Return by how much each place (image, height, width, 2) is pulled, in [-1, 1]."""
        corners = 2 * rng.uniform(-self.elastic, self.elastic, (len(images), 2, CELLS, CELLS))
        pulls = interpolate(
            torch.from_numpy(corners.astype(np.float32)),
            size=images.shape[2:],
            mode="bilinear",
            align_corners=True,
        )
        return pulls.permute(0, 2, 3, 1)

    def _turns(self, images: Images, rng: Generator) -> Tensor:
        """Return matrices (image, 2, 3) of turns, zooms and shifts, for coordinates in [-1, 1]."""
        count, _, height, width = images.shape
        angle = np.radians(rng.uniform(-self.rotation, self.rotation, count))
        scale = 1 / rng.uniform(1 - self.zoom, 1 + self.zoom, count)
        shift = 2 * rng.uniform(-self.shift, self.shift, (count, 2))
        cosine, sine = scale * np.cos(angle), scale * np.sin(angle)
        # In pixels, so that images that are not square are turned and not sheared.
        rows = [
            np.stack([cosine, -sine * height / width, shift[:, 0]], axis=1),
            np.stack([sine * width / height, cosine, shift[:, 1]], axis=1),
        ]
        return torch.from_numpy(np.stack(rows, axis=1).astype(np.float32))
