"""what_where: for images of one object on a plain ground, quick on a CPU.

The encoder looks at an image twice: at learnt profiles of its rows and columns, and at the
amplitudes of its spectrum, which do not change when the object moves. The decoder says where
the object is, by a distribution over rows and one over columns, and what it is, by a few
small kernels along each; a kernel laid where the object is gives a profile r_k or c_k, and
the logits are a bias plus Σ_k r_k c_kᵀ.

Images are seen and drawn in blocks of pixels. The pair suits one object whose ground has
no structure, as in dSprites; for anything else take patches_any.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, softmax

from unweave.errors import ConfigError
from unweave.networks._blocks import BlockDecoder, coarse_shape
from unweave.networks._glances import hidden_layer, two_glances
from unweave.networks._networks import Architecture, ImageShape

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
        return two_glances(
            image_shape,
            outputs,
            block=self.block,
            cosines=self.cosines,
            frequencies=self.frequencies,
            hidden=self.hidden,
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


def taps(side: int) -> int:
    """Return the length of a kernel, odd: about two thirds of the side."""
    return 2 * (side // 3) + 1
