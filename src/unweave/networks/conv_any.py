"""conv_any: convolutions for images of any size and number of channels.

Each stage halves the sides of the image that are still at least 6 pixels long,
down to 3 to 5 pixels; 64×64 images get four stages and with the default
channels the network of conv64, 32×32 images get three. The decoder retraces the
sizes, odd ones included.

Of large images the first layer may take patches that do not overlap, so that the
convolutions, where the time goes, start at a quarter of the sides.
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
    patch: int = 1
    """Side of the patches that the first layer takes; 1 is none. Sides of images must be a
    multiple of it. 4 where images of 96 pixels or more allow it, if nothing is chosen."""

    def __post_init__(self) -> None:
        if self.patch < 1:
            raise ConfigError(f"patch must be 1 or more, found {self.patch}")
        if not self.channels or min(*self.channels, self.hidden) < 1:
            raise ConfigError(f"conv_any needs channels and hidden of at least 1, found {self}")

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        if self.patch == 1:
            return encoder_of_any(image_shape, self.channels, self.hidden, outputs)
        grid = self._grid(image_shape)
        return nn.Sequential(
            nn.Conv2d(image_shape[0], grid[0], self.patch, self.patch),
            nn.ReLU(inplace=True),
            *encoder_of_any(grid, self.channels, self.hidden, outputs),
        )

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        if self.patch == 1:
            return decoder_of_any(inputs, image_shape, self.channels, self.hidden)
        grid = self._grid(image_shape)
        return nn.Sequential(
            *decoder_of_any(inputs, grid, self.channels, self.hidden),
            nn.ReLU(inplace=True),
            nn.ConvTranspose2d(grid[0], image_shape[0], self.patch, self.patch),
        )

    def _grid(self, image_shape: ImageShape) -> ImageShape:
        """Return the shape of the grid of patches."""
        _, height, width = image_shape
        if height % self.patch or width % self.patch:
            raise ConfigError(
                f"patches of {self.patch} pixels do not fit images of {height} × {width}; "
                f"leave patch out, or choose a size they divide"
            )
        return self.channels[0], height // self.patch, width // self.patch
