"""burgess64: four narrow convolutions and three linear layers, for images of 64×64.

The network of C. P. Burgess et al., 2018, arXiv:1804.03599, supplement: four
layers of 32 channels, kernel 4×4, stride 2, then two of 256 units, ReLU; the
decoder is its mirror.
"""

from dataclasses import dataclass

from torch import nn

from unweave.networks._layers import doubling, halving
from unweave.networks._networks import Architecture, ImageShape, requires_size


@dataclass(frozen=True, kw_only=True)
class Burgess64(Architecture):
    channels: int = 32
    """Channels of every convolution."""
    hidden: int = 256
    """Width of the two linear layers between convolutions and code."""

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        requires_size("burgess64", image_shape, 64)
        return nn.Sequential(
            halving(image_shape[0], self.channels),
            nn.ReLU(inplace=True),
            halving(self.channels, self.channels),
            nn.ReLU(inplace=True),
            halving(self.channels, self.channels),
            nn.ReLU(inplace=True),
            halving(self.channels, self.channels),
            nn.ReLU(inplace=True),
            nn.Flatten(),
            nn.Linear(self.channels * 4 * 4, self.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(self.hidden, self.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(self.hidden, outputs),
        )

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        requires_size("burgess64", image_shape, 64)
        return nn.Sequential(
            nn.Linear(inputs, self.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(self.hidden, self.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(self.hidden, self.channels * 4 * 4),
            nn.ReLU(inplace=True),
            nn.Unflatten(1, (self.channels, 4, 4)),
            doubling(self.channels, self.channels),
            nn.ReLU(inplace=True),
            doubling(self.channels, self.channels),
            nn.ReLU(inplace=True),
            doubling(self.channels, self.channels),
            nn.ReLU(inplace=True),
            doubling(self.channels, image_shape[0]),
        )
