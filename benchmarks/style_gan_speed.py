"""How long does a step of style_gan take, beside a loop as it is usually written?

    python benchmarks/style_gan_speed.py --steps 40

The plain loop has the same networks, batches and players. It makes weights for each image and
convolves in groups, scales leaky units after them, draws images anew for each player, takes R1 in
an update of its own, and follows weights one by one. Steps of both take turns; seconds are those of
the processor. Of the means over as many steps as have R1 once, the median counts, so that other
work on the machine hardly does.
"""

import argparse
import copy
import math
import time
from statistics import median

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import conv2d, interpolate, leaky_relu, softplus

from unweave import devices
from unweave.data import FactorImages, load_data
from unweave.methods._style_networks import StyledLayer, Synthesis
from unweave.methods.style_gan import StyleGAN, mixed, squared_slope
from unweave.networks import Networks
from unweave.runs.config import Train
from unweave.training import loop
from unweave.training.game import Game

BATCH = 32
METHOD = StyleGAN()
CPU = torch.device("cpu")


def grouped(x: Tensor, weights: Tensor) -> Tensor:
    """Convolve each image with weights of its own, (image, output, input, side, side)."""
    count, outputs, _, side, _ = weights.shape
    maps = x.reshape(1, -1, *x.shape[2:])
    made = conv2d(maps, weights.flatten(0, 1), padding=side // 2, groups=count)
    return made.view(count, outputs, *made.shape[2:])


def plain_layer(layer: StyledLayer, x: Tensor, w: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Do what a layer does, as the papers write it."""
    if x.shape[2:] != noise.shape[2:]:
        x = interpolate(x, size=noise.shape[2:], mode="bilinear", align_corners=False)
    weights = layer.convolution.weight * layer.convolution.style(w)[:, None, :, None, None]
    weights = weights * (weights.square().sum((2, 3, 4), keepdim=True) + 1e-8).rsqrt()
    x = grouped(x, weights) + layer.noise_weight * noise + layer.bias[:, None, None]
    x = leaky_relu(x, 0.2) * math.sqrt(2)
    pixel = layer.to_pixels
    weights = (pixel.free / math.sqrt(pixel.free.shape[1]) * pixel.style(w)[:, None])[
        ..., None, None
    ]
    return x, grouped(x, weights) + pixel.bias[:, None, None]


def plain_images(synthesis: Synthesis, styles: Tensor) -> Tensor:
    """Draw images as the papers write it."""
    noise = synthesis.draw_noise(len(styles), METHOD.noise)
    x, pixels = synthesis.start.expand(len(styles), -1, -1, -1), None
    for level, layer in enumerate(synthesis.layers):
        assert isinstance(layer, StyledLayer)
        x, added = plain_layer(layer, x, styles[:, level], noise[level])
        if pixels is not None:
            size = noise[level].shape[2:]
            added = added + interpolate(pixels, size=size, mode="bilinear", align_corners=False)
        pixels = added
    assert pixels is not None
    return torch.sigmoid(pixels)


class PlainLoop:
    """A loop as one finds them."""

    def __init__(self, nets: Networks, images: Tensor):
        self.nets, self.images = nets, images
        self.shown = copy.deepcopy(torch.nn.ModuleList([nets.mapping, nets.synthesis]))
        of_mapping = {"params": nets.mapping.parameters(), "lr": 2e-3 * METHOD.mapping_speed}
        of_synthesis = {"params": nets.synthesis.parameters()}
        self.generator = torch.optim.Adam([of_synthesis, of_mapping], 2e-3, betas=(0.0, 0.99))
        self.judge = torch.optim.Adam(nets.judge.parameters(), 2e-3, betas=(0.0, 0.99))

    def fakes(self) -> Tensor:
        first, second = (self.nets.mapping(torch.randn(BATCH, METHOD.width)) for _ in range(2))
        layers = len(self.nets.synthesis.sizes)
        crossover = torch.randint(1, layers, (BATCH,))
        crossover[torch.rand(BATCH) >= METHOD.mixing] = layers
        return plain_images(self.nets.synthesis, mixed(first, second, crossover, layers))

    def step(self, step: int) -> None:
        real = self.images[torch.randint(len(self.images), (BATCH,))]
        with torch.no_grad():
            fakes = self.fakes()
        loss = softplus(-self.nets.judge(real)).mean() + softplus(self.nets.judge(fakes)).mean()
        self.update(self.judge, loss)
        if step % METHOD.lazy == 0:
            real = real.detach().requires_grad_()
            slope = squared_slope(self.nets.judge(real), real)
            self.update(self.judge, METHOD.lazy * METHOD.r1_weight.at(step) / 2 * slope)
        self.update(self.generator, softplus(-self.nets.judge(self.fakes())).mean())
        trained = torch.nn.ModuleList([self.nets.mapping, self.nets.synthesis])
        with torch.no_grad():
            for mean, weight in zip(self.shown.parameters(), trained.parameters(), strict=True):
                mean.lerp_(weight, 0.005)

    def update(self, optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class OurLoop:
    """The steps of a run, without its files."""

    def __init__(self, config: Train, data: FactorImages):
        self.config, self.data = config, data
        self.nets = loop.make_networks(config, data)
        devices.place(self.nets, CPU)
        self.game = Game(config, data.summary, self.nets)

    def step(self, step: int) -> None:
        for move in loop.moves_of_step(self.config, self.nets, self.data, CPU, step):
            self.game.play(move, step)
        self.game.averages.follow(step)


def typical(times: list[float]) -> float:
    """Return the median of means over as many steps as have R1 once."""
    size = METHOD.lazy
    return median(sum(times[i : i + size]) / size for i in range(0, len(times) - size + 1, size))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--data", default="toy_xys")
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    devices.tune_allocator()
    data = load_data(wanted.data)
    config = Train(method=METHOD, data=wanted.data, steps=wanted.steps, batch_size=BATCH)
    ours = OurLoop(loop.resolved(config, data), data)
    images = torch.from_numpy(data.images(np.arange(len(data))))
    loops = {"plain": PlainLoop(loop.make_networks(ours.config, data), images), "ours": ours}
    seconds: dict[str, list[float]] = {name: [] for name in loops}
    for step in range(-3, wanted.steps):
        for name, each in loops.items():
            began = time.process_time()
            # The first steps, which find directions for pictures or warm up, are not counted.
            each.step(1 + step + 3)
            if step >= 0:
                seconds[name].append(time.process_time() - began)
    found = {name: 1e3 * typical(times) for name, times in seconds.items()}
    for name, milliseconds in found.items():
        print(f"{name:8} {milliseconds:6.1f} ms of the processor a step")
    print(f"the plain loop takes {found['plain'] / found['ours']:.2f} times as long")


if __name__ == "__main__":
    main()
