"""Networks of a ladder of stochastic layers, from one pixel down to maps of the image's size.

As in the code of R. Child, arXiv:2011.10650, at teaching size: residual blocks of
four convolutions, an encoder upwards, and downwards one layer after another, each
with a prior and a posterior that depend on what is above.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d, gelu, interpolate

from unweave.errors import ConfigError
from unweave.networks._networks import ImageShape
from unweave.networks._stages import coarser_to_finer, finer_to_coarser, stages
from unweave.probability.gaussian import DiagonalGaussian
from unweave.tensors import Images

Size = tuple[int, int]
Choose = Callable[[int, Tensor, DiagonalGaussian], Tensor]
"""From a layer's number, its state and its prior to its latents, (batch, latent, height, width)."""

BOTTLENECK = 4  # a block is so many times narrower inside
SMALLEST_SPREAD = 3  # pixels; on smaller maps a 3×3 kernel would see padding only


class Block(nn.Module):
    """Convolutions 1×1, 3×3, 3×3, 1×1, a GELU before each."""

    def __init__(self, inputs: int, outputs: int, width: int, size: Size):
        super().__init__()
        middle = max(width // BOTTLENECK, 1)
        kernel = 3 if min(size) >= SMALLEST_SPREAD else 1
        self.narrow = nn.Conv2d(inputs, middle, 1)
        self.first = nn.Conv2d(middle, middle, kernel, padding=kernel // 2)
        self.second = nn.Conv2d(middle, middle, kernel, padding=kernel // 2)
        self.widen = nn.Conv2d(middle, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        for convolution in (self.narrow, self.first, self.second, self.widen):
            x = convolution(gelu(x))
        return x


class StochasticLayer(nn.Module):
    """One rung: state in, latents chosen, state out."""

    def __init__(self, width: int, latents: int, size: Size, *, begins_size: bool, scale: float):
        super().__init__()
        self.size, self.latents = size, latents
        self.posterior_net = Block(2 * width, 2 * latents, width, size)
        self.prior_net = Block(width, 2 * latents + width, width, size)
        self.from_latents = nn.Conv2d(latents, width, 1)
        self.residual = Block(width, width, width, size)
        # The first layer of a size adds a map of its own to the enlarged state.
        self.start = nn.Parameter(torch.zeros(1, width, *size)) if begins_size else None
        # A prior of N(0, I) and no change of the state, until training says otherwise.
        for parameter in self.prior_net.widen.parameters():
            nn.init.zeros_(parameter)
        # So that the variance of the state does not grow with the number of layers.
        with torch.no_grad():
            self.from_latents.weight *= scale
            self.residual.widen.weight *= scale

    def enter(self, state: Tensor) -> Tensor:
        """Bring the state above to the size of this layer."""
        if self.start is None:
            return state
        # In this order the sum takes the layout of the map, not that of a single pixel enlarged,
        # which is none: gradients of two layouts are slow to bring together.
        return self.start + interpolate(state, size=self.size)

    def posterior(self, state: Tensor, activation: Tensor) -> DiagonalGaussian:
        """Return q(z | x, latents above)."""
        outputs = self.posterior_net(torch.cat([state, activation], dim=1))
        return DiagonalGaussian.from_outputs(outputs)

    def prior(self, state: Tensor) -> tuple[DiagonalGaussian, Tensor]:
        """Return p(z | latents above), and the state with what the prior net adds to it."""
        outputs = self.prior_net(state)
        latents, change = outputs.split([2 * self.latents, outputs.shape[1] - 2 * self.latents], 1)
        return DiagonalGaussian.from_outputs(latents), state + change

    def leave(self, state: Tensor, z: Tensor) -> Tensor:
        """Return the state below, once the latents are chosen."""
        state = state + self.from_latents(z)
        state = state + self.residual(state)
        return state


class BottomUp(nn.Module):
    """The encoder: one activation for each size, finest last.

    Maps shrink by averaging. An average over the whole map no longer says where a thing is;
    with `learnt_top` the last step, to one pixel, has a weight for each pixel instead.
    """

    def __init__(self, image_shape: ImageShape, width: int, *, learnt_top: bool = False):
        super().__init__()
        sizes = ladder_sizes(image_shape)
        self.to_top = nn.Conv2d(width, width, sizes[1]) if learnt_top else None
        self.stem = finer_to_coarser(stages(image_shape, (width,))[0])
        self.sizes = sizes[::-1]
        self.blocks = nn.ModuleList([Block(width, width, width, size) for size in self.sizes])

    def forward(self, images: Images) -> list[Tensor]:
        state = self.stem(images)
        activations = []
        for size, block in zip(self.sizes, self.blocks, strict=True):
            if self.to_top is not None and size == (1, 1):
                state = self.to_top(state)
            else:
                state = adaptive_avg_pool2d(state, size)
            state = state + block(state)
            activations.append(state)
        return activations[::-1]


class TopDown(nn.Module):
    """The decoder: every stochastic layer in order, then logits of pixels."""

    def __init__(
        self,
        image_shape: ImageShape,
        width: int,
        *,
        layers_at_size: tuple[int, ...],
        latents: int,
        map_latents: int,
    ):
        super().__init__()
        sizes = ladder_sizes(image_shape)
        last = len(layers_at_size) - 1
        counts = [layers_at_size[min(level, last)] for level in range(len(sizes))]
        self.levels = [level for level, count in enumerate(counts) for _ in range(count)]
        """Which size each layer has, by its place in the list of sizes."""
        self.layers = nn.ModuleList(
            StochasticLayer(
                width,
                map_latents if level else latents,
                sizes[level],
                begins_size=index == 0 or self.levels[index - 1] != level,
                scale=math.sqrt(1 / len(self.levels)),
            )
            for index, level in enumerate(self.levels)
        )
        self.width, self.finest = width, sizes[-1]
        self.to_logits = coarser_to_finer(stages(image_shape, (width,))[0])

    def forward(self, count: int, choose: Choose) -> Tensor:
        """Walk down the ladder for so many images; `choose` gives the latents of each layer."""
        device = self.to_logits.weight.device
        state = torch.zeros(count, self.width, 1, 1, device=device)
        for index in range(len(self.layers)):
            layer = self.layer(index)
            state = layer.enter(state)
            prior, changed = layer.prior(state)
            state = layer.leave(changed, choose(index, state, prior))
        logits: Tensor = self.to_logits(gelu(interpolate(state, size=self.finest)))
        return logits

    def layer(self, index: int) -> StochasticLayer:
        """Return a layer, counted from the top."""
        layer = self.layers[index]
        assert isinstance(layer, StochasticLayer)
        return layer

    def latent_shape(self, index: int) -> tuple[int, int, int]:
        """Return channels, height and width of a layer's latents."""
        layer = self.layer(index)
        return (layer.latents, *layer.size)


def ladder_sizes(image_shape: ImageShape) -> list[Size]:
    """List heights and widths of the ladder, from one pixel down to half the image's size."""
    found = stages(image_shape)
    if not found:
        raise ConfigError(
            f"a ladder needs images of 6 pixels or more, found {image_shape[1]}×{image_shape[2]}"
        )
    return [(1, 1), *(stage.coarse[1:] for stage in reversed(found))]
