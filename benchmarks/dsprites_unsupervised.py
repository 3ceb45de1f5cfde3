"""Train the unsupervised VAEs on dSprites at one budget and score them beside the baselines.

    python benchmarks/dsprites_unsupervised.py [--steps 10000] [--workers 2]
    python benchmarks/dsprites_unsupervised.py --report

Each run has a folder under build/dsprites; what is done is skipped and what was
stopped goes on, so the command may be stopped and given again at any time. Runs
train in processes of one thread each; then all are scored by the default metrics.
Writes docs/results/dsprites.md and a picture of traversals for each trained method.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from unweave import workflows
from unweave.data import load_data
from unweave.errors import UnweaveError
from unweave.evaluation.plan import DEFAULT
from unweave.methods import Method
from unweave.methods.annealed_vae import AnnealedVAE
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.dip_vae import DIPVAE
from unweave.methods.factor_vae import FactorVAE
from unweave.methods.ground_truth import GroundTruth
from unweave.methods.ica import ICA
from unweave.methods.pca import PCA
from unweave.methods.pixels import Pixels
from unweave.methods.untrained_vae import UntrainedVAE
from unweave.methods.vae import VAE
from unweave.networks import Architecture
from unweave.networks.conv64 import Conv64
from unweave.networks.quick64 import Quick64
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.runs.run import load
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule, constant

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results" / "dsprites.md"
PICTURES = ROOT / "docs" / "results" / "dsprites"
PAPERS_STEPS = 300_000
MORE = (
    "mig_sup",
    "dcimig",
    "jemmig",
    "irs",
    "infomec",
    "mcc",
    "r_factor_vae_score",
    "gaussian_total_correlation",
)
"""Metrics beyond the default set; those that take minutes for a run are left out."""
NETWORKS: dict[str, Architecture] = {"quick64": Quick64(), "conv64": Conv64()}
QUIET = Machine(threads=1, device="cpu", evaluations=4, checkpoint_seconds=30)


@dataclass(frozen=True)
class Entry:
    """One line of the table."""

    title: str
    method: Method
    settings: str
    """The settings in words."""
    trained: bool = True
    seeds: tuple[int, ...] = (0, 1)


def entries(steps: int, rate: float) -> dict[str, Entry]:
    """Return what is compared, by a short name."""
    adam = Adam(rate)
    third = max(1, steps // 3)
    return {
        "vae": Entry("VAE", VAE(optimizer=adam), ""),
        "beta_vae": Entry("β-VAE", BetaVAE(beta=constant(4), optimizer=adam), "β = 4"),
        "beta_tcvae": Entry(
            "β-TCVAE",
            BetaTCVAE(beta=constant(6), optimizer=adam),
            "β = 6, α = γ = 1, stratified estimator",
        ),
        "factor_vae": Entry(
            "FactorVAE",
            FactorVAE(
                gamma=constant(10),
                discriminator_width=256,
                discriminator_depth=4,
                discriminator_optimizer=Adam(rate, betas=(0.5, 0.9)),
                optimizer=adam,
            ),
            f"γ = 10; discriminator of 4 layers of 256 units, Adam {rate} (0.5, 0.9): with the "
            "paper's 6 layers of 1000 units a step of FactorVAE takes five times as long as one of "
            "the others, and half of the time would go there",
        ),
        "dip_vae": Entry(
            "DIP-VAE-II",
            DIPVAE(form="II", lambda_od=constant(10), optimizer=adam),
            "λ_od = λ_d = 10",
        ),
        "annealed_vae": Entry(
            "AnnealedVAE",
            AnnealedVAE(gamma=constant(1000), capacity=Schedule(0, 25, third), optimizer=adam),
            f"γ = 1000, C from 0 to 25 nats over {third:,} steps, a third of the budget as in the "
            "study (100,000 of 300,000)",
        ),
        "untrained_vae": Entry("untrained VAE", UntrainedVAE(), "", trained=False),
        "pca": Entry("PCA", PCA(), "10 components", trained=False),
        "ica": Entry("ICA", ICA(), "10 components", trained=False),
        "pixels": Entry("pixels", Pixels(), "averaged to 16×16", trained=False, seeds=(0,)),
        "ground_truth": Entry("ground truth", GroundTruth(), "", trained=False, seeds=(0,)),
    }


def folder_of(name: str, seed: int, options: argparse.Namespace) -> tuple[Train, RunFolder]:
    """Return the settings of a run and its folder, whose name they decide."""
    entry = entries(options.steps, options.rate)[name]
    config = Train(
        method=entry.method,
        architecture=NETWORKS[options.network],
        data="dsprites",
        batch_size=64,
        steps=options.steps if entry.trained else 1,
        seed=seed,
    )
    return config, RunFolder(options.folder / config.run_name)


def train(name: str, seed: int, options: argparse.Namespace) -> None:
    """Train a run, or go on with it; its core seconds are added up beside it."""
    config, folder = folder_of(name, seed, options)
    if folder.status()["state"] == "done":
        return
    print(f"{name}, seed {seed}", flush=True)
    try:
        if folder.exists():
            workflows.resume(folder.path, machine=QUIET, evaluate=False)
        else:
            data = load_data("dsprites")
            workflows.train_config(config, data, folder.path, QUIET, evaluate=False)
    finally:
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = used.ru_utime + used.ru_stime + core_seconds(folder)
        (folder.path / "core_seconds.json").write_text(json.dumps(seconds), encoding="utf-8")


def core_seconds(folder: RunFolder) -> float:
    path = folder.path / "core_seconds.json"
    return float(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else 0.0


def score(name: str, seed: int, options: argparse.Namespace) -> None:
    """Score a trained run by the default metrics, unless that is done."""
    _, folder = folder_of(name, seed, options)
    missing = [metric for metric in (*DEFAULT, *MORE) if metric not in folder.scores()]
    if missing:
        print(f"scoring {name}, seed {seed}", flush=True)
        workflows.evaluate(load(folder.path), metrics=missing)


def in_processes(words: str, jobs: Sequence[tuple[str, int]], options: argparse.Namespace) -> None:
    """Give each job to a process of its own, a few at a time."""
    waiting, running, failed = list(jobs), {}, []
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    common = [
        f"--{name}={getattr(options, name)}" for name in ("network", "steps", "rate", "folder")
    ]
    while waiting or running:
        while waiting and len(running) < options.workers:
            name, seed = waiting.pop(0)
            command = [sys.executable, __file__, f"--{words}", name, str(seed), *common]
            running[subprocess.Popen(command, env=environment)] = (name, seed)
        try:
            time.sleep(0.5)
        except KeyboardInterrupt:  # the processes heard it too and save what they have
            for process in running:
                process.wait()
            sys.exit("stopped; give the command again to go on")
        for process in [p for p in running if p.poll() is not None]:
            job = running.pop(process)
            if process.returncode:
                failed.append(job)
    if failed:
        sys.exit(f"{words} failed for {failed}; what was written says why. Give the command again.")


def figures_of(folder: RunFolder) -> dict[str, Any]:
    """Return the diagnostics of the last evaluation."""
    found = [line for line in folder.record() if line.get("kind") == "diagnostics"]
    return found[-1] if found else {}


def mean_image_reconstruction(rows: int = 10_000) -> float:
    """Return R of a decoder that knows no code and always draws the mean image, in nats."""
    data = load_data("dsprites")
    images = data.images(np.random.default_rng(0).choice(len(data), size=rows, replace=False))
    mean = images.mean(0)
    certain = np.clip(mean, 1e-6, 1 - 1e-6)
    return float(-(mean * np.log(certain) + (1 - mean) * np.log(1 - certain)).sum())


def blind_runs(found: Mapping[str, list[float]], mean_image: float) -> str:
    """Name the runs whose R is no better than nine tenths of the mean image's."""
    named = [
        f"{title}, seed {seed}"
        for title, values in found.items()
        for seed, value in enumerate(values)
        if value > 0.9 * mean_image
    ]
    return "; ".join(named) or "none"


