"""Networks of a style-based generator and of the judge it plays against.

As in T. Karras et al., "Analyzing and Improving the Image Quality of StyleGAN", CVPR 2020,
arXiv:1912.04958, at teaching size: one convolution for each size of map.

Weights begin as N(0, 1) and are divided by √inputs where they are used, so that one learning
rate moves every layer by as much.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, interpolate, leaky_relu, linear

from unweave.errors import ConfigError
from unweave.networks import ImageShape
from unweave.tensors import Images

Size = tuple[int, int]

SLOPE = 0.2
GAIN = math.sqrt(2)  # what a leaky unit takes of the variance
SHORTEST_SIDE_HALVED = 8
GROUP = 4  # images among which the judge measures how much they differ
TINY = 1e-8


def map_sizes(image_shape: ImageShape) -> list[Size]:
    """List heights and widths from the coarsest map to the image."""
    sizes = [image_shape[1:]]
    while max(sizes[0]) >= SHORTEST_SIDE_HALVED:
        height, width = (s // 2 if s >= SHORTEST_SIDE_HALVED else s for s in sizes[0])
        sizes.insert(0, (height, width))
    return sizes


def channels_at(channels: tuple[int, ...], count: int) -> list[int]:
    """Return channels of so many sizes, from the coarsest; the last are repeated."""
    return [channels[min(level, len(channels) - 1)] for level in range(count)]


def leaky(x: Tensor) -> Tensor:
    """Apply leaky units that keep the variance."""
    return leaky_relu(x, SLOPE) * GAIN


class ScaledLinear(nn.Module):
    """A linear layer whose weights are scaled where they are used."""

    def __init__(self, inputs: int, outputs: int, bias: float = 0.0):
        super().__init__()
        self.free = nn.Parameter(torch.randn(outputs, inputs))
        self.bias = nn.Parameter(torch.full((outputs,), bias))

    @property
    def weight(self) -> Tensor:
        """Return the weights as they are used, (output, input)."""
        return self.free / math.sqrt(self.free.shape[1])

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


class ScaledConv(nn.Module):
    """A convolution whose weights are scaled where they are used, and leaky units."""

    def __init__(self, inputs: int, outputs: int, kernel: Size, stride: Size = (1, 1)):
        super().__init__()
        self.free = nn.Parameter(torch.randn(outputs, inputs, *kernel))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.scale = 1 / math.sqrt(inputs * math.prod(kernel))
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        # The gain of leaky units is taken before them, where it costs the least.
        weight, bias = self.free * (GAIN * self.scale), GAIN * self.bias
        return leaky_relu(conv2d(x, weight, bias, self.stride, padding=1), SLOPE)


class Mapping(nn.Module):
    """From noise z, brought to length √size, to a style w."""

    def __init__(self, width: int, depth: int):
        super().__init__()
        self.layers = nn.ModuleList(ScaledLinear(width, width) for _ in range(depth))

    def forward(self, z: Tensor) -> Tensor:
        w = z * (z.square().mean(1, keepdim=True) + TINY).rsqrt()
        for layer in self.layers:
            w = leaky(layer(w))
        return w


class ModulatedConv(nn.Module):
    """A convolution of which the weights are scaled for each image, by what its style says.

    With s = A w + b, one number for each input channel, an image has the weights s_i weight_oi,
    divided for each output by their length. Instead of as many weights as there are images,
    inputs are multiplied by s and outputs divided by the length: the same function.
    """

    def __init__(self, inputs: int, outputs: int, width: int):
        super().__init__()
        # A bias of 1: with 0 nothing would pass at the start.
        self.style = ScaledLinear(width, inputs, bias=1.0)
        self.free = nn.Parameter(torch.randn(outputs, inputs, 3, 3))
        self.scale = 1 / math.sqrt(inputs * 9)

    @property
    def weight(self) -> Tensor:
        """Return the weights that all images share, (output, input, 3, 3)."""
        return self.free * self.scale

    def forward(self, x: Tensor, w: Tensor, size: Size) -> tuple[Tensor, Tensor]:
        """Return what the convolution gives, and the factor of each output, (image, output).

        Maps are brought to a finer size first if need be; scaled before that, which is the same
        and a quarter of the work.
        """
        s, weight = self.style(w), self.weight
        x = enlarged(x * s[:, :, None, None], size)
        lengths = (linear(s.square(), weight.square().sum((2, 3))) + TINY).sqrt()
        return conv2d(x, weight, padding=1), 1 / lengths


class ToPixels(nn.Module):
    """What maps add to the colours of pixels: modulated, but not divided by any length."""

    def __init__(self, inputs: int, colors: int, width: int):
        super().__init__()
        self.style = ScaledLinear(width, inputs, bias=1.0)
        self.free = nn.Parameter(torch.randn(colors, inputs))
        self.bias = nn.Parameter(torch.zeros(colors))

    def forward(self, x: Tensor, w: Tensor) -> Tensor:
        weight = self.free / math.sqrt(self.free.shape[1])
        # As products of matrices, with weights for each image: quicker than scaling its maps.
        weights = weight * self.style(w)[:, None]
        pixels = torch.baddbmm(self.bias, x.permute(0, 2, 3, 1).flatten(1, 2), weights.mT)
        return pixels.unflatten(1, x.shape[2:]).permute(0, 3, 1, 2)


class StyledLayer(nn.Module):
    """One size of map: a modulated convolution, noise, leaky units; and what it adds to pixels."""

    def __init__(self, inputs: int, outputs: int, width: int, colors: int):
        super().__init__()
        self.convolution = ModulatedConv(inputs, outputs, width)
        self.noise_weight = nn.Parameter(torch.zeros(()))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.to_pixels = ToPixels(outputs, colors, width)

    def forward(self, x: Tensor, w: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Return maps and pixels of the size of the noise."""
        x, factor = self.convolution(x, w, noise.shape[2:])
        # The gain of leaky units is taken before them, where it costs the least.
        bias, factor = GAIN * self.bias[:, None, None], GAIN * factor[:, :, None, None]
        x = torch.addcmul(bias, x, factor).add_(GAIN * self.noise_weight * noise)
        x = leaky_relu(x, SLOPE, inplace=True)
        return x, self.to_pixels(x, w)


