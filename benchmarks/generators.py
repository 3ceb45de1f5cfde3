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
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from unweave.methods import Method
from unweave.methods.aae_clustering import AAEClustering
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.elastic_info_gan import ElasticInfoGAN
from unweave.methods.vae import VAE
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam
from unweave.training import loop

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "acceptance"))

from rules._generators import BATCH, NETWORK, STEPS, WORLDS, drawn, figures, parts, settled

RESULTS = Path(__file__).parent.parent / "docs" / "results"
KEPT, PAGE, PICTURES = (
    RESULTS / name for name in ("generators.jsonl", "generators.md", "generators")
)
QUIET = Machine(evaluations=0, threads=1, checkpoint_seconds=1e9)


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
