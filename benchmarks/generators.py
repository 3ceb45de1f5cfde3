"""Which settings make an InfoGAN train, and what do generators learn beside VAEs?

    python benchmarks/generators.py tries --seeds 0          # one setting changed at a time
    python benchmarks/generators.py rows --seeds 11 12 13    # generators and VAEs, same data
    python benchmarks/generators.py speed                    # against a plain loop
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

import generator_speed
import generators_dsprites
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

from rules._generators import BATCH, NETWORK, WORLDS, drawn, figures, parts, settled

RESULTS = Path(__file__).parent.parent / "docs" / "results"
KEPT, PAGE, PICTURES = (
    RESULTS / name for name in ("generators.jsonl", "generators.md", "generators")
)
QUIET = Machine(evaluations=0, threads=1, checkpoint_seconds=1e9)


SLOW = Adam(4e-4, betas=(0.5, 0.999))
HALF = {
    "optimizer": Adam(1e-3, betas=(0.5, 0.999)),
    "discriminator_optimizer": Adam(2e-3, betas=(0.5, 0.999)),
}
TRIES: dict[str, dict[str, Any]] = {
    "as found": {},
    "no noise on what the discriminator sees": {"input_noise": 0.0},
    "judge does not see the spread": {"sees_spread": False},
    "5 noise inputs": {"noise_dim": 5},
    "62 noise inputs": {"noise_dim": 62},
    "both rates halved": HALF,
    "discriminator at a tenth of the rate": {"discriminator_optimizer": SLOW},
    "two updates of the generator": {"generator_updates": 2},
    "normalisation after the activation": {"activation_first": True},
    "heads normalised": {"normalized_heads": True},
    "no running averages": {"average_images": 0.0},
    "R1 of weight 1 besides": {"gradient_penalty": 1.0},
    "continuous codes count as much": {"continuous_weight": 1.0},
    "none of these: as it was": {
        "input_noise": 0.0,
        "sees_spread": False,
        "optimizer": Adam(1e-3, betas=(0.5, 0.999)),
        "discriminator_optimizer": Adam(2e-4, betas=(0.5, 0.999)),
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
        steps=WORLDS[world].steps,
        batch_size=BATCH,
        seed=seed,
    )
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        run = loop.start(config, parts(world)[0], Path(folder) / "run", QUIET)
        seconds = time.process_time() - began
    picture = PICTURES / f"{plain_name(name)}-{world}.png"
    if part == "rows" and not picture.is_file():  # of the first seed
        sheet(run, picture)
    key = {"part": part, "name": name, "world": world, "seed": seed}
    return key | {"steps": config.steps, "cpu_seconds": round(seconds, 1)} | figures(run, world)


def kept() -> list[dict[str, Any]]:
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.is_file() else []
    return [json.loads(line) for line in lines]


def cell(entries: list[dict[str, Any]], name: str) -> str:
    """Return the numbers of all seeds, or a dash."""
    found = [entry[name] for entry in entries if name in entry]
    return ", ".join(f"{value:.2f}" for value in found) or "–"


def other_factor(entry: dict[str, Any]) -> str:
    """Return the factor beside the class that the category says most of."""
    others = {
        name.removeprefix("NMI with "): value
        for name, value in entry.items()
        if name.startswith("NMI with ") and name != "NMI with class"
    }
    if not others:
        return "–"
    best = max(others, key=others.__getitem__)
    return f"{best} {others[best]:.2f}"


def table(part: str, names: list[str]) -> str:
    """Return what is kept of a part as Markdown, a line for each name and world."""
    lines = [
        "| | data | seeds | NMI of real images with class | most of the other factors | "
        "NMI of samples | classes covered | modes covered | distance from real | core seconds |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in names:
        for world in WORLDS:
            found = [
                e
                for e in kept()
                if (e["part"], e.get("name"), e.get("world")) == (part, name, world)
            ]
            if not found:
                continue
            cells = [
                ", ".join(str(e["seed"]) for e in found),
                cell(found, "NMI with class"),
                "; ".join(other_factor(e) for e in found),
                cell(found, "NMI of samples"),
                cell(found, "classes covered"),
                cell(found, "modes covered"),
                cell(found, "distance from real"),
                f"{np.median([e['cpu_seconds'] for e in found]):.0f}",
            ]
            lines.append(f"| {name} | {world} | {' | '.join(cells)} |")
    return "\n".join(lines) if len(lines) > 2 else "Nothing is kept yet."


def plain_name(name: str) -> str:
    """Return a name as files have it: info_gan, λ = 0 is info_gan_without_information."""
    plain = name.replace(", λ = 0", "_without_information").replace(", β = ", "_")
    return "".join(c if c.isalnum() else "_" for c in plain)


def report() -> str:
    """Return the page, of what is kept."""
    pictures = [
        f"![Images of {name}, {world}](generators/{plain_name(name)}-{world}.png)\n\n"
        f"*{name} on {WORLDS[world].title}, "
        + ("a line for each category.*" if "gan" in name or "clustering" in name else "samples.*")
        for name in ROWS
        for world in WORLDS
        if (PICTURES / f"{plain_name(name)}-{world}.png").is_file()
    ]
    speeds = [entry for entry in kept() if entry["part"] == "speed"]
    speed = "Not measured." if not speeds else SPEED.format(**speeds[-1])
    return TEXT.format(
        worlds="\n".join(
            f"- `{name}`: {world.title}; {world.steps:,} steps" for name, world in WORLDS.items()
        ),
        batch=BATCH,
        tries=table("tries", list(TRIES)),
        rows=table("rows", list(ROWS)),
        pictures="\n\n".join(pictures) or "None yet.",
        dsprites=generators_dsprites.table(),
        speed=speed,
    )


SPEED = """A step of `info_gan` on toy_shapes (conv_any, 64 images, one thread) took {ours_ms} ms of
the processor in our loop and {plain_ms} ms in a plain PyTorch loop of the same networks: {ratio} ×
as long (median of {rounds} rounds in turn; {least} to {largest})."""

TEXT = """# Generators

