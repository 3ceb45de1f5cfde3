"""Which settings make an InfoGAN train, and what do generators learn beside VAEs?

    python benchmarks/generators.py tries --seeds 0          # one setting changed at a time
    python benchmarks/generators.py rows --seeds 11 12 13    # generators and VAEs, same data
    python benchmarks/generators.py --report                 # writes docs/results/generators.md

Trains on two small sets in which the class is what images differ by most, one thread, and
appends a JSON line per run to docs/results/generators.jsonl; what is there is skipped, so it can
be stopped and given again. Seconds are those of the processor. What images show is read by the
nearest real image (`unweave.evaluation.generated`), not by a network of the generator's.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from unweave.data import FactorImages, load_data
from unweave.evaluation.generated import Reader, agreement, how_real, modes_covered
from unweave.methods import Method
from unweave.methods.aae_clustering import AAEClustering
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.elastic_info_gan import ElasticInfoGAN
from unweave.methods.info_gan import InfoGAN
from unweave.methods.vae import VAE
from unweave.networks.conv_any import ConvAny
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam
from unweave.training import loop

RESULTS = Path(__file__).parent.parent / "docs" / "results"
KEPT, PAGE, PICTURES = (
    RESULTS / name for name in ("generators.jsonl", "generators.md", "generators")
)
QUIET = Machine(evaluations=0, threads=1, checkpoint_seconds=1e9)
NETWORK = ConvAny(channels=(8, 16, 32), hidden=128)
STEPS, BATCH = 1000, 32
SAMPLES = 2000


@dataclass(frozen=True)
class World:
    """Part of a set in which the class is what images differ by most."""

    title: str
    data: str
    holds: Callable[[np.ndarray], np.ndarray]
    """From factors (row, factor) to which rows belong to it; the first factor is the class."""
    classes: int
    modes: tuple[int, ...]
    """Factors whose combinations are the modes that samples should cover."""


WORLDS = {
    "shapes": World(
        "toy_shapes, centres within ±1 pixel",
        "toy_shapes",
        lambda f: (abs(f[:, 2:] - 6) <= 1).all(1),
        classes=3,
        modes=(0, 1),
    ),
    "digits": World(
        "glyphs, upright in the middle, sizes 15 and 17",
        "glyphs",
        lambda f: (f[:, 3] >= 2) & (f[:, 4:] == 2).all(1),
        classes=10,
        modes=(0, 2),
    ),
}
"""Modes are shape × side, and digit × thickness of the pen."""


@cache
def parts(world: str) -> tuple[FactorImages, FactorImages]:
    """Return the images to train on, and those that nobody learns from."""
    data = load_data(WORLDS[world].data)
    whole = data.subset(np.flatnonzero(WORLDS[world].holds(data.factors())))
    return whole.split(0.1, seed=0)


def settled(world: str, **changes: Any) -> InfoGAN:
    """Return InfoGAN as it was found to train, with some settings changed."""
    values: dict[str, Any] = {
        "categories": (WORLDS[world].classes,),
        "noise_dim": 5,
        "continuous_weight": 0.1,
        "normalized_heads": True,
        "activation_first": True,
        "average_images": 6400,
        "input_noise": 0.3,
        "discriminator_width": 64,
        "discriminator_optimizer": Adam(2e-3, betas=(0.5, 0.999)),
    }
    return InfoGAN(**values | changes)


SLOW = Adam(2e-4, betas=(0.5, 0.999))
TRIES: dict[str, dict[str, Any]] = {
    "as found": {},
    "no noise on what the discriminator sees": {"input_noise": 0.0},
    "discriminator at a tenth of the rate (the paper's balance)": {"discriminator_optimizer": SLOW},
    "two updates of the generator": {"generator_updates": 2},
    "normalisation before the activation": {"activation_first": False},
    "heads not normalised": {"normalized_heads": False},
    "no running average": {"average_images": 0.0},
    "R1 of weight 1 besides": {"gradient_penalty": 1.0},
    "continuous codes count as much": {"continuous_weight": 1.0},
    "λ = 0.3": {"information_weight": 0.3},
    "as it was: the paper's rates, 62 noise inputs, none of these": {
        "input_noise": 0.0,
        "discriminator_optimizer": SLOW,
        "activation_first": False,
        "normalized_heads": False,
        "average_images": 0.0,
        "continuous_weight": 1.0,
        "noise_dim": 62,
        "discriminator_width": 128,
    },
}
OFTEN = Adam(1e-3)
ROWS: dict[str, Callable[[str], Method]] = {
    "info_gan": settled,
    "info_gan, λ = 0": lambda world: settled(world, information_weight=0),
    "elastic_info_gan": lambda world: ElasticInfoGAN(
        **{name: value for name, value in vars(settled(world)).items() if name != "latent_dim"}
    ),
    "vae": lambda world: VAE(latent_dim=6, optimizer=OFTEN),
    "beta_vae, β = 4": lambda world: BetaVAE(latent_dim=6, beta=4, optimizer=OFTEN),
    "aae_clustering": lambda world: AAEClustering(
        latent_dim=4, clusters=WORLDS[world].classes, optimizer=OFTEN
    ),
}


def drawn(run: Run, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return codes from the prior, and images drawn of them."""
    codes = run.prior_codes(SAMPLES, seed)
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(seed)
        run.nets.eval()
        images = run.config.method.draw_images(run.nets, torch.from_numpy(codes)).numpy()
    return codes, images


