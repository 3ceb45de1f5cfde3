"""Train one model on each world that is made here, score it, and show its traversals.

    python benchmarks/worlds.py [--only shapes3d_ada_gvae faces] [--folder build/worlds]
    python benchmarks/worlds.py --report

Each run has a folder under build/worlds; what is done is skipped and what was stopped goes on, so
the command may be stopped and given again at any time. Training takes one thread, a few minutes
of it for each. Writes docs/results/worlds.md and a picture of traversals for each run; beside the
scores stand those of pixels' principal components, as a baseline.
"""

import argparse
import json
import os
import platform
import resource
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unweave import catalog, runs, workflows
from unweave.data import load_data
from unweave.evaluation.encode import encode_run
from unweave.methods import Method
from unweave.methods.ada_gvae import AdaGVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.cooled_tcvae import CooledTCVAE
from unweave.methods.m2 import M2
from unweave.methods.ml_vae import MLVAE
from unweave.methods.pca import PCA
from unweave.methods.slow_vae import SlowVAE
from unweave.networks import Architecture
from unweave.networks.patches_any import PatchesAny
from unweave.networks.quick64 import Quick64
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.settings.optimizers import Adam
from unweave.settings.plain import changed_from_default
from unweave.settings.schedules import Schedule

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results" / "worlds.md"
PICTURES = ROOT / "docs" / "results" / "worlds"
QUIET = Machine(threads=1, device="cpu", evaluations=2, checkpoint_seconds=30)
METRICS = ("mig", "dci", "factor_vae_score", "beta_vae_score", "sap")
RATE = Adam(1e-3)


@dataclass(frozen=True)
class Entry:
    """One line of the table."""

    title: str
    data: str
    method: Method
    architecture: Architecture = Quick64()
    steps: int = 4000
    batch_size: int = 64
    seeds: tuple[int, ...] = (0,)


ENTRIES = {
    "shapes3d_cooled_tcvae": Entry(
        "3D Shapes, rendered: CooledTCVAE",
        "shapes3d",
        CooledTCVAE(
            kl_weight=Schedule(300, 1, 6000, curve="geometric"),
            likelihood="bernoulli",
            optimizer=Adam(2e-3, warmup_steps=200, decay_steps=12000, decay_after=4800),
        ),
        architecture=PatchesAny(channels=64),
        steps=12000,
        seeds=(0, 1, 2),  # settings were chosen on seed 100
    ),
    "shapes3d_ada_gvae": Entry(
        "3D Shapes, rendered: Ada-GVAE whose β falls",
        "shapes3d",
        AdaGVAE(
            beta=Schedule(100, 1, 3000, curve="geometric"),
            likelihood="bernoulli",
            optimizer=Adam(2e-3, warmup_steps=200, decay_steps=6000, decay_after=2400),
        ),
        architecture=PatchesAny(),
        steps=6000,
        seeds=(0, 1, 2),  # settings were chosen on seed 100
    ),
    "pendulum": Entry("Pendulum: β-VAE", "pendulum", BetaVAE(beta=4, optimizer=RATE)),
    "moving_sprites": Entry(
        "Moving sprites, Laplace steps: SlowVAE",
        "moving_sprites:dynamics=laplace,clips=5000",
        SlowVAE(optimizer=RATE),
    ),
    "moving_shapes3d": Entry(
        "Moving rooms, Laplace steps: SlowVAE",
        "moving_shapes3d:dynamics=laplace,clips=5000",
        SlowVAE(optimizer=RATE),
    ),
    "faces": Entry("Faces: ML-VAE by person", "faces", MLVAE(optimizer=RATE)),
    "glyphs": Entry(
        "Glyphs: M2 with 1,000 labels",
        "glyphs",
        M2(labels=1000, optimizer=RATE),
        architecture=PatchesAny(block=1),
        steps=8000,
    ),
}


def config_of(entry: Entry, seed: int) -> Train:
    return Train(
        method=entry.method,
        architecture=entry.architecture,
        data=entry.data,
        batch_size=entry.batch_size,
        steps=entry.steps,
        seed=seed,
    )


def baseline_of(data: str) -> Train:
    """Return principal components of pixels, fitted to the same data."""
    return Train(method=PCA(), data=data, steps=1, batch_size=64)