def both(values: list[float], digits: int = 3) -> str:
    """Write a mean, and after it what it is the mean of."""
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) == 1:
        return mean
    return f"**{mean}** ({', '.join(f'{v:.{digits}f}' for v in values)})"


def protocols(metrics: Sequence[str], folders: Sequence[RunFolder]) -> str:
    """Say by which protocols metrics were made, as the folders of the runs keep them."""
    kept = [folder.scores() for folder in folders]
    by: dict[str, list[str]] = {}
    for metric in metrics:
        used = sorted({str(s[metric]["protocol"]) for s in kept if "protocol" in s.get(metric, {})})
        if used:
            by.setdefault(" and ".join(f"`{name}`" for name in used), []).append(metric)
    parts = [f"{protocol} for {', '.join(names)}" for protocol, names in by.items()]
    return "\n".join(wrap(f"Protocols: {'; '.join(parts)}.", 98, break_on_hyphens=False))


def report(options: argparse.Namespace) -> str:
    """Return the page, from the runs that are scored."""
    listed = entries(options.steps, options.rate)
    scores, more = (
        [f"| method | {' | '.join(names)} |", f"|---{'|---' * len(names)}|"]
        for names in (DEFAULT, MORE)
    )
    training = ["| method | R | KL | active dimensions | core minutes |", "|---|---|---|---|---|"]
    settings, pictures, minutes = [], [], 0.0
    reconstruction: dict[str, list[float]] = {}
    scored: list[RunFolder] = []
    for name, entry in listed.items():
        folders = [folder_of(name, seed, options)[1] for seed in entry.seeds]
        folders = [folder for folder in folders if set(DEFAULT) <= set(folder.scores())]
        if not folders:
            continue
        scored += folders
        for lines, metrics in ((scores, DEFAULT), (more, MORE)):
            cells = []
            for metric in metrics:
                values = [folder.scores().get(metric, {}).get("value") for folder in folders]
                cells.append("–" if None in values else both(values))
            lines.append(f"| {entry.title} | {' | '.join(cells)} |")
        if entry.settings:
            settings.append(f"- {entry.title}: {entry.settings}.")
        if not entry.trained:
            continue
        found = [figures_of(folder) for folder in folders]
        reconstruction[entry.title] = [f["reconstruction"] for f in found]
        training.append(
            f"| {entry.title} | {both([f['reconstruction'] for f in found], 1)} | "
            f"{both([f['kl'] for f in found], 1)} | "
            f"{', '.join(str(f['active_dimensions']) for f in found)} | "
            f"{both([core_seconds(folder) / 60 for folder in folders], 1)} |"
        )
        minutes += sum(core_seconds(folder) / 60 for folder in folders)
        PICTURES.mkdir(exist_ok=True)
        picture = (folders[0].figures / "traversals.png").read_bytes()
        (PICTURES / f"{name}.png").write_bytes(picture)
        pictures.append(f"### {entry.title}\n\n![Traversals of {entry.title}](dsprites/{name}.png)")
    images = options.steps * 64
    mean_image = mean_image_reconstruction()
    return TEXT.format(
        date=datetime.now(UTC).date(),
        steps=f"{options.steps:,}",
        images=f"{images:,}",
        share=round(PAPERS_STEPS / options.steps),
        rate=options.rate,
        network=options.network,
        minutes=round(minutes),
        command=f"python benchmarks/dsprites_unsupervised.py --network {options.network}"
        f" --steps {options.steps} --rate {options.rate}",
        machine=f"{platform.machine()}, {os.cpu_count()} cores",
        scores="\n".join(scores),
        protocols=protocols(DEFAULT, scored),
        more_protocols=protocols(MORE, scored),
        more="\n".join(more),
        training="\n".join(training),
        mean_image=f"{mean_image:.0f}",
        blind=blind_runs(reconstruction, mean_image),
        settings="\n".join(settings),
        pictures="\n\n".join(pictures),
    )