def figures(run: Run, world: str) -> dict[str, Any]:
    """Return what a run learnt, by a reader that knows real images only."""
    place, (known, unknown) = WORLDS[world], parts(world)
    reader = Reader(known.images(np.arange(len(known))), known.factors())
    strange = unknown.images(np.arange(len(unknown)))
    codes, made = drawn(run)
    shown = reader.read(made)
    found: dict[str, Any] = {
        "modes covered": modes_covered(shown, known.factors(), place.modes),
        "distance from real": how_real(made, strange, reader),
        "reader right": float((reader.read(strange)[:, 0] == unknown.factors()[:, 0]).mean()),
    }
    category = next((unit for unit in run.code.units if unit.kind == "category"), None)
    if category is not None:
        chosen = list(category.dimensions)
        named = run.encode(reader.known)[:, chosen].argmax(1)
        found |= {
            f"NMI with {name}": agreement(named, values)
            for name, values in zip(known.factor_names, known.factors().T, strict=True)
            if len(np.unique(values)) > 1
        }
        found["NMI of samples"] = agreement(codes[:, chosen].argmax(1), shown[:, 0])
    return found


def sheet(run: Run, path: Path, columns: int = 16) -> None:
    """Save images drawn from the prior, a line for each category if there is one."""
    codes, made = drawn(run, seed=1)
    category = next((unit for unit in run.code.units if unit.kind == "category"), None)
    if category is None:
        lines = [made[i : i + columns, 0] for i in range(0, 4 * columns, columns)]
    else:
        chosen = codes[:, list(category.dimensions)].argmax(1)
        lines = [made[chosen == value][:columns, 0] for value in range(len(category.dimensions))]
        lines = [line for line in lines if len(line) == columns]
    pixels = np.vstack([np.hstack(list(line)) for line in lines])
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.rint(255 * pixels).astype(np.uint8)).save(path, optimize=True)


def measure(part: str, name: str, world: str, seed: int) -> dict[str, Any]:
    """Train one run and return its line."""
    method = settled(world, **TRIES[name]) if part == "tries" else ROWS[name](world)
    config = Train(
        method=method,
        data=WORLDS[world].data,
        architecture=NETWORK,
        steps=STEPS,
        batch_size=BATCH,
        seed=seed,
    )
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        run = loop.start(config, parts(world)[0], Path(folder) / "run", QUIET)
        seconds = time.process_time() - began
    if part == "rows":
        plain = "".join(c if c.isalnum() else "_" for c in name)
        sheet(run, PICTURES / f"{plain}-{world}.png")
    key = {"part": part, "name": name, "world": world, "seed": seed}
    return key | {"cpu_seconds": round(seconds, 1)} | figures(run, world)


def kept() -> list[dict[str, Any]]:
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.is_file() else []
    return [json.loads(line) for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=("tries", "rows"))
    parser.add_argument("--only", nargs="+", help="names of tries or rows; by default all")
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=list(WORLDS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    done = {(e["part"], e["name"], e["world"], e["seed"]) for e in kept()}
    names = wanted.only or list(TRIES if wanted.part == "tries" else ROWS)
    for name in names if wanted.part else []:
        for world in wanted.worlds:
            for seed in wanted.seeds:
                if (wanted.part, name, world, seed) in done:
                    continue
                line = json.dumps(measure(wanted.part, name, world, seed), ensure_ascii=False)
                with KEPT.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
                print(line, flush=True)


if __name__ == "__main__":
    main()
