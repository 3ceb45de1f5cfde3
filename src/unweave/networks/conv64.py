"""conv64: four convolutions and two linear layers, for images of 64×64.

The network of F. Locatello et al., ICML 2019, arXiv:1811.12359, Table 1:
channels 32, 32, 64, 64, a hidden layer of 256, ReLU.

Differs from the released code, whose third and fourth kernels are 2×2: here
all are 4×4, stride 2, as the paper prints them.
"""

from dataclasses import dataclass

from torch import nn

from unweave.networks._layers import doubling, halving
from unweave.networks._networks import Architecture, ImageShape, requires_size


@dataclass(frozen=True, kw_only=True)
class Conv64(Architecture):
    hidden: int = 256
    """Width of the linear layer between convolutions and code."""

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        requires_size("conv64", image_shape, 64)
        return nn.Sequential(
            halving(image_shape[0], 32),
            nn.ReLU(inplace=True),
            halving(32, 32),
            nn.ReLU(inplace=True),
            halving(32, 64),
            nn.ReLU(inplace=True),
            halving(64, 64),
            nn.ReLU(inplace=True),
            nn.Flatten(),
            nn.Linear(64 * 4 * 4, self.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(self.hidden, outputs),
        )

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        requires_size("conv64", image_shape, 64)
        return nn.Sequential(
            nn.Linear(inputs, self.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(self.hidden, 64 * 4 * 4),
            nn.ReLU(inplace=True),
            nn.Unflatten(1, (64, 4, 4)),
            doubling(64, 64),
            nn.ReLU(inplace=True),
            doubling(64, 32),
            nn.ReLU(inplace=True),
            doubling(32, 32),
            nn.ReLU(inplace=True),
            doubling(32, image_shape[0]),
        )
