"""Networks that see and draw blocks of pixels: a fraction of the work where detail is fine.

An encoder sees the mean of each block; a decoder draws one value for all pixels of a block.
"""

import functools
import operator

from torch import Tensor, nn
from torch.nn.functional import avg_pool2d

from unweave.networks._networks import ImageShape
from unweave.tensors import Images, Latents


def coarse_shape(image_shape: ImageShape, block: int) -> ImageShape:
    """Return channels and how many blocks lie along height and width, begun ones included."""
    channels, height, width = image_shape
    return channels, -(-height // block), -(-width // block)


def block_means(images: Images, block: int) -> Images:
    """Return the mean of each block; of a block cut off by the border, of what there is."""
    if block == 1:
        return images
    if images.shape[2] % block or images.shape[3] % block:
        return avg_pool2d(images, block, ceil_mode=True, count_include_pad=False)
    # Sums of whole lines, and then of columns: several times as fast as pooling on a processor.
    lines = functools.reduce(operator.add, (images[:, :, i::block] for i in range(block)))
    blocks = functools.reduce(operator.add, (lines[..., i::block] for i in range(block)))
    return blocks / block**2


class BlockMeans(nn.Module):
    """Images to the means of their blocks."""

    def __init__(self, block: int):
        super().__init__()
        self.block = block

    def forward(self, images: Images) -> Images:
        return block_means(images, self.block)


class BlockDecoder(nn.Module):
    """A decoder whose network draws one logit for each block of pixels."""

    def __init__(self, coarse: nn.Module, image_shape: ImageShape, block: int):
        super().__init__()
        self.coarse = coarse
        self.block = block
        self.height, self.width = image_shape[1:]

    @property
    def has_whole_blocks(self) -> bool:
        """Return whether blocks fill the image, so that their means say all of it."""
        return self.height % self.block == self.width % self.block == 0

    def forward(self, codes: Latents) -> Tensor:
        logits: Tensor = self.coarse(codes)
        if self.block > 1:
            logits = logits.repeat_interleave(self.block, 2).repeat_interleave(self.block, 3)
        return logits[:, :, : self.height, : self.width]
