"""How fast is a step of InfoGAN, against a plain PyTorch loop of the same networks?

    python benchmarks/generator_speed.py             # prints one JSON line

Both train on toy_shapes with batches of 64 images and one thread, and alternate; the median over
rounds counts. Seconds are those of the processor. The plain loop is what one writes without us:
eager, torch's own kernels, torch's Adam, a DataLoader; our loop draws by (seed, step), keeps a
record and refuses losses of another player's, as `unweave train` does.
"""

import argparse
import itertools
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unweave import devices
from unweave.data import load_data
from unweave.methods.info_gan import InfoGAN
from unweave.networks import plain_layers
from unweave.networks.conv_any import ConvAny
from unweave.runs.config import Train
from unweave.training import loop
from unweave.training.game import Game
from unweave.training.record import Record


def plain_step_seconds(steps: int) -> float:
    """Return the seconds of a step of a plain loop: eager, plain kernels, Adam, a DataLoader."""
    from torch.nn.functional import cross_entropy, softplus
    from torch.utils.data import DataLoader, TensorDataset

    data, method = load_data("toy_shapes"), InfoGAN(categories=(3,))
    nets = method.networks(ConvAny(), data.summary)
    images = torch.from_numpy(data.images(np.arange(len(data))))
    loader = iter(DataLoader(TensorDataset(images.repeat(20, 1, 1, 1)), 64, shuffle=True))
    judges = [*nets.trunk.parameters(), *nets.judge.parameters(), *nets.code_head.parameters()]
    of_judges = torch.optim.Adam(judges, 2e-4, betas=(0.5, 0.999))
    of_generator = torch.optim.Adam(nets.generator.parameters(), 1e-3, betas=(0.5, 0.999))

    def information(outputs: torch.Tensor, names: torch.Tensor, values: torch.Tensor) -> Any:
        squares = (outputs[:, 3:] - values).square().sum(1).mean()
        return -cross_entropy(outputs[:, :3], names) - 0.5 * squares

    def step() -> None:
        (real,) = next(loader)
        names, values = torch.randint(3, (64,)), 2 * torch.rand(64, 2) - 1
        noise = 2 * torch.rand(64, method.noise_dim) - 1
        inputs = torch.cat([noise, torch.nn.functional.one_hot(names, 3), values], 1)
        fakes = torch.sigmoid(nets.generator(inputs))
        features = nets.trunk(torch.cat([real, fakes.detach()]))
        right, wrong = nets.judge(features).chunk(2)
        loss = softplus(-right).mean() + softplus(wrong).mean()
        loss = loss - information(nets.code_head(features[64:]), names, values)
        of_judges.zero_grad()
        loss.backward()
        of_judges.step()
        features = nets.trunk(fakes)
        loss = softplus(-nets.judge(features)).mean()
        loss = loss - information(nets.code_head(features), names, values)
        of_generator.zero_grad()
        loss.backward()
        of_generator.step()

    with plain_layers():
        return timed(step, steps)


def our_step_seconds(steps: int) -> float:
    """Return the seconds of a step of our loop, with the record that it keeps."""
    config = Train(method=InfoGAN(categories=(3,)), data="toy_shapes", steps=10**6)
    data = load_data("toy_shapes")
    config = loop.resolved(config, data)
    nets = loop.make_networks(config, data)
    devices.place(nets, torch.device("cpu"))
    game, step = Game(config, data.summary, nets), itertools.count()

    with tempfile.TemporaryDirectory() as folder:
        record = Record(Path(folder) / "record.jsonl", 0)

        def make_step() -> None:
            at = next(step)
            for move in loop.moves_of_step(config, nets, data, torch.device("cpu"), at):
                for turn in game.play(move, at):
                    record.add(at, turn)

        return timed(make_step, steps)


def timed(step: Callable[[], None], steps: int) -> float:
    """Return the processor's seconds of a step, after a few that do not count."""
    for _ in range(3):
        step()
    began = time.process_time()
    for _ in range(steps):
        step()
    return (time.process_time() - began) / steps


def speed(steps: int, rounds: int) -> dict[str, Any]:
    """Return seconds of a step in our loop and in a plain one, which alternate."""
    pairs = [(our_step_seconds(steps), plain_step_seconds(steps)) for _ in range(rounds)]
    ours, plain = (sorted(each)[rounds // 2] for each in zip(*pairs, strict=True))
    ratios = sorted(slow / quick for quick, slow in pairs)
    return {
        "ours_ms": round(1e3 * ours, 1),
        "plain_ms": round(1e3 * plain, 1),
        "ratio": round(ratios[rounds // 2], 2),
        "least": round(ratios[0], 2),
        "largest": round(ratios[-1], 2),
        "rounds": rounds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    print(json.dumps(speed(wanted.steps, wanted.rounds)))


if __name__ == "__main__":
    main()
