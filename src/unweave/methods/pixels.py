"""Pixels: the image itself is the code; a baseline.

A baseline of the β-VAE paper, openreview:Sy2fzU9gl. Images are averaged to a
coarser grid first, since many metrics fit a model to every dimension of a code.
There is nothing to fit and no decoder.

Differs from the paper: it took every pixel, which `side = 0` does.

Use it as the baseline of no code at all, for probes above all. Not as a code.
"""

from dataclasses import dataclass
from math import prod

from torch import nn

from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._baseline import Baseline
from unweave.methods._code import Part
from unweave.networks import Architecture, ImageShape, Networks
from unweave.tensors import Images, Latents


class Grid(nn.Module):
    """Images averaged to a grid of cells, and flattened."""

    def __init__(self, image_shape: ImageShape, side: int):
        super().__init__()
        channels, height, width = image_shape
        cells = (min(side, height), min(side, width)) if side else (height, width)
        self.size = prod((channels, *cells))
        self.average = nn.AdaptiveAvgPool2d(cells)

    def forward(self, images: Images) -> Latents:
        return self.average(images).flatten(1)


@dataclass(frozen=True, kw_only=True)
class Pixels(Baseline):
    latent_dim: int = 10
    """Not used: the code has as many dimensions as the grid has cells."""
    side: int = 16
    """Rows and columns of the grid; 0 for every pixel. Paper: every pixel."""

    main_knob = "side"
    decodes = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.side < 0:
            raise ConfigError(f"side must be 0 or more, found {self.side}")

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.grid = Grid(data.image_shape, self.side)
        return nets

    def encode(self, nets: Networks, images: Images) -> Latents:
        codes: Latents = nets.grid(images)
        return codes

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        return (Part(nets.grid.size),)