TEXT = """# Unsupervised methods on dSprites, at a small budget

**{steps} steps of 64 images: {images} images, one {share}th of the {papers} steps of the papers
and of the large study (arXiv:1811.12359).** The scores say how far each method gets in these few
minutes, not how good it is when it has converged; do not rank the methods by them.

`{command}` wrote this page on {date} ({machine}).

## Scores

Mean of the seeds in bold, each seed in brackets; 10,000 rows to fit on and 5,000 to test on.
Pixels and the ground truth have no seed. Of DCI the number is D.

{protocols}

{scores}

Further metrics ([what they measure](../metrics.md)); of the Gaussian total correlation less is
better. A dash: not measured. Left out for their time: sampled MIG, unfairness, sample efficiency,
and those that need whole traversals. Of InfoMEC the number is InfoM.

{more_protocols}

{more}

## Training

R is the reconstruction term and KL the rate, in nats per image, on 1,024 images after the last
step; a dimension is active if its KL is above 0.01 nats. Training took {minutes} core minutes in
all; the benchmark is meant to end within 90 minutes on two cores, scoring included, on slower
machines and busy ones too.

{training}

A decoder that knows no code and always draws the mean image has R = {mean_image}. Runs that are
hardly better, whose code says next to nothing of the image whatever its KL: {blind}.

## Settings

All: `{network}`, batch 64, 10 latents, Bernoulli likelihood, Adam with learning rate {rate} and
betas 0.9 and 0.999. The papers' network is `conv64`; `quick64` sees about five times the images
in the same time ([recipe](recipe.md)). Learning rates in the papers: 1e-4 in the study and for
FactorVAE, 5e-4 for AnnealedVAE, 1e-3 for β-TCVAE. The other settings are those of the papers or
lie in the grids of the study:

{settings}

## Traversals

One image of the data set, seed 0; each line varies one dimension of the code from -2 to 2, those
with most KL first.

{pictures}
""".replace("{papers}", f"{PAPERS_STEPS:,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--network",
        choices=NETWORKS,
        default="quick64",
        help="quick64 sees five times the images of conv64 in the same time",
    )
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument(
        "--rate", type=float, default=1e-3, help="learning rate of the VAEs; the study's is 1e-4"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each")
    parser.add_argument("--only", nargs="+", help="methods to train and score")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "dsprites")
    parser.add_argument("--report", action="store_true", help="write the page and stop")
    for words in ("train", "score"):
        parser.add_argument(f"--{words}", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for job, asked in ((train, options.train), (score, options.score)):
        if asked:
            try:
                job(asked[0], int(asked[1]), options)
            except UnweaveError as error:
                sys.exit(f"{asked[0]}, seed {asked[1]}: {error}")
            return
    if not options.report:
        listed = entries(options.steps, options.rate)
        # Seed by seed, so that a stopped benchmark has one seed of everything first.
        jobs = [
            (name, seed)
            for seed in (0, 1)
            for name, entry in listed.items()
            if seed in entry.seeds and name in (options.only or listed)
        ]
        in_processes("train", jobs, options)
        in_processes("score", jobs, options)
    PAGE.write_text(report(options), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
