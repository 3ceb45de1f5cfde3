"""How long do others take for the same step? Pythae's own loop and losses, with our network.

    python benchmarks/peers.py [--rounds 3] [--steps 60] [--methods beta_vae beta_tcvae]

Pythae is installed from its package into a folder of its own, build/peers, beside nothing of
ours but torch. Both train conv64 on the same dSprites images, batch 64, one thread, data loading
included, in a fresh process each, turn about. Seconds are those of the processor, so that other
work on the machine counts little; what is compared is always of one run of this command.

Renews its part of docs/results/peers.md. disent is left out: it needs torchvision.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from marked_pages import renew

ROOT = Path(__file__).parent.parent
SITE = ROOT / "build" / "peers" / "pythae"
PAGE = ROOT / "docs" / "results" / "peers.md"
VERSION = "0.1.2"
NEEDS = ("cloudpickle", "imageio", "pydantic", "tqdm", "typing-extensions")
METHODS = ("beta_vae", "beta_tcvae", "factor_vae")
BATCH, LATENTS = 64, 10


def install() -> None:
    """Put Pythae and what it needs besides torch and scikit-learn into its folder."""
    if (SITE / "pythae").is_dir():
        return
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(SITE)]
    subprocess.run([*pip, *NEEDS], check=True)
    subprocess.run([*pip, "--no-deps", f"pythae=={VERSION}"], check=True)


def used() -> float:
    """Return the seconds of the processor that this process has taken."""
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime


def ours(method: str, steps: int) -> float:
    """Return the seconds of so many steps of our loop, start and end included."""
    from unweave import devices
    from unweave.data import load_data
    from unweave.methods import method_named
    from unweave.networks.conv64 import Conv64
    from unweave.runs.config import Machine, Train
    from unweave.training import loop

    devices.tune_allocator()
    data = load_data("dsprites")
    # As many layers as Pythae's discriminator has; by default there is one more, as in the paper.
    more = {"discriminator_depth": 5} if method == "factor_vae" else {}
    config = Train(
        method=method_named(method)(latent_dim=LATENTS, **more),
        architecture=Conv64(),
        data="dsprites",
        steps=steps,
        batch_size=BATCH,
    )
    with tempfile.TemporaryDirectory() as folder:
        began = used()
        loop.start(config, data, Path(folder) / "run", Machine(threads=1, evaluations=0))
        return used() - began


def theirs(method: str, steps: int) -> float:
    """Return the seconds of one epoch of Pythae's trainer over as many images."""
    import numpy as np
    import torch
    from pythae.models import (
        BetaTCVAE,
        BetaTCVAEConfig,
        BetaVAE,
        BetaVAEConfig,
        FactorVAE,
        FactorVAEConfig,
    )
    from pythae.models.base.base_utils import ModelOutput
    from pythae.models.nn import BaseDecoder, BaseEncoder
    from pythae.pipelines import TrainingPipeline
    from pythae.trainers import AdversarialTrainerConfig, BaseTrainerConfig
    from torch import nn

    from unweave.data import load_data

    torch.set_num_threads(1)

    class Encoder(BaseEncoder):
        def __init__(self) -> None:
            super().__init__()
            sizes = [1, 32, 32, 64, 64]
            layers: list[nn.Module] = []
            for before, after in pairwise(sizes):
                layers += [nn.Conv2d(before, after, 4, 2, 1), nn.ReLU()]
            self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Linear(1024, 256), nn.ReLU())
            self.mean, self.logvar = nn.Linear(256, LATENTS), nn.Linear(256, LATENTS)

        def forward(self, images: torch.Tensor) -> Any:
            features = self.layers(images)
            return ModelOutput(embedding=self.mean(features), log_covariance=self.logvar(features))

    class Decoder(BaseDecoder):
        def __init__(self) -> None:
            super().__init__()
            sizes = [64, 64, 32, 32]
            layers: list[nn.Module] = [nn.Linear(LATENTS, 256), nn.ReLU()]
            layers += [nn.Linear(256, 1024), nn.ReLU(), nn.Unflatten(1, (64, 4, 4))]
            for before, after in pairwise(sizes):
                layers += [nn.ConvTranspose2d(before, after, 4, 2, 1), nn.ReLU()]
            last = nn.ConvTranspose2d(32, 1, 4, 2, 1)
            self.layers = nn.Sequential(*layers, last, nn.Sigmoid())

        def forward(self, codes: torch.Tensor) -> Any:
            return ModelOutput(reconstruction=self.layers(codes))

    kinds = {
        "beta_vae": (BetaVAE, BetaVAEConfig),
        "beta_tcvae": (BetaTCVAE, BetaTCVAEConfig),
        "factor_vae": (FactorVAE, FactorVAEConfig),
    }
    kind, settings = kinds[method]
    config = settings(input_dim=(1, 64, 64), latent_dim=LATENTS, reconstruction_loss="bce")
    model = kind(config, encoder=Encoder(), decoder=Decoder())
    data = load_data("dsprites")
    # Its FactorVAE splits a batch in two: of as many images each as one of ours.
    images_of_step = 2 * BATCH if method == "factor_vae" else BATCH
    rows = np.random.default_rng(0).choice(len(data), size=steps * images_of_step, replace=False)
    images = data.images(np.sort(rows))
    trainer = AdversarialTrainerConfig if method == "factor_vae" else BaseTrainerConfig
    with tempfile.TemporaryDirectory() as folder:
        how = trainer(output_dir=folder, num_epochs=1, per_device_train_batch_size=images_of_step)
        began = used()
        TrainingPipeline(training_config=how, model=model)(train_data=images)
        return used() - began


def seconds_of(who: str, method: str, steps: int) -> float:
    """Measure in a process of its own."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if who == "pythae":
        environment["PYTHONPATH"] = str(SITE)
    words = [sys.executable, __file__, "--one", who, method, str(steps)]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return float(json.loads(done.stdout.splitlines()[-1]))


def milliseconds_of_a_step(who: str, method: str, steps: int) -> float:
    """Return what a step costs: of long runs less short ones, so that no start counts."""
    long, short = seconds_of(who, method, 2 * steps), seconds_of(who, method, steps)
    return 1000 * (long - short) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        who, method, steps = options.one
        print(json.dumps((theirs if who == "pythae" else ours)(method, int(steps))))
        return
    install()
    lines = []
    for method in options.methods:
        found: dict[str, list[float]] = {"ours": [], "pythae": []}
        for _ in range(options.rounds):
            for who, values in found.items():
                values.append(milliseconds_of_a_step(who, method, options.steps))
        ratios = [b / a for a, b in zip(found["ours"], found["pythae"], strict=True)]
        cells = [
            f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"
            for values in (
                found["ours"],
                found["pythae"],
            )
        ]
        ratio = f"{statistics.median(ratios):.2f} × ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append(f"| {method} | {cells[0]} | {cells[1]} | {ratio} |")
        print(lines[-1], flush=True)
    renew(
        PAGE,
        {
            "steps": MEASURED.format(
                date=datetime.now(UTC).date(),
                rounds=options.rounds,
                steps=options.steps,
                version=VERSION,
                lines="\n".join(lines),
            )
        },
    )


MEASURED = """`python benchmarks/peers.py --rounds {rounds} --steps {steps}` on {date}, Pythae
{version}: medians of {rounds} rounds turn about, with their range; of each round runs of {steps}
steps are taken off runs of twice as many, so that no start counts. Where a range is wide, other
work ran beside it.

| method | ours | Pythae | how many times ours |
|---|---|---|---|
{lines}"""


if __name__ == "__main__":
    main()
