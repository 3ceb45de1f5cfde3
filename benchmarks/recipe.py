"""What is each part of the default recipe worth?

Trains the recipe on dSprites, the recipe without each of its parts, and the default before
it, on three networks; each network for as many steps as take about the same time of one
core. Scores every run before and after its dead latents are silenced. Appends one JSON line
per run to docs/results/recipe.jsonl, and leaves out the runs that are there, so that it can
be stopped and called again; `--report` writes the tables of docs/results/recipe.md.

    python benchmarks/recipe.py --seeds 100 101 102 103 104
    python benchmarks/recipe.py --only default --seeds 0 1 2 3 4 5 6 7 8 9
    python benchmarks/recipe.py --report

Settings are chosen on seeds from 100 on and judged on seeds 0 to 9.
Seconds are those of the processor, so that other work on the machine does not count.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from marked_pages import renew
from unweave import devices, recipes, runs
from unweave.data import load_data
from unweave.evaluation.encode import encode_run
from unweave.methods import Method
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.cooled_tcvae import CooledTCVAE
from unweave.methods.vae import VAE
from unweave.metrics import beta_vae_score, dci, factor_vae_score, mig
from unweave.networks import Architecture
from unweave.networks.burgess64 import Burgess64
from unweave.networks.patches_any import PatchesAny
from unweave.networks.quick64 import Quick64
from unweave.networks.what_where import WhatWhere
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.total_correlation import total_correlation
from unweave.runs import silencing
from unweave.runs.config import Machine, Train
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule, constant
from unweave.training import loop

RESULTS = Path(__file__).parent.parent / "docs" / "results"
DEFAULT, DEFAULT_BEFORE = "default", "default before this one"
WITHOUT_POSE, WITHOUT_POSE_LONGER = "without a pose", "without a pose, three times as long"
JUDGED = (DEFAULT, DEFAULT_BEFORE, WITHOUT_POSE, WITHOUT_POSE_LONGER)
"""Arms that are judged on seeds below 100; of the default before this one lines alone are left."""

NETWORKS: dict[str, tuple[Architecture, int, float]] = {
    "what_where": (WhatWhere(), 4200, 150.0),
    "patches_any": (PatchesAny(), 6000, 100.0),
    "quick64": (Quick64(), 4000, 100.0),
}
"""Network, steps that take about the time of the default, and where the KL weight begins:
just below where everything stays off, which short trials found."""


def cooled(steps: int, hottest: float, **changes: Any) -> Method:
    """Return the recipe's objective with some of its settings changed."""
    values = {"latent_dim": 10} | changes
    return CooledTCVAE(**values, optimizer=recipes.falling(steps)).over(steps, hottest)


def before_it(steps: int, hottest: float) -> Method:
    """Return the objective of the default before this recipe."""
    optimizer = Adam(2e-3, warmup_steps=200, decay_steps=steps)
    return BetaTCVAE(beta=Schedule(12, 3, steps), optimizer=optimizer)


OBJECTIVES: dict[str, Callable[[int, float], Method]] = {
    "recipe": cooled,
    "gaussian prior": lambda steps, hot: cooled(steps, hot, prior="gaussian"),
    "KL weight 1 throughout": lambda steps, hot: cooled(steps, hot, kl_weight=constant(1)),
    "all latents weighed alike": lambda steps, hot: cooled(steps, hot, stagger=constant(0)),
    "total correlation not smoothed": lambda steps, hot: cooled(steps, hot, smoothing=0.0),
    "5 latents": lambda steps, hot: cooled(steps, hot, latent_dim=5),
    "β-TCVAE 12 to 3": before_it,
}


POSED = "posed: "
"""What the arms of the default with a part of it changed are called by."""


