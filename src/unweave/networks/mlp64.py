"""mlp64: linear layers only, for images of any shape.

The network of I. Higgins et al., "beta-VAE", ICLR 2017, on dSprites: an encoder
of two layers of 1200 units with ReLU, a decoder of three with tanh.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Literal

from torch import nn

from unweave.networks._networks import Architecture, ImageShape

Activation = Literal["tanh", "relu", "leaky_relu"]

MODULES: dict[Activation, Callable[[], nn.Module]] = {
    "tanh": nn.Tanh,
    "relu": lambda: nn.ReLU(inplace=True),
    "leaky_relu": lambda: nn.LeakyReLU(0.1, inplace=True),
}


@dataclass(frozen=True, kw_only=True)
class MLP64(Architecture):
    hidden: int = 1200
    """Width of every hidden layer."""
    encoder_activation: Activation = "relu"
    """What follows each hidden layer of the encoder. Paper: relu."""
    decoder_activation: Activation = "tanh"
    """What follows each hidden layer of the decoder. Paper: tanh; relu learns faster."""

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        widths = (prod(image_shape), self.hidden, self.hidden)
        return nn.Sequential(
            nn.Flatten(),
            *hidden_layers(widths, self.encoder_activation),
            nn.Linear(self.hidden, outputs),
        )

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        widths = (inputs, self.hidden, self.hidden, self.hidden)
        return nn.Sequential(
            *hidden_layers(widths, self.decoder_activation),
            nn.Linear(self.hidden, prod(image_shape)),
            nn.Unflatten(1, image_shape),
        )


def hidden_layers(widths: Sequence[int], activation: Activation) -> list[nn.Module]:
    """Return linear layers from each width to the next, each with its activation."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), MODULES[activation]()]
    return layers
