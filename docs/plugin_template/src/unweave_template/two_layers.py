"""two_layers: one hidden layer each way, for images of any size.

A template for architectures of your own.
"""

from dataclasses import dataclass
from math import prod

from torch import nn

from unweave.networks import Architecture, ImageShape


@dataclass(frozen=True, kw_only=True)
class TwoLayers(Architecture):
    hidden: int = 128
    """Width of the hidden layer."""

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        return nn.Sequential(
            nn.Flatten(),
            nn.Linear(prod(image_shape), self.hidden),
            nn.ReLU(),
            nn.Linear(self.hidden, outputs),
        )

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        return nn.Sequential(
            nn.Linear(inputs, self.hidden),
            nn.ReLU(),
            nn.Linear(self.hidden, prod(image_shape)),
            nn.Unflatten(1, image_shape),
        )
