"""The networks of a method by name, and the contract of an architecture."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from unweave.errors import ConfigError
from unweave.probability.gaussian import DiagonalGaussian
from unweave.tensors import Images

ImageShape = tuple[int, int, int]
"""Channels, height, width."""


class Networks(nn.Module):
    """A method's networks, each an attribute: `nets.encoder`, `nets.decoder`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class Architecture(ABC):
    """Shapes of an encoder and a decoder; holds no weights.

    Weights begin as PyTorch draws them, uniform within ±1/√inputs, and so do biases. Papers begin
    otherwise, with biases of 0 and wider weights: the large study with Glorot's, SlowVAE's code
    with He's.
    """

    @abstractmethod
    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        """Return a network from images to (batch, outputs), the last layer linear."""

    @abstractmethod
    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        """Return a network from (batch, inputs) to logits of images."""


def requires_size(name: str, image_shape: ImageShape, side: int) -> None:
    """Refuse images an architecture was not made for."""
    if image_shape[1:] != (side, side):
        raise ConfigError(
            f"architecture {name} is made for {side}×{side} images, found "
            f"{image_shape[1]}×{image_shape[2]}; take conv_any, which fits every size"
        )


class GaussianEncoder(nn.Module):
    """A network whose outputs are read as means and log-variances."""

    def __init__(self, trunk: nn.Module):
        super().__init__()
        self.trunk = trunk

    def forward(self, images: Images) -> DiagonalGaussian:
        outputs: Tensor = self.trunk(images)
        return DiagonalGaussian.from_outputs(outputs)
