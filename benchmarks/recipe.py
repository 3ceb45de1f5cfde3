"""Which settings give the best code in a few minutes on a processor?

Trains candidate settings on dSprites, each for the same budget of training
seconds, and records the 20-bin MIG of 10,000 images and the evidence bound on
the way. Writes one JSON line per measurement; `--report` turns the lines into
docs/results/recipe.md and its picture.

    python benchmarks/recipe.py --seconds 60 --threads 1 --seeds 0 1
    python benchmarks/recipe.py --report

Seconds are seconds of the processor divided by the threads used, so that other
work on the machine does not count; on a quiet machine they are wall seconds.
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from unweave import devices
from unweave.data import FactorImages, load_data
from unweave.data._pixels import FunctionPixels
from unweave.evaluation.encode import encode_run
from unweave.methods import Method
from unweave.methods.annealed_vae import AnnealedVAE
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.metrics import mig
from unweave.networks import Architecture, ImageShape, Networks
from unweave.networks.conv64 import Conv64
from unweave.networks.conv_any import ConvAny
from unweave.networks.quick64 import Quick64
from unweave.probability.total_correlation import Estimator
from unweave.recipes import demo
from unweave.runs.config import Train
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule, constant
from unweave.training import loop
from unweave.training.game import Game

RESULTS = Path(__file__).parent.parent / "docs" / "results"
MEASUREMENTS = 6


def tcvae(beta: float, rate: float, estimator: Estimator = "stratified") -> BetaTCVAE:
    optimizer = Adam(rate, warmup_steps=200)
    return BetaTCVAE(beta=constant(beta), estimator=estimator, optimizer=optimizer)


def on_dsprites(method: Method, network: Architecture, batch_size: int) -> Train:
    return Train(method=method, architecture=network, data="dsprites", batch_size=batch_size)


def beta_vae(beta: float, rate: float) -> BetaVAE:
    return BetaVAE(beta=constant(beta), optimizer=Adam(rate, warmup_steps=200))


def annealed(capacity: str, rate: float) -> AnnealedVAE:
    schedule = Schedule.parse(capacity)
    optimizer = Adam(rate, warmup_steps=200)
    return AnnealedVAE(gamma=constant(100), capacity=schedule, optimizer=optimizer)


def shortened(config: Train, steps: int) -> Train:
    """Return settings whose schedules end after so many steps."""
    method = config.method
    assert isinstance(method, BetaTCVAE)
    beta = Schedule(method.beta.start, method.beta.end, steps)
    optimizer = replace(method.optimizer, decay_steps=steps)
    return replace(config, method=replace(method, beta=beta, optimizer=optimizer))


def at_quarter_scale(method: BetaTCVAE) -> BetaTCVAE:
    """Return the method for images with a quarter of the pixels, so that β keeps its meaning.

    Reconstruction counts a quarter of the pixels; the other terms are quartered likewise.
    """
    quarter = constant(0.25)
    beta = constant(method.beta.at(0) / 4)
    return replace(method, alpha=quarter, beta=beta, gamma=quarter)


class Quick32(Quick64):
    """quick64 for images of 32×32, in patches of 2×2: all but the patches is the same."""

    def encoder(self, image_shape: ImageShape, outputs: int) -> nn.Module:
        encoder = super().encoder((image_shape[0], 64, 64), outputs)
        encoder[0] = nn.Conv2d(image_shape[0], self.channels[0], kernel_size=2, stride=2)
        return encoder

    def decoder(self, inputs: int, image_shape: ImageShape) -> nn.Module:
        decoder = super().decoder(inputs, (image_shape[0], 64, 64))
        decoder[-1] = nn.ConvTranspose2d(self.channels[0], image_shape[0], kernel_size=2, stride=2)
        return decoder


def grow(small: nn.Module, large: nn.Module) -> None:
    """Give quick64 what quick32 has learnt, so that at first it codes and decodes the same.

    A patch of 4×4 pixels is seen through the means of its 2×2 blocks; a decoded pixel
    becomes four.
    """
    learnt = small.state_dict()
    for name, wanted in large.state_dict().items():
        if learnt[name].shape != wanted.shape:
            learnt[name] = learnt[name].repeat_interleave(2, 2).repeat_interleave(2, 3)
            if name.startswith("encoder"):
                learnt[name] /= 4
    large.load_state_dict(learnt)


# Name → settings; the first are the field's habits.
CANDIDATES: dict[str, Train] = {
    "β-VAE 4, conv64, batch 64, 1e-3": on_dsprites(beta_vae(4, 1e-3), Conv64(), 64),
    "β-TCVAE 6, conv64, batch 64, 1e-3": on_dsprites(tcvae(6, 1e-3), Conv64(), 64),
    "β-TCVAE 6, quick64, batch 64, 1e-3": on_dsprites(tcvae(6, 1e-3), Quick64(), 64),
    "β-TCVAE 6, quick64, batch 256, 2e-3": on_dsprites(tcvae(6, 2e-3), Quick64(), 256),
    "AnnealedVAE 25, quick64, batch 64, 1e-3": on_dsprites(
        annealed("0:25:4000", 1e-3), Quick64(), 64
    ),
    "β-TCVAE 12, quick64, batch 64, 1e-3": on_dsprites(tcvae(12, 1e-3), Quick64(), 64),
    "β-TCVAE 12, quick64, batch 128, 2e-3": on_dsprites(tcvae(12, 2e-3), Quick64(), 128),
    "β-TCVAE 10 weighted, quick64, batch 128, 2e-3": on_dsprites(
        tcvae(10, 2e-3, "weighted"), Quick64(), 128
    ),
    "β-TCVAE 12, quick64, batch 512, 4e-3": on_dsprites(tcvae(12, 4e-3), Quick64(), 512),
    "β-TCVAE 12, quick64, batch 1024, 4e-3": on_dsprites(tcvae(12, 4e-3), Quick64(), 1024),
    "the default: β-TCVAE 12 to 3, quick64, batch 128, 2e-3 to 0": shortened(demo(), 1250),
    "β-TCVAE 12, 32×32, batch 128, 2e-3": on_dsprites(
        at_quarter_scale(tcvae(12, 2e-3)), ConvAny(channels=(16, 32, 32), hidden=128), 128
    ),
    "β-TCVAE 12, 32×32, batch 512, 4e-3": on_dsprites(
        at_quarter_scale(tcvae(12, 4e-3)), ConvAny(channels=(16, 32, 32), hidden=128), 512
    ),
    "β-TCVAE 12, quick64, 32×32 then 64×64, batch 128, 2e-3": on_dsprites(
        tcvae(12, 2e-3), Quick64(), 128
    ),
}


def half_size(data: FactorImages) -> FactorImages:
    """Return the images as means of blocks of 2×2 pixels."""
    channels, height, width = data.image_shape

    def block_means(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        images = data.pixels.gather(rows, rng)
        lines = images[:, :, ::2] + images[:, :, 1::2]
        return (lines[..., ::2] + lines[..., 1::2]) / 4

    pixels = FunctionPixels((channels, height // 2, width // 2), len(data), block_means)
    return FactorImages(data.name, pixels, data.factor_list)


def stages_of(name: str) -> list[tuple[Train, FactorImages]]:
    """Return settings and images of a candidate, for each equal part of its time."""
    config, data = CANDIDATES[name], load_data("dsprites")
    if "32×32 then 64×64" in name:
        assert isinstance(config.method, BetaTCVAE)
        method = at_quarter_scale(config.method)
        first = replace(config, method=method, architecture=Quick32())
        return [(first, half_size(data)), (config, data)]
    return [(config, half_size(data) if "32×32" in name else data)]


def processor_seconds(threads: int) -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) / threads


def measure(
    name: str, seed: int, seconds: float, threads: int, device: torch.device
) -> Iterator[dict[str, Any]]:
    """Train for a budget and yield what the code is worth on the way."""
    stages = stages_of(name)
    spent, step = 0.0, 0
    nets: Networks | None = None
    for index, (settings, data) in enumerate(stages):
        config = replace(settings, seed=seed)
        learnt, nets = nets, loop.make_networks(config, data)
        devices.place(nets, device)
        if learnt is not None:
            grow(learnt, nets)
        game = Game(config, data.summary, nets)
        run = Run(config, data.summary, nets, step=0, data=data)
        entered = step
        parts = MEASUREMENTS // len(stages)
        for part in range(index * parts + 1, (index + 1) * parts + 1):
            began = processor_seconds(threads)
            while spent + processor_seconds(threads) - began < seconds * part / MEASUREMENTS:
                for move in loop.moves_of_step(config, nets, data, device, step):
                    game.play(move, step - entered)  # each stage warms up anew
                step += 1
            spent += processor_seconds(threads) - began
            yield {
                "candidate": name,
                "seed": seed,
                "threads": threads,
                "seconds": round(spent, 1),
                "step": step,
                "images": step * config.batch_size,
            } | worth(run)


def worth(run: Run) -> dict[str, Any]:
    """Return what the code of a run is worth."""
    encoded = encode_run(run, rows=10_000)
    mean, logvar = encoded.posterior or (encoded.codes, np.zeros_like(encoded.codes))
    kl = 0.5 * (mean**2 + np.exp(logvar) - 1 - logvar).mean(axis=0)
    return {
        "mig": round(mig(encoded.codes, encoded.factors).value, 4),
        "elbo": round(encoded.terms["elbo"], 2),
        "active": int((kl > 0.01).sum()),
    }


def read(path: Path) -> list[dict[str, Any]]:
    """Return the measurements made so far."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def report(lines: list[dict[str, Any]]) -> str:
    """Draw the curves and return the table of their ends as markdown."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(line["candidate"] for line in lines))
    figure, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    table = ["| candidate | seeds | steps | MIG at the end | best MIG | ELBO | active | images/s |"]
    table.append("|---|---|---|---|---|---|---|---|")
    ends = []
    for index, name in enumerate(names):
        seeds = sorted({line["seed"] for line in lines if line["candidate"] == name})
        curves = [
            [line for line in lines if line["candidate"] == name and line["seed"] == seed]
            for seed in seeds
        ]
        for curve in curves:
            for axis, key in zip(axes, ("mig", "elbo"), strict=True):
                axis.plot(
                    [line["seconds"] for line in curve],
                    [line[key] for line in curve],
                    color=f"C{index % 10}",
                    linestyle="-" if index < 10 else "--",
                    label=name if curve is curves[0] and axis is axes[0] else None,
                )
        last = [curve[-1] for curve in curves]
        mean = {key: np.mean([line[key] for line in last]) for key in ("mig", "elbo", "step")}
        rate = np.mean([line["images"] / line["seconds"] for line in last])
        best = max(line["mig"] for curve in curves for line in curve)
        each = ", ".join(f"{line['mig']:.2f}" for line in last)
        active = ", ".join(str(line["active"]) for line in last)
        row = f"| {name} | {len(seeds)} | {mean['step']:,.0f} | {each} | {best:.2f} | "
        ends.append((mean["mig"], row + f"{mean['elbo']:.1f} | {active} | {rate:,.0f} |"))
    axes[0].set(xlabel="seconds of training", ylabel="MIG, 20 bins, 10,000 images")
    axes[1].set(xlabel="seconds of training", ylabel="ELBO, nats", ylim=(-250, None))
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    figure.savefig(RESULTS / "recipe.png", dpi=110)
    table += [row for _, row in sorted(ends, key=lambda end: -end[0])]
    return "\n".join(table)


def write_report(path: Path) -> None:
    """Renew the measured part of docs/results/recipe.md; the words around it stay."""
    page = RESULTS / "recipe.md"
    start, end = "<!-- measured -->", "<!-- end of measured -->"
    before, rest = page.read_text(encoding="utf-8").split(start)
    after = rest.split(end)[1]
    table = report(read(path))
    page.write_text(
        f"{before}{start}\n\n{table}\n\n![Curves](recipe.png)\n\n{end}{after}", encoding="utf-8"
    )
    print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--only", default="", help="candidates whose name contains this")
    parser.add_argument("--out", type=Path, default=RESULTS / "recipe.jsonl")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "SEED"), help=argparse.SUPPRESS)
    parser.add_argument("--report", action="store_true", help="write the page and stop")
    arguments = parser.parse_args()
    if arguments.report:
        write_report(arguments.out)
        return
    if arguments.one:
        name, seed = arguments.one
        device = devices.choose_device("cpu")
        devices.tune_allocator()
        devices.use_threads(arguments.threads)
        for line in measure(name, int(seed), arguments.seconds, arguments.threads, device):
            print(json.dumps(line, ensure_ascii=False), flush=True)
        return
    known = {(line["candidate"], line["seed"]) for line in read(arguments.out)}
    for seed in arguments.seeds:
        for name in CANDIDATES:
            if arguments.only not in name or (name, seed) in known:
                continue
            # A process of its own: no candidate profits from another's warm memory.
            words = [sys.executable, __file__, "--one", name, str(seed)]
            words += ["--seconds", str(arguments.seconds), "--threads", str(arguments.threads)]
            done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
            with open(arguments.out, "a", encoding="utf-8") as file:
                file.write(done.stdout)
            print(done.stdout.splitlines()[-1], flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