def train(config: Train, folder: RunFolder) -> None:
    """Train a run, or go on with it, and score it; its core seconds are added up beside it."""
    if folder.status()["state"] != "done":
        before = used()
        try:
            if folder.exists():
                workflows.resume(folder.path, machine=QUIET, evaluate=False)
            else:
                opened = load_data(config.data)
                workflows.train_config(config, opened, folder.path, QUIET, evaluate=False)
        finally:
            if folder.exists():
                seconds = used() - before + core_seconds(folder)
                (folder.path / "core_seconds.json").write_text(json.dumps(seconds))
    missing = [metric for metric in METRICS if metric not in folder.scores()]
    if missing:
        workflows.evaluate(runs.load(folder.path), metrics=missing)


def used() -> float:
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime


def core_seconds(folder: RunFolder) -> float:
    path = folder.path / "core_seconds.json"
    return float(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else 0.0


def class_accuracy(folder: RunFolder) -> str:
    """Return how often a method that was told classes names that of an image; "–" for others."""
    run = runs.load(folder.path)
    told = run.config.method.supervision.class_column(run.data)
    categories = [unit for unit in run.code.units if unit.kind == "category"]
    if not told or not categories:
        return "–"
    encoded = encode_run(run, rows=5000)
    dimensions = categories[0].dimensions
    named = encoded.codes[:, dimensions.start : dimensions.stop].argmax(axis=1)
    classes = encoded.factors[:, encoded.factor_names.index(told)]
    return f"{(named == classes).mean():.3f}"


def in_words(settings: Method | Architecture) -> str:
    """Name a method or an architecture with what is not its default."""
    changed = json.dumps(changed_from_default(settings), ensure_ascii=False)
    return (
        f"`{catalog.name_of(settings)} {changed}`"
        if changed != "{}"
        else (f"`{catalog.name_of(settings)}`")
    )


def value(folder: RunFolder, metric: str) -> str:
    found: Any = folder.scores().get(metric, {}).get("value")
    return "–" if found is None else f"{found:.3f}"


def report(names: list[str], root: Path) -> str:
    """Return the page, from the runs that are scored."""
    lines = [
        f"| run | seed | {' | '.join(METRICS)} | class named | core minutes |",
        f"|---|---|{'---|' * len(METRICS)}---|---|",
    ]
    pictures = []
    for name in names:
        entry = ENTRIES[name]
        baseline = RunFolder(root / f"pca-{entry.data.partition(':')[0]}")
        for seed in entry.seeds:
            folder = RunFolder(root / f"{name}-s{seed}")
            if not set(METRICS) <= set(folder.scores()):
                continue
            cells = " | ".join(value(folder, metric) for metric in METRICS)
            minutes = core_seconds(folder) / 60
            named = class_accuracy(folder)
            lines.append(f"| {entry.title} | {seed} | {cells} | {named} | {minutes:.1f} |")
        if set(METRICS) <= set(baseline.scores()):
            cells = " | ".join(value(baseline, metric) for metric in METRICS)
            lines.append(f"| – principal components of its pixels | – | {cells} | – | – |")
        picture = root / f"{name}-s{entry.seeds[0]}" / "figures" / "traversals.png"
        if picture.is_file():
            PICTURES.mkdir(parents=True, exist_ok=True)
            (PICTURES / f"{name}.png").write_bytes(picture.read_bytes())
            pictures.append(
                f"### {entry.title}\n\n`{entry.data}`: {in_words(entry.method)}, "
                f"{in_words(entry.architecture)}, {entry.steps:,} steps of {entry.batch_size} "
                f"images.\n\n![Traversals of {entry.title}](worlds/{name}.png)"
            )
    return TEXT.format(
        date=datetime.now(UTC).date(),
        machine=f"{platform.machine()}, {os.cpu_count()} cores",
        table="\n".join(lines),
        pictures="\n\n".join(pictures),
    )


TEXT = """# Each world, trained on

One model on each [world that is made here](../data.md), one thread for a few minutes. The scores
say that a world can be learnt and by how much a code beats its pixels' principal components; the
budgets are a small part of the papers', so do not rank methods by them. Factors of `pendulum`
depend on each other and half of those of clips hardly change within one: their scores are read
with that in mind.

`python benchmarks/worlds.py` wrote this page on {date} ({machine}).

{table}

{pictures}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(ENTRIES), default=list(ENTRIES))
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "worlds")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.report:
        for name in options.only:
            entry = ENTRIES[name]
            baseline = RunFolder(options.folder / f"pca-{entry.data.partition(':')[0]}")
            train(baseline_of(entry.data), baseline)
            for seed in entry.seeds:
                print(f"{name}, seed {seed}", flush=True)
                train(config_of(entry, seed), RunFolder(options.folder / f"{name}-s{seed}"))
    PAGE.write_text(report(list(ENTRIES), options.folder), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
