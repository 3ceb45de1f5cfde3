"""posed: one object on a plain ground, which the first four codes place, size and turn.

The decoder draws the object in a frame of its own, from all codes but the first four. These
say how the frame lies in the image, each by one number: with x, y, log size and angle linear
in their code, a pixel at u shows what the frame has at R(-angle) (u - (x, y)) / size. So a
code for the place cannot change what is drawn, and one for what is drawn cannot move it:
what makes the axes is built in, as in T. Bepler et al., NeurIPS 2019, arXiv:1909.11663, where
the decoder is a function of turned coordinates. Which code a factor takes is settled by the
order, how much of it by training. With four codes or fewer all images show one drawing.

The encoder is that of what_where, and knows nothing of poses. Images are seen and drawn in
blocks of pixels. For anything but one object on a ground without structure take patches_any.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import grid_sample, pad

from unweave.errors import ConfigError
from unweave.networks._blocks import BlockDecoder, coarse_shape
from unweave.networks._glances import hidden_layer, two_glances
from unweave.networks._networks import Architecture, ImageShape
from unweave.tensors import Images, Latents

POSE = 4
"""Codes that say how the object lies: across, down, log size, angle."""

GROUND = -4.0  # logit of a pixel where nothing is
PEAK = 6.0  # by how much the middle of the first drawing is above the ground
SPREAD = 0.4  # its deviation, in half sides of the frame
FRAME_OF_IMAGE = 0.5  # side of the frame over that of the image, at size 1
PER_CODE = (0.2, 0.2, 0.2, math.pi / 3.6)
"""How far a code moves the pose at first. A flat prior ends near 1.8: half a turn in all."""


@dataclass(frozen=True, kw_only=True)
class Posed(Architecture):
    hidden: int = 256
    """Width of the hidden layers."""
    block: int = 2
    """Side of the blocks of pixels that are seen and drawn as one."""
    cosines: int = 16
    """Learnt profiles of rows, and of columns, through which the encoder looks."""
    frequencies: int = 12
    """Frequencies of the spectrum along each side."""
    frame: int = 16
    """Side of the frame in which the object is drawn, in points."""

    def __post_init__(self) -> None:
        for name in ("hidden", "block", "cosines", "frequencies"):
            if getattr(self, name) < 1:
                raise ConfigError(f"posed: {name} must be 1 or more, found {self}")
        if self.frame < 2:
            raise ConfigError(f"posed: frame must be 2 or more, found {self.frame}")

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        return two_glances(
            image_shape,
            outputs,
            block=self.block,
            cosines=self.cosines,
            frequencies=self.frequencies,
            hidden=self.hidden,
        )

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        coarse = coarse_shape(image_shape, self.block)
        first = blot(self.frame).repeat(coarse[0], 1, 1)
        drawn = self.drawn(inputs - POSE, first) if inputs > POSE else SameDrawing(first)
        laid = LaidDrawing(drawn, coarse, min(inputs, POSE))
        return BlockDecoder(laid, image_shape, self.block)

    def drawn(self, inputs: int, first: Tensor) -> nn.Module:
        """Return a network from codes to drawings, which begin like this one."""
        last = nn.Linear(self.hidden, first.numel())
        nn.init.normal_(last.weight, std=0.5 / math.sqrt(self.hidden))
        with torch.no_grad():
            last.bias.copy_(first.flatten())
        return nn.Sequential(
            hidden_layer(inputs, self.hidden),
            nn.ReLU(inplace=True),
            hidden_layer(self.hidden, self.hidden),
            nn.ReLU(inplace=True),
            last,
            nn.Unflatten(1, first.shape),
        )


class SameDrawing(nn.Module):
    """One drawing for all images, where every code there is belongs to the pose."""

    def __init__(self, first: Tensor):
        super().__init__()
        self.drawing = nn.Parameter(first)

    def forward(self, codes: Latents) -> Images:
        return self.drawing.expand(codes.shape[0], -1, -1, -1)


class LaidDrawing(nn.Module):
    """Codes to logits of blocks: what the later ones draw lies as the first ones say."""

    points: Tensor

    def __init__(self, drawn: nn.Module, shape: ImageShape, told: int):
        super().__init__()
        self.drawn = drawn
        self.told = told  # how many codes say how it lies; what none says is as at first
        self.height, self.width = shape[1:]
        self.per_code = nn.Parameter(torch.tensor(PER_CODE))
        self.pose = nn.Parameter(torch.zeros(POSE))  # of codes that are 0
        self.ground = nn.Parameter(torch.full((shape[0], 1, 1), GROUND))
        across, down = middles(self.width), middles(self.height)
        points = torch.stack(torch.meshgrid(across, down, indexing="xy"))
        self.register_buffer("points", points.flatten(1), persistent=False)

    def forward(self, codes: Latents) -> Tensor:
        drawing: Images = self.drawn(codes[:, self.told :])
        lies = pad(codes[:, : self.told], (0, POSE - self.told))
        frame = self.points_of_frame(lies * self.per_code + self.pose)
        return grid_sample(drawing, frame, align_corners=False) + self.ground

    def points_of_frame(self, pose: Tensor) -> Tensor:
        """Return which point of the frame each block shows, (image, row, column, 2)."""
        place, log_size, angle = pose.split([2, 1, 1], 1)
        smaller = torch.exp(-log_size) / FRAME_OF_IMAGE
        cos, sin = angle.cos() * smaller, angle.sin() * smaller
        turn = torch.stack([torch.cat([cos, sin], 1), torch.cat([-sin, cos], 1)], 1)
        away = self.points - place[:, :, None]
        return (turn @ away).transpose(1, 2).unflatten(1, (self.height, self.width))


def middles(count: int) -> Tensor:
    """Return the middles of so many parts of the span from -1 to 1."""
    return (2 * torch.arange(count) + 1) / count - 1


def blot(side: int) -> Tensor:
    """Return a round blot in the middle: (side, side)."""
    place = middles(side)
    return PEAK * torch.exp(-((place[:, None] / SPREAD) ** 2 + (place / SPREAD) ** 2) / 2)
