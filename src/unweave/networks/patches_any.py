"""patches_any: patches, then a few convolutions; for images of any size, quick on a CPU.

Images are seen and drawn in blocks of pixels, of which the first layer takes patches of
4×4 that do not overlap; the rest is conv_any on the grid of patches. With blocks of 2×2,
64×64 images become a grid of 8×8, and one convolution is left.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from unweave.errors import ConfigError
from unweave.networks._blocks import BlockDecoder, BlockMeans, coarse_shape
from unweave.networks._layers import patching, unpatching
from unweave.networks._networks import Architecture, ImageShape
from unweave.networks._stages import decoder_of_any, encoder_of_any

PATCH = 4


@dataclass(frozen=True, kw_only=True)
class PatchesAny(Architecture):
    block: int = 2
    """Side of the blocks of pixels that are seen and drawn as one; 1 draws every pixel."""
    channels: int = 32
    """Channels of the patches and of the convolutions."""
    hidden: int = 256
    """Width of the linear layer between convolutions and code."""

    def __post_init__(self) -> None:
        if min(self.block, self.channels, self.hidden) < 1:
            raise ConfigError(f"patches_any needs settings of 1 or more, found {self}")

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        shape = coarse_shape(image_shape, self.block)
        channels, rows, columns = coarse_shape(shape, PATCH)
        grid = (self.channels, rows, columns)
        return nn.Sequential(
            BlockMeans(self.block),
            nn.ZeroPad2d((0, PATCH * columns - shape[2], 0, PATCH * rows - shape[1])),
            patching(channels, self.channels),
            nn.ReLU(),
            *encoder_of_any(grid, (self.channels,), self.hidden, outputs),
        )

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        shape = coarse_shape(image_shape, self.block)
        channels, rows, columns = coarse_shape(shape, PATCH)
        grid = (self.channels, rows, columns)
        coarse = nn.Sequential(
            *decoder_of_any(inputs, grid, (self.channels,), self.hidden),
            nn.ReLU(),
            unpatching(self.channels, channels),
            Crop(*shape[1:]),
        )
        return BlockDecoder(coarse, image_shape, self.block)


class Crop(nn.Module):
    """Images to their upper left part."""

    def __init__(self, height: int, width: int):
        super().__init__()
        self.height, self.width = height, width

    def forward(self, images: Tensor) -> Tensor:
        return images[:, :, : self.height, : self.width]
