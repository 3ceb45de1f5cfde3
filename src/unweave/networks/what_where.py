"""what_where: for images of one object on a plain ground, quick on a CPU.

The encoder looks at an image X twice: at Uᵀ X V, where columns of U and V are learnt and
begin as cosines, and at the amplitudes of its spectrum, which do not change when the
object moves. The decoder says where the object is, by a distribution over rows and one
over columns, and what it is, by a few small kernels along each; a kernel laid where the
object is gives a profile r_k or c_k, and the logits are a bias plus Σ_k r_k c_kᵀ.

Images are seen and drawn in blocks of pixels. The pair suits one object whose ground has
no structure, as in dSprites; for anything else take patches_any.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, softmax

from unweave.errors import ConfigError
from unweave.networks._blocks import BlockDecoder, BlockMeans, coarse_shape
from unweave.networks._networks import Architecture, ImageShape
from unweave.tensors import Images

WHERE_SCALE = 8.0  # by which a distribution over rows is multiplied, so that profiles reach 1
GROUND = -4.0  # logit of a pixel where nothing is


@dataclass(frozen=True, kw_only=True)
class WhatWhere(Architecture):
    hidden: int = 256
    """Width of the hidden layers."""
    block: int = 2
    """Side of the blocks of pixels that are seen and drawn as one."""
    cosines: int = 16
    """Learnt profiles of rows, and of columns, through which the encoder looks."""
    frequencies: int = 12
    """Frequencies of the spectrum along each side."""
    kernels: int = 8
    """Kernels along rows, and along columns, of which the decoder makes an object."""

    def __post_init__(self) -> None:
        for name in ("hidden", "block", "cosines", "frequencies", "kernels"):
            if getattr(self, name) < 1:
                raise ConfigError(f"what_where: {name} must be 1 or more, found {self}")

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        shape = coarse_shape(image_shape, self.block)
        last = nn.Linear(self.hidden, outputs)
        nn.init.normal_(last.weight, std=0.3 / math.sqrt(self.hidden))
        nn.init.zeros_(last.bias)
        return nn.Sequential(
            BlockMeans(self.block),
            TwoGlances(shape, self.cosines, self.frequencies, self.hidden),
            hidden_layer(2 * self.hidden, self.hidden),
            nn.ReLU(inplace=True),
            last,
        )

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        drawing = Drawing(coarse_shape(image_shape, self.block), self.kernels)
        last = nn.Linear(self.hidden, drawing.inputs)
        nn.init.normal_(last.weight, std=0.5 / math.sqrt(self.hidden))
        nn.init.zeros_(last.bias)
        nn.init.normal_(last.bias[drawing.places :], std=0.3)  # kernels differ from the start
        coarse = nn.Sequential(
            hidden_layer(inputs, self.hidden),
            nn.ReLU(inplace=True),
            hidden_layer(self.hidden, self.hidden),
            nn.ReLU(inplace=True),
            last,
            drawing,
        )
        return BlockDecoder(coarse, image_shape, self.block)


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


class Drawing(nn.Module):
    """Rows, columns and kernels of an object to logits of blocks."""

    def __init__(self, shape: ImageShape, kernels: int):
        super().__init__()
        self.channels, self.height, self.width = shape
        self.kernels = kernels
        self.row_taps, self.column_taps = taps(self.height), taps(self.width)
        self.places = self.height + self.width
        of_kernels = self.channels * kernels * (self.row_taps + self.column_taps)
        self.inputs = self.places + of_kernels
        self.ground = nn.Parameter(torch.tensor(GROUND))

    def forward(self, said: Tensor) -> Tensor:
        depth = self.channels * self.kernels
        sizes = [self.height, self.width, self.row_taps * depth, self.column_taps * depth]
        rows, columns, row_kernels, column_kernels = said.split(sizes, 1)
        # (image · channel, row or column, kernel)
        row_profiles = self.laid(rows, row_kernels.unflatten(1, (self.row_taps, depth)))
        column_profiles = self.laid(columns, column_kernels.unflatten(1, (-1, depth)))
        products = torch.baddbmm(self.ground, row_profiles, column_profiles.transpose(1, 2))
        return products.view(-1, self.channels, self.height, self.width)

    def laid(self, where: Tensor, kernels: Tensor) -> Tensor:
        """Lay kernels (image, tap, channel · kernel) where the object is."""
        reach = kernels.shape[1] // 2
        places = pad(WHERE_SCALE * softmax(where, 1), (reach, reach))
        # Windows overlap in memory: copied at once here, or else image by image in the product.
        windows = places.unfold(1, kernels.shape[1], 1).contiguous()
        profiles = torch.bmm(windows, kernels)
        if self.channels == 1:
            return profiles
        split = profiles.unflatten(2, (self.channels, self.kernels))
        return split.transpose(1, 2).flatten(0, 1)


def through(images: Images, rows: Tensor, columns: Tensor) -> Tensor:
    """Return rowsᵀ X columns of each image and channel."""
    count, channels, height, width = images.shape
    # Two large products of matrices instead of many small ones.
    across = (images.reshape(-1, width) @ columns).view(count * channels, height, -1)
    down = across.transpose(1, 2).reshape(-1, height) @ rows
    return down.view(count, channels, columns.shape[1], rows.shape[1]).transpose(2, 3)


def taps(side: int) -> int:
    """Return the length of a kernel, odd: about two thirds of the side."""
    return 2 * (side // 3) + 1


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