def posed() -> dict[str, Train]:
    """Return the default without each of its parts, and what it does without."""
    demo = recipes.demo()
    method = demo.method
    assert isinstance(method, CooledTCVAE)
    shorter = 2 * demo.steps // 3
    brief = replace(
        method,
        stagger=recipes.after_the_pose(shorter),
        optimizer=recipes.falling(shorter),
    )
    found = {
        "KL weight falls from 150": replace(
            method, kl_weight=Schedule(150, 1, demo.steps // 3, curve="geometric")
        ),
        "codes that draw no dearer": replace(method, stagger=constant(0)),
        "gaussian prior": replace(method, prior="gaussian"),
        "total correlation not smoothed": replace(method, smoothing=0.0),
        "total correlation weighs no more than the KL": replace(method, tc_weight=constant(1)),
        "a plain VAE": VAE(latent_dim=method.latent_dim, optimizer=method.optimizer),
    }
    trains = {name: replace(demo, method=each) for name, each in found.items()}
    trains["two thirds of the steps"] = replace(demo, method=brief, steps=shorter)
    return {f"{POSED}{name}": replace(train, silence=0.0) for name, train in trains.items()}


def longer_without_pose() -> Train:
    """Return the recipe without poses, refined for three times the steps once its latents are on.

    What falls at first falls as fast: if that takes longer too, the fourth latent stays off.
    """
    recipe = recipes.without_pose()
    assert isinstance(recipe.method, CooledTCVAE)
    steps = 3 * recipe.steps
    optimizer = replace(recipes.falling(steps), decay_after=5000)
    stagger = Schedule(0.3, 2.0, steps=4500, wait=4600)
    method = replace(recipe.method, optimizer=optimizer, stagger=stagger)
    return replace(recipe, method=method, steps=steps, silence=0.0)


SHIPPED = "burgess64: "
"""What the arms of another library's settings are called by."""


def shipped_elsewhere() -> dict[str, Train]:
    """Return what disentangling-vae sets for dSprites (hyperparam.ini), for two budgets.

    For about the time of the default, and for four times that; it ships 345,000 steps.
    """
    warm_up = 10_000
    methods = {
        "β-VAE": BetaVAE(beta=Schedule(0, 4, warm_up), optimizer=Adam(5e-4)),
        "β-TCVAE": BetaTCVAE(beta=Schedule(0, 36, warm_up), optimizer=Adam(5e-4)),
    }
    return {
        f"{SHIPPED}{name} as disentangling-vae ships, {steps:,} steps": Train(
            method=method, architecture=Burgess64(), data="dsprites", batch_size=64, steps=steps
        )
        for steps in (800, 3200)
        for name, method in methods.items()
    }


def arms() -> dict[str, Train]:
    """Return the settings of every arm by its name."""
    found = {
        DEFAULT: replace(recipes.demo(), silence=0.0),
        WITHOUT_POSE: replace(recipes.without_pose(), silence=0.0),
        WITHOUT_POSE_LONGER: longer_without_pose(),
    }
    found |= posed() | shipped_elsewhere()
    for network, (architecture, steps, hottest) in NETWORKS.items():
        for objective, method in OBJECTIVES.items():
            found[f"{network}: {objective}"] = Train(
                method=method(steps, hottest),
                architecture=architecture,
                data="dsprites",
                batch_size=128,
                steps=steps,
            )
    return found


def measure(arm: str, seed: int, threads: int) -> dict[str, Any]:
    """Train one run and return what it is worth, before and after silencing."""
    config = replace(arms()[arm], seed=seed)
    data = load_data("dsprites")
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        run = loop.start(
            config, data, Path(folder) / "run", Machine(threads=threads, evaluations=0)
        )
        seconds = time.process_time() - began
        line: dict[str, Any] = {
            "arm": arm,
            "seed": seed,
            "steps": config.steps,
            "images": config.steps * config.batch_size,
            "cpu_seconds": round(seconds, 1),
            "raw": worth(run, ""),
        }
        silenced = silencing.silence(run)
        # Trees that try every threshold take 20 seconds: for what is judged alone.
        judged = arm in JUDGED and seed < 100
        trees = "locatello2019_exact" if judged else "locatello2019_lightgbm"
        line |= {"active": run.latent_dim - len(silenced.latents), "silenced": worth(run, trees)}
        line["kl"] = [round(kl, 3) for kl in silenced.kl]
    return line


def worth(run: runs.Run, trees: str) -> dict[str, Any]:
    """Return scores of 15,000 images, DCI only where trees are named, and the evidence bound."""
    encoded = encode_run(run)
    codes, factors = encoded.codes, encoded.factors
    gaps = mig(codes, factors)
    scores = {
        "mig": gaps.value,
        "beta_vae": beta_vae_score(codes, factors).value,
        "factor_vae": factor_vae_score(codes, factors).value,
        "elbo": encoded.terms["elbo"],
    }
    if trees:
        scores["dci"] = dci(codes, factors, protocol=trees).value
    rounded: dict[str, Any] = {name: round(float(value), 4) for name, value in scores.items()}
    rounded["gaps"] = [round(float(gap), 3) for gap in gaps.details["gap_per_factor"]]
    return rounded


def read(path: Path) -> list[dict[str, Any]]:
    """Return the runs measured so far."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def median(lines: list[dict[str, Any]], state: str, score: str) -> float:
    return float(np.median([line[state][score] for line in lines]))


def table_of_default(lines: list[dict[str, Any]]) -> str:
    """Return the runs of the default, one by one, and their medians."""
    if not lines:
        return "None has been run."
    rows = [
        "| seed | MIG | not silenced | shape, size, orientation, x, y | DCI | β-VAE | FactorVAE "
        "| ELBO | latents on | CPU s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for line in sorted(lines, key=lambda line: line["seed"]):
        after = line["silenced"]
        gaps = " ".join(f"{gap:.2f}" for gap in after["gaps"])
        rows.append(
            f"| {line['seed']} | {after['mig']:.3f} | {line['raw']['mig']:.3f} | {gaps} "
            f"| {after['dci']:.3f} | {after['beta_vae']:.3f} | {after['factor_vae']:.3f} "
            f"| {after['elbo']:.1f} | {line['active']} | {line['cpu_seconds']:.0f} |"
        )
    middle = {s: median(lines, "silenced", s) for s in ("mig", "dci", "beta_vae", "factor_vae")}
    least = min(line["silenced"]["mig"] for line in lines)
    rows.append(
        f"| median | {middle['mig']:.3f} (least {least:.3f}) "
        f"| {median(lines, 'raw', 'mig'):.3f} "
        f"| | {middle['dci']:.3f} | {middle['beta_vae']:.3f} "
        f"| {middle['factor_vae']:.3f} | | | |"
    )
    return "\n".join(rows)


def in_a_line(lines: list[dict[str, Any]]) -> str:
    """Return the medians of judged runs, and the least MIG."""
    middle = {s: median(lines, "silenced", s) for s in ("mig", "dci", "beta_vae", "factor_vae")}
    least = min(line["silenced"]["mig"] for line in lines)
    return (
        f"Before: medians of {len(lines)} seeds MIG {middle['mig']:.3f} (least {least:.3f}), "
        f"DCI {middle['dci']:.3f}, β-VAE {middle['beta_vae']:.3f}, "
        f"FactorVAE {middle['factor_vae']:.3f}."
    )


def table_of_arms(lines: list[dict[str, Any]]) -> str:
    """Return medians of every arm, the number of its seeds, and what is missing."""
    rows = [
        "| network: objective | seeds | MIG of each | median | not silenced | DCI | FactorVAE "
        "| ELBO | latents on | images seen | CPU s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    missing = []
    for arm in arms():
        of_arm = sorted((x for x in lines if x["arm"] == arm), key=lambda line: line["seed"])
        if arm in JUDGED and arm != DEFAULT:
            continue
        if not of_arm:
            missing.append(arm)
            continue
        each = " ".join(f"{line['silenced']['mig']:.2f}" for line in of_arm)
        active = " ".join(str(line["active"]) for line in of_arm)
        seconds = np.mean([line["cpu_seconds"] for line in of_arm])
        rows.append(
            f"| {arm} | {len(of_arm)} | {each} | {median(of_arm, 'silenced', 'mig'):.3f} "
            f"| {median(of_arm, 'raw', 'mig'):.3f} | {median(of_arm, 'silenced', 'dci'):.3f} "
            f"| {median(of_arm, 'silenced', 'factor_vae'):.3f} "
            f"| {median(of_arm, 'silenced', 'elbo'):.1f} | {active} "
            f"| {of_arm[0]['images']:,} | {seconds:.0f} |"
        )
    if missing:
        rows += ["", f"Not run: {'; '.join(missing)}."]
    return "\n".join(rows)


def table_of_bias(latents: int = 4, batch: int = 128, draws: int = 20) -> str:
    """Return the estimated total correlation of independent codes, where 0 would be right."""
    widths = (0.1, 0.15, 0.2, 0.3, 0.4)
    rows = [
        "| posteriors of earlier steps | " + " | ".join(f"width {w}" for w in widths) + " |",
        "|---" * (len(widths) + 1) + "|",
    ]
    population = len(load_data("dsprites"))
    generator = torch.Generator().manual_seed(0)
    for bank in (0, 512, 1024):
        found = []
        for width in widths:
            estimates = []
            for _ in range(draws):
                places = torch.rand(batch + bank, latents, generator=generator)
                mean = math.sqrt(12) * (places - 0.5)  # of unit variance
                logvar = torch.full_like(mean, 2 * math.log(width))
                q = DiagonalGaussian(mean[:batch], logvar[:batch])
                known = DiagonalGaussian(mean[batch:], logvar[batch:]) if bank else None
                noise = torch.randn(batch, latents, generator=generator)
                z = q.mean + width * noise
                estimates.append(float(total_correlation(z, q, population, known)))
            found.append(f"{np.mean(estimates):.2f}".replace("-", "−"))
        rows.append(f"| {bank} | " + " | ".join(found) + " |")
    return "\n".join(rows)


def table_of_moments(count: int = 10_000) -> str:
    """Return scores of codes that a perfect observer of pixels would give, who knows no factors."""
    data = load_data("dsprites")
    rows = np.random.default_rng(0).choice(len(data), size=count, replace=False)
    image, factors = data.images(rows)[:, 0], data.factors(rows)
    area = image.sum((1, 2))
    down, across = np.mgrid[:64, :64]

    def mean(of: np.ndarray) -> np.ndarray:
        return np.asarray((image * of).sum((1, 2)) / area)

    x, y = mean(across), mean(down)
    wide, high = mean(across**2) - x**2, mean(down**2) - y**2
    oblique = mean(across * down) - x * y
    elongation = np.sqrt((wide - high) ** 2 + 4 * oblique**2) / (wide + high)
    wider, extent = (wide - high) / (wide + high), np.sqrt(wide + high)
    codes = {
        "x, y, √area": (x, y, np.sqrt(area)),
        "x, y, √area, wider than high": (x, y, np.sqrt(area), wider),
        "x, y, extent, elongation, wider than high": (x, y, extent, elongation, wider),
        "x, y and the true size and shape": (x, y, factors[:, 1], factors[:, 0]),
    }
    lines = ["| code | MIG | shape, size, orientation, x, y | DCI |", "|---|---|---|---|"]
    for name, columns in codes.items():
        code = np.stack(columns, 1)
        score = mig(code, factors)
        gaps = " ".join(f"{gap:.2f}" for gap in score.details["gap_per_factor"])
        lines.append(f"| {name} | {score.value:.3f} | {gaps} | {dci(code, factors).value:.3f} |")
    return "\n".join(lines)


def write_report(path: Path) -> None:
    """Renew the measured parts of docs/results/recipe.md; the words around them stay."""
    lines = read(path)
    of_arm = {arm: [line for line in lines if line["arm"] == arm] for arm in JUDGED}
    tables = {
        "judged": table_of_default([line for line in of_arm[DEFAULT] if line["seed"] < 10]),
        "before": in_a_line(of_arm[DEFAULT_BEFORE]),
        "without": table_of_default([line for line in of_arm[WITHOUT_POSE] if line["seed"] < 10]),
        "without-longer": table_of_default(of_arm[WITHOUT_POSE_LONGER]),
        "ablations": table_of_arms([line for line in lines if line["seed"] >= 100]),
        "bias": table_of_bias(),
        "moments": table_of_moments(),
    }
    for name, table in tables.items():
        print(f"{name}\n{table}\n")
    renew(RESULTS / "recipe.md", tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102, 103, 104])
    parser.add_argument("--only", default="", help="the arm of this name, or all that contain it")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS / "recipe.jsonl")
    parser.add_argument("--one", nargs=2, metavar=("ARM", "SEED"), help=argparse.SUPPRESS)
    parser.add_argument("--report", action="store_true", help="write the page and stop")
    arguments = parser.parse_args()
    if arguments.report:
        write_report(arguments.out)
        return
    if arguments.one:
        devices.tune_allocator()
        arm, seed = arguments.one
        print(json.dumps(measure(arm, int(seed), arguments.threads), ensure_ascii=False))
        return
    known = {(line["arm"], line["seed"]) for line in read(arguments.out)}
    named = [arm for arm in arms() if arm == arguments.only]
    chosen = named or [arm for arm in arms() if arguments.only in arm]
    for seed in arguments.seeds:
        for arm in chosen:
            if (arm, seed) in known:
                continue
            # A process of its own: no arm profits from another's warm memory.
            words = [sys.executable, __file__, "--one", arm, str(seed)]
            words += ["--threads", str(arguments.threads)]
            done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
            with open(arguments.out, "a", encoding="utf-8") as file:
                file.write(done.stdout)
            print(done.stdout, end="", flush=True)


if __name__ == "__main__":
    main()
