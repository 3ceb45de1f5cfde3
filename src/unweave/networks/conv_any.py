"""conv_any: convolutions for images of any size and number of channels.

Each stage halves the sides of the image that are still at least 6 pixels long,
down to 3 to 5 pixels; 64×64 images get four stages and with the default
channels the network of conv64, 32×32 images get three. The decoder retraces the
sizes, odd ones included.

Of large images the first layer may take patches that do not overlap, so that the
convolutions, where the time goes, start at a quarter of the sides.
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import nn

from unweave.errors import ConfigError
from unweave.networks._layers import doubling, halving
from unweave.networks._networks import Architecture, ImageShape

SHORTEST_SIDE_HALVED = 6


class Stage(NamedTuple):
    """One convolution: what it makes of the finer image, and the other way round."""

    fine: tuple[int, int, int]
    """Channels, height and width on the side of the image."""
    coarse: tuple[int, int, int]
    """Channels, height and width on the side of the code."""

    @property
    def halves(self) -> tuple[bool, bool]:
        """Whether height and width are halved."""
        return self.coarse[1] < self.fine[1], self.coarse[2] < self.fine[2]

    @property
    def is_odd(self) -> tuple[bool, bool]:
        """Whether halving height and width leaves a pixel over."""
        height, width = self.halves
        return height and self.fine[1] % 2 == 1, width and self.fine[2] % 2 == 1


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
        pixels = image_shape[0]
        layers: list[nn.Module] = []
        channels, height, width = image_shape = self._in_patches(image_shape)
        if self.patch > 1:
            layers = [nn.Conv2d(pixels, channels, self.patch, self.patch), nn.ReLU(inplace=True)]
        for stage in self.stages(image_shape):
            layers += [finer_to_coarser(stage), nn.ReLU(inplace=True)]
            channels, height, width = stage.coarse
        return nn.Sequential(
            *layers,
            nn.Flatten(),
            nn.Linear(channels * height * width, self.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(self.hidden, outputs),
        )

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        layers: list[nn.Module] = []
        pixels = image_shape[0]
        channels, height, width = image_shape = self._in_patches(image_shape)
        if self.patch > 1:
            last = nn.ConvTranspose2d(channels, pixels, self.patch, self.patch)
            layers = [nn.ReLU(inplace=True), last]
        for stage in self.stages(image_shape):
            layers = [nn.ReLU(inplace=True), coarser_to_finer(stage), *layers]
            channels, height, width = stage.coarse
        return nn.Sequential(
            nn.Linear(inputs, self.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(self.hidden, channels * height * width),
            *layers[:1],
            nn.Unflatten(1, (channels, height, width)),
            *layers[1:],
        )

    def _in_patches(self, image_shape: ImageShape) -> ImageShape:
        """Return the shape that the patches of an image have, if there are any."""
        if self.patch == 1:
            return image_shape
        _, height, width = image_shape
        if height % self.patch or width % self.patch:
            raise ConfigError(
                f"patches of {self.patch} pixels do not fit images of {height} × {width}; "
                f"leave patch out, or choose a size they divide"
            )
        return self.channels[0], height // self.patch, width // self.patch

    def stages(self, image_shape: ImageShape) -> list[Stage]:
        """List the convolutions from the image, or from its patches, to the code."""
        stages: list[Stage] = []
        fine = image_shape
        while max(fine[1:]) >= SHORTEST_SIDE_HALVED:
            height, width = (
                side // 2 if side >= SHORTEST_SIDE_HALVED else side for side in fine[1:]
            )
            channels = self.channels[min(len(stages), len(self.channels) - 1)]
            stages.append(Stage(fine, (channels, height, width)))
            fine = stages[-1].coarse
        return stages


def finer_to_coarser(stage: Stage) -> nn.Conv2d:
    """Return the encoder's layer of a stage."""
    inputs, outputs = stage.fine[0], stage.coarse[0]
    if all(stage.halves):
        return halving(inputs, outputs)
    kernel, stride = kernel_and_stride(stage)
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=1)


def coarser_to_finer(stage: Stage) -> nn.ConvTranspose2d:
    """Return the decoder's layer of a stage."""
    inputs, outputs = stage.coarse[0], stage.fine[0]
    if all(stage.halves) and not any(stage.is_odd):
        return doubling(inputs, outputs)
    kernel, stride = kernel_and_stride(stage)
    left_over = (int(stage.is_odd[0]), int(stage.is_odd[1]))
    return nn.ConvTranspose2d(inputs, outputs, kernel, stride, padding=1, output_padding=left_over)


def kernel_and_stride(stage: Stage) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return 4 and 2 along a side that is halved, 3 and 1 along one that stays."""
    height, width = stage.halves
    return (4 if height else 3, 4 if width else 3), (2 if height else 1, 2 if width else 1)
