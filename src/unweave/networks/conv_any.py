"""conv_any: convolutions for images of any size and number of channels.

Each stage halves the sides of the image that are still at least 6 pixels long,
down to 3 to 5 pixels; 64×64 images get four stages and with the default
channels the network of conv64, 32×32 images get three. The decoder retraces the
sizes, odd ones included.
"""

from dataclasses import dataclass

from torch import nn

from unweave.errors import ConfigError
from unweave.networks._networks import Architecture, ImageShape
from unweave.networks._stages import decoder_of_any, encoder_of_any


@dataclass(frozen=True, kw_only=True)
class ConvAny(Architecture):
    channels: tuple[int, ...] = (32, 32, 64, 64)
    """Channels of the convolutions; the last is repeated for larger images."""
    hidden: int = 256
    """Width of the linear layer between convolutions and code."""

    def __post_init__(self) -> None:
        if not self.channels or min(*self.channels, self.hidden) < 1:
            raise ConfigError(f"conv_any needs channels and hidden of at least 1, found {self}")

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        return encoder_of_any(image_shape, self.channels, self.hidden, outputs)

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        return decoder_of_any(inputs, image_shape, self.channels, self.hidden)
