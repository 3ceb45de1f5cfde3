"""mlp64: linear layers only, for images of any shape.

The network of I. Higgins et al., "beta-VAE", ICLR 2017, on dSprites: an encoder
of two layers of 1200 units with ReLU, a decoder of three with tanh.
"""

from dataclasses import dataclass
from math import prod
from typing import Literal

from torch import nn

from unweave.networks._networks import Architecture, ImageShape


@dataclass(frozen=True, kw_only=True)
class MLP64(Architecture):
    hidden: int = 1200
    """Width of every hidden layer."""
    decoder_activation: Literal["tanh", "relu"] = "tanh"
    """What follows each hidden layer of the decoder. Paper: tanh; relu learns faster."""

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        return nn.Sequential(
            nn.Flatten(),
            nn.Linear(prod(image_shape), self.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(self.hidden, self.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(self.hidden, outputs),
        )

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        layers: list[nn.Module] = []
        for width in (inputs, self.hidden, self.hidden):
            tanh = self.decoder_activation == "tanh"
            layers += [nn.Linear(width, self.hidden), nn.Tanh() if tanh else nn.ReLU(inplace=True)]
        return nn.Sequential(
            *layers,
            nn.Linear(self.hidden, prod(image_shape)),
            nn.Unflatten(1, image_shape),
        )