class Synthesis(nn.Module):
    """From one style for each size of map to logits of images, coarse to fine.

    Maps are doubled by linear interpolation, which is the paper's filter [1, 3, 3, 1].
    """

    def __init__(self, image_shape: ImageShape, width: int, channels: tuple[int, ...]):
        super().__init__()
        self.sizes = map_sizes(image_shape)
        outputs = channels_at(channels, len(self.sizes))
        inputs = [outputs[0], *outputs[:-1]]
        self.start = nn.Parameter(torch.randn(1, outputs[0], *self.sizes[0]))
        self.layers = nn.ModuleList(
            StyledLayer(before, after, width, image_shape[0])
            for before, after in zip(inputs, outputs, strict=True)
        )

    def forward(self, styles: Tensor, noise: list[Tensor]) -> Tensor:
        """Return logits for styles (image, layer, width) and noise, a map for each layer."""
        x = self.start.expand(styles.shape[0], -1, -1, -1)
        pixels: Tensor | None = None
        for level, layer in enumerate(self.layers):
            x, added = layer(x, styles[:, level], noise[level])
            pixels = added if pixels is None else enlarged(pixels, self.sizes[level]) + added
        assert pixels is not None
        return pixels

    def modulations(self, begin: int, end: int) -> Tensor:
        """Return what the convolutions of layers begin to end - 1 make of a style, (channel, w).

        Those to pixels are left out, as SeFa's authors do.
        """
        layers = [layer for layer in self.layers if isinstance(layer, StyledLayer)]
        return torch.cat([layer.convolution.style.weight for layer in layers[begin:end]])

    def draw_noise(self, count: int, deviation: float) -> list[Tensor]:
        """Draw noise for so many images, a map for each layer."""
        device = self.start.device
        return [deviation * torch.randn(count, 1, *size, device=device) for size in self.sizes]

    def no_noise(self) -> list[Tensor]:
        """Return maps of 0, the mean of all noise."""
        return [self.start.new_zeros(1, 1, *size) for size in self.sizes]


def enlarged(maps: Tensor, size: Size) -> Tensor:
    """Return maps of a finer size, or as they are if they have it."""
    if maps.shape[2:] == size:
        return maps
    return interpolate(maps, size=size, mode="bilinear", align_corners=False)


class Judge(nn.Module):
    """From images to one logit each; it also sees how much the images of a group differ."""

    def __init__(self, image_shape: ImageShape, channels: tuple[int, ...], width: int):
        super().__init__()
        sizes = map_sizes(image_shape)[::-1]
        depths = channels_at(channels, len(sizes))[::-1]
        if len(sizes) < 2:
            raise ConfigError(
                f"a style-based generator needs images of {SHORTEST_SIDE_HALVED} pixels or more, "
                f"found {image_shape[1]}×{image_shape[2]}"
            )
        inputs = [image_shape[0], *depths[1:-1]]
        self.halving = nn.ModuleList(
            halving(before, after, fine, coarse)
            for before, after, fine, coarse in zip(
                inputs, depths[1:], sizes[:-1], sizes[1:], strict=True
            )
        )
        self.mixing = ScaledConv(depths[-1] + 1, depths[-1], (3, 3))
        self.features_size = depths[-1] * math.prod(sizes[-1])
        self.hidden = ScaledLinear(self.features_size, width)
        self.logit = ScaledLinear(width, 1)

    def forward(self, images: Images) -> Tensor:
        x = self.mixing(with_deviation(self.maps(images)))
        x = leaky(self.hidden(x.flatten(1)))
        logits: Tensor = self.logit(x)
        return logits

    def maps(self, images: Images) -> Tensor:
        """Return the coarsest maps, of each image by itself."""
        x = images
        for layer in self.halving:
            x = layer(x)
        return x

    def features(self, images: Images) -> Tensor:
        """Return what is known of each image by itself, (image, feature)."""
        return self.maps(images).flatten(1)


def halving(inputs: int, outputs: int, fine: Size, coarse: Size) -> ScaledConv:
    """Return a convolution from maps of a size to the next: kernel 4 along a side it halves."""
    halved = [before != after for before, after in zip(fine, coarse, strict=True)]
    height, width = (4 if half else 3 for half in halved)
    down, across = (2 if half else 1 for half in halved)
    return ScaledConv(inputs, outputs, (height, width), (down, across))


def with_deviation(x: Tensor) -> Tensor:
    """Add a channel that says how much the images of each group of `GROUP` differ.

    One number: the deviation over the group, averaged over channels and places. A generator
    that draws one image again and again gives itself away by it.
    """
    count = len(x)
    size = next(size for size in range(min(GROUP, count), 0, -1) if count % size == 0)
    groups = x.reshape(size, count // size, -1)
    deviation = (groups.var(0, correction=0) + TINY).sqrt().mean(1)
    channel = deviation.repeat(size)[:, None, None, None].expand(-1, 1, *x.shape[2:])
    return torch.cat([x, channel], dim=1)
