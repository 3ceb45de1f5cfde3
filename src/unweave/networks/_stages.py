"""Convolutions that halve an image of any size, stage by stage, and their way back."""

from typing import NamedTuple

from torch import nn

from unweave.networks._layers import doubling, halving
from unweave.networks._networks import ImageShape

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


def encoder_of_any(
    image_shape: ImageShape, channels: tuple[int, ...], hidden: int, outputs: int
) -> nn.Sequential:
    """Return convolutions from images, then two linear layers."""
    layers: list[nn.Module] = []
    depth, height, width = image_shape
    for stage in stages(image_shape, channels):
        layers += [finer_to_coarser(stage), nn.ReLU(inplace=True)]
        depth, height, width = stage.coarse
    return nn.Sequential(
        *layers,
        nn.Flatten(),
        nn.Linear(depth * height * width, hidden),
        nn.ReLU(inplace=True),
        nn.Linear(hidden, outputs),
    )


def decoder_of_any(
    inputs: int, image_shape: ImageShape, channels: tuple[int, ...], hidden: int
) -> nn.Sequential:
    """Return two linear layers, then transposed convolutions to images."""
    layers: list[nn.Module] = []
    depth, height, width = image_shape
    for stage in stages(image_shape, channels):
        layers = [nn.ReLU(inplace=True), coarser_to_finer(stage), *layers]
        depth, height, width = stage.coarse
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.ReLU(inplace=True),
        nn.Linear(hidden, depth * height * width),
        *layers[:1],
        nn.Unflatten(1, (depth, height, width)),
        *layers[1:],
    )


def stages(image_shape: ImageShape, channels: tuple[int, ...] = (1,)) -> list[Stage]:
    """List the convolutions from the image to the code; the last channels are repeated."""
    found: list[Stage] = []
    fine = image_shape
    while max(fine[1:]) >= SHORTEST_SIDE_HALVED:
        height, width = (side // 2 if side >= SHORTEST_SIDE_HALVED else side for side in fine[1:])
        depth = channels[min(len(found), len(channels) - 1)]
        found.append(Stage(fine, (depth, height, width)))
        fine = found[-1].coarse
    return found


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
