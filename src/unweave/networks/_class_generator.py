"""A generator of images from a content and a class, the class by AdaIN only.

As in the code of A. Gabbay and Y. Hoshen, arXiv:1906.11796, at teaching size.
Adaptive instance normalisation: X. Huang and S. Belongie, arXiv:1703.06868.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import instance_norm, interpolate, leaky_relu

from unweave.networks._networks import ImageShape
from unweave.networks._stages import stages
from unweave.tensors import Latents

LEAK = 0.2
LEAST_CHANNELS = 8


class AdaptiveLayer(nn.Module):
    """Enlarge, convolve, normalise each map, then give it the scale and shift of the class."""

    def __init__(self, inputs: int, outputs: int, class_dim: int, size: tuple[int, int]):
        super().__init__()
        self.size = size
        self.convolution = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.scale_and_shift = nn.Linear(class_dim, 2 * outputs)

    def forward(self, maps: Tensor, class_codes: Latents) -> Tensor:
        maps = leaky_relu(self.convolution(interpolate(maps, size=self.size)), LEAK)
        scale, shift = self.scale_and_shift(class_codes)[:, :, None, None].chunk(2, dim=1)
        return instance_norm(maps) * scale + shift


class ClassGenerator(nn.Module):
    """Three linear layers from the content to a small map, then adaptive layers to logits."""

    def __init__(self, content_dim: int, class_dim: int, image_shape: ImageShape, channels: int):
        super().__init__()
        halved = stages(image_shape)
        sizes = [stage.fine[1:] for stage in reversed(halved)]
        height, width = halved[-1].coarse[1:] if halved else image_shape[1:]
        hidden = 4 * channels
        self.from_content = nn.Sequential(
            nn.Linear(content_dim, hidden),
            nn.LeakyReLU(LEAK, inplace=True),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(LEAK, inplace=True),
            nn.Linear(hidden, channels * height * width),
            nn.LeakyReLU(LEAK, inplace=True),
            nn.Unflatten(1, (channels, height, width)),
        )
        self.layers = nn.ModuleList()
        # At least one layer, for the class to enter at all.
        for size in sizes or [(height, width)]:
            narrower = max(channels // 2, LEAST_CHANNELS)
            self.layers.append(AdaptiveLayer(channels, narrower, class_dim, size))
            channels = narrower
        self.to_logits = nn.Conv2d(channels, image_shape[0], 3, padding=1)

    def forward(self, content: Latents, class_codes: Latents) -> Tensor:
        maps = self.from_content(content)
        for layer in self.layers:
            maps = layer(maps, class_codes)
        logits: Tensor = self.to_logits(leaky_relu(maps, LEAK))
        return logits


def table(rows: int, size: int) -> nn.Embedding:
    """Return a table of codes, one row each, near 0."""
    codes = nn.Embedding(rows, size)
    nn.init.uniform_(codes.weight, -0.05, 0.05)
    return codes


def squared_distance(codes: Latents, others: Latents) -> Tensor:
    """Return the squared distance of codes, summed over dimensions, averaged over the batch."""
    return torch.square(codes - others).sum(1).mean()