What InfoGAN needs to train on a CPU within a minute, and what generators learn beside VAEs of the
same data. `benchmarks/generators.py` wrote this page from `generators.jsonl`.

{worlds}

A step has {batch} images, on one thread; a tenth of the images is held out.
What an image shows is read by the nearest real image that was trained on, not by a network of the
generator's. *Modes* are shape × side and digit × thickness of the pen; one is covered if it has a
quarter of its share of 2,000 samples. *Distance from real* is that to the nearest real image, in
units of that of the held-out real images: 1 is as good as real. *NMI of samples* is between the
category an image was made with and the class it shows, *NMI of real images* between the category
that the code head reads in a real image and its class. Numbers are in the order of the seeds.

## What it takes

Settings were sought on seed 0 of these sets, in single short runs that are not kept and in most
of which several settings changed at once, the weights of shapes' codes on seeds 0 to 2. Take the
list as what was seen, not as ablations, which are the table below.

- A trunk that is spectrally normalised wants a high rate: at the paper's 2e-4 the discriminator
  hardly moves. Runs whose judge and code head were not normalised did better.
- A generator that begins with grey images loses its first hundreds of steps; `info_gan` now lets
  it begin as bright as the data.
- Generator and code head agree on shades that nobody sees: the head then reads every generated
  image and hardly a real one. Noise on all that the discriminator sees (`input_noise`) helps.
- With few noise inputs every category becomes one image. More noise inputs and a judge that sees
  the spread of a batch (`sees_spread`) keep images of a category apart.
- With mlp64, normalising after the activation gave single images that are all white or noise.
- The category codes what images differ by most. Where that is the place or the side, as on the
  whole of toy_shapes, it is not the shape; continuous codes that weigh as much take the place.
- More steps than here. After 5,000 instead of 1,250 the category names digits with an NMI above
  0.9 and nearly all modes are covered, in half a minute: [the rule](acceptance.md#info_gan) is
  judged so.

## Tries

One setting changed at a time, from the settings of `tests/acceptance/rules/_generators.py`.

{tries}

## Generators and VAEs of the same data

{rows}

{pictures}

## On dSprites: five codes, before and after the contrastive regulariser

`python benchmarks/generators_dsprites.py --seeds 0 1 2`. One run of `info_gan_cr` for each seed,
whose code head reads real images; `lin2020` are the scores as the paper's table has them, on the
rows they were fitted to, `default` those of this library.

{dsprites}

## Successors

[InfoGAN-CR](acceptance.md#info_gan_cr), [Elastic-InfoGAN](acceptance.md#elastic_info_gan) and
[StyleGAN](acceptance.md#style_gan) are judged on three seeds beside broken versions of themselves;
[StyleGAN's directions](style_gan.md) have a page of their own.

## Speed

{speed}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=("tries", "rows", "speed"))
    parser.add_argument("--only", nargs="+", help="names of tries or rows; by default all")
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=list(WORLDS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--report", action="store_true", help="write the page")
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    if wanted.part == "speed":
        keep({"part": "speed"} | generator_speed.speed(steps=15, rounds=5))
    elif wanted.part:
        train(wanted.part, wanted.only, wanted.worlds, wanted.seeds)
    if wanted.report:
        PAGE.write_text(report(), encoding="utf-8")
        print(PAGE)


def train(part: str, only: list[str] | None, worlds: list[str], seeds: list[int]) -> None:
    """Train what is not kept yet."""
    done = {(e["part"], e.get("name"), e.get("world"), e.get("seed")) for e in kept()}
    for name in only or list(TRIES if part == "tries" else ROWS):
        for world in worlds:
            for seed in seeds:
                if (part, name, world, seed) not in done:
                    keep(measure(part, name, world, seed))


def keep(entry: dict[str, Any]) -> None:
    """Append a line, and print it."""
    line = json.dumps(entry, ensure_ascii=False)
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    print(line, flush=True)


if __name__ == "__main__":
    main()
