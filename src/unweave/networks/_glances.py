"""An encoder that looks twice: at what is where, and at what does not change with place.

It sees an image X as Uᵀ X V, where columns of U and V are learnt and begin as cosines, and by the
amplitudes of its spectrum, which do not change when an object moves.
"""

import math

import torch
from torch import Tensor, nn

from unweave.networks._blocks import BlockMeans, coarse_shape
from unweave.networks._networks import ImageShape
from unweave.tensors import Images


def two_glances(
    image_shape: ImageShape,
    outputs: int,
    *,
    block: int,
    cosines: int,
    frequencies: int,
    hidden: int,
) -> nn.Sequential:
    """Return an encoder of blocks of pixels that looks twice."""
    last = nn.Linear(hidden, outputs)
    nn.init.normal_(last.weight, std=0.3 / math.sqrt(hidden))
    nn.init.zeros_(last.bias)
    return nn.Sequential(
        BlockMeans(block),
        TwoGlances(coarse_shape(image_shape, block), cosines, frequencies, hidden),
        hidden_layer(2 * hidden, hidden),
        nn.ReLU(inplace=True),
        last,
    )


class TwoGlances(nn.Module):
    """Images to hidden units that know where things are, and others that cannot."""

    row_waves: Tensor
    column_waves: Tensor

    def __init__(self, shape: ImageShape, cosines: int, frequencies: int, hidden: int):
        super().__init__()
        channels, height, width = shape
        self.rows = nn.Parameter(cosines_of(height, cosines))
        self.columns = nn.Parameter(cosines_of(width, cosines))
        self.register_buffer("row_waves", waves(height, frequencies), persistent=False)
        self.register_buffer("column_waves", waves(width, frequencies), persistent=False)
        self.frequencies = frequencies
        self.amplitude_scale = 4 / math.sqrt(height * width)
        self.where = hidden_layer(channels * self.rows.shape[1] * self.columns.shape[1], hidden)
        self.what = hidden_layer(2 * channels * frequencies**2, hidden)

    def forward(self, images: Images) -> Tensor:
        seen = through(images, self.rows, self.columns).flatten(1)
        amplitudes = self.amplitudes(images).flatten(1)
        return torch.cat([self.where(seen).relu(), self.what(amplitudes).relu()], 1)

    def amplitudes(self, images: Images) -> Tensor:
        """Return |F| at pairs of frequencies of equal and of opposite signs; no gradients."""
        with torch.no_grad():
            count, channels = images.shape[:2]
            waved = through(images, self.row_waves, self.column_waves)
            split = waved.view(count, channels, 2, self.frequencies, 2, self.frequencies)
            cos_cos, cos_sin = split[:, :, 0, :, 0], split[:, :, 0, :, 1]
            sin_cos, sin_sin = split[:, :, 1, :, 0], split[:, :, 1, :, 1]
            same = (cos_cos - sin_sin).square() + (cos_sin + sin_cos).square()
            opposite = (cos_cos + sin_sin).square() + (cos_sin - sin_cos).square()
            return torch.stack([same, opposite], 1).add(1e-4).sqrt() * self.amplitude_scale


def through(images: Images, rows: Tensor, columns: Tensor) -> Tensor:
    """Return rowsᵀ X columns of each image and channel."""
    count, channels, height, width = images.shape
    # Two large products of matrices instead of many small ones.
    across = (images.reshape(-1, width) @ columns).view(count * channels, height, -1)
    down = across.transpose(1, 2).reshape(-1, height) @ rows
    return down.view(count, channels, columns.shape[1], rows.shape[1]).transpose(2, 3)


def cosines_of(side: int, count: int) -> Tensor:
    """Return the first cosines of a side, orthonormal: (side, count), or as many as there are."""
    place, order = torch.arange(side) + 0.5, torch.arange(min(count, side))
    table = torch.cos(math.pi / side * place[:, None] * order) * math.sqrt(2 / side)
    table[:, 0] /= math.sqrt(2)
    return table


def waves(side: int, frequencies: int) -> Tensor:
    """Return cosines and sines around the centre: (side, 2 · frequencies), slow ones first."""
    place = torch.arange(side) - (side - 1) / 2
    angle = place[:, None] * (math.pi / side) * torch.arange(frequencies)
    return torch.cat([angle.cos(), angle.sin()], 1)


def hidden_layer(inputs: int, outputs: int) -> nn.Linear:
    """Return a layer before a ReLU whose units begin with a variance like their inputs'."""
    layer = nn.Linear(inputs, outputs)
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    nn.init.zeros_(layer.bias)
    return layer
