"""Train one model on each world that is made here, score it, and show its traversals.

    python benchmarks/worlds.py [--only shapes3d_ada_gvae faces] [--folder build/worlds]
    python benchmarks/worlds.py --report

Each run has a folder under build/worlds, and a line of docs/results/worlds.jsonl when it is scored;
what is done is skipped and what was stopped goes on, so the command may be stopped and given again
at any time. Training takes one thread, a few minutes of it for each. Writes docs/results/worlds.md
and a picture of traversals for each world; beside the scores stand those of pixels' principal
components, as a baseline, and what papers report of the original 3D Shapes.
"""

import argparse
import json
import os
import platform
import resource
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
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
from unweave.settings.schedules import Schedule, constant

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results" / "worlds.md"
KEPT = PAGE.with_suffix(".jsonl")
AUTO = PAGE.with_name("auto.jsonl")
PICTURES = PAGE.with_suffix("")
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
    published: str = ""
    """What papers report of such methods on the original, by metric, and where it is from."""


COOLED = CooledTCVAE(
    kl_weight=Schedule(300, 1, 6000, curve="geometric"),
    likelihood="bernoulli",
    optimizer=Adam(2e-3, warmup_steps=200, decay_steps=12000, decay_after=4800),
)
ENTRIES = {
    "shapes3d_cooled_tcvae": Entry(
        "3D Shapes, rendered: CooledTCVAE",
        "shapes3d",
        COOLED,
        architecture=PatchesAny(channels=64),
        steps=12000,
        seeds=(0, 1, 2),  # settings were chosen on seed 100
        published="β-TCVAE: MIG 0.406 ± 0.175, DCI 0.613 ± 0.114, FactorVAE 0.873 ± 0.074; "
        "FactorVAE: 0.434 ± 0.143, 0.611 ± 0.082, 0.840 ± 0.066, as collected by FDAE (AAAI 2024, "
        "table 2)",
    ),
    "shapes3d_cooled_tcvae_20": Entry(
        "3D Shapes, rendered: CooledTCVAE whose total correlation weighs 20 instead of 6",
        "shapes3d",
        replace(COOLED, tc_weight=constant(20.0)),
        architecture=PatchesAny(channels=64),
        steps=12000,
        seeds=(0, 1, 2),  # the weight was chosen on seed 101
        published="as above",
    ),
    "shapes3d_cooled_tcvae_slow": Entry(
        "3D Shapes, rendered: CooledTCVAE, cooled three times as slowly",
        "shapes3d",
        CooledTCVAE(
            kl_weight=Schedule(250, 1, 18000, curve="geometric"),
            likelihood="bernoulli",
            optimizer=Adam(1e-3, warmup_steps=200, decay_steps=24000, decay_after=16800),
        ),
        architecture=PatchesAny(),
        steps=24000,
        seeds=(0, 1, 2),  # settings were chosen on seed 101
        published="as above",
    ),
    "shapes3d_ada_gvae": Entry(
        "3D Shapes, rendered: Ada-GVAE whose β falls",
        "shapes3d",
        AdaGVAE(
            beta=Schedule(100, 1, 3000, curve="geometric"),
            likelihood="bernoulli",
            optimizer=Adam(2e-3, warmup_steps=200, decay_steps=6000, decay_after=2400),
        ),
        architecture=PatchesAny(channels=64),
        steps=6000,
        seeds=(0, 1, 2),  # settings were chosen on seed 100
        published="Ada-GVAE: MIG 0.562, DCI 0.946, FactorVAE 1.0, medians of arXiv:2002.02886 "
        "after 300,000 steps, quoted from memory",
    ),
    "shapes3d_ada_gvae_count": Entry(
        "3D Shapes, rendered: the same, told that a pair differs in one factor",
        "shapes3d",
        AdaGVAE(
            beta=Schedule(100, 1, 6000, curve="geometric"),
            told="count",
            likelihood="bernoulli",
            optimizer=Adam(2e-3, warmup_steps=200, decay_steps=12000, decay_after=4800),
        ),
        architecture=PatchesAny(channels=64),
        steps=12000,
        seeds=(0, 1, 2),  # settings were chosen on seed 100
        published="Ada-GVAE: MIG 0.562, DCI 0.946, FactorVAE 1.0, medians of arXiv:2002.02886 "
        "after 300,000 steps, quoted from memory; there it is told nothing",
    ),
    "shapes3d_ada_gvae_long": Entry(
        "3D Shapes, rendered: Ada-GVAE with 16 latents, β = 1, five times the steps",
        "shapes3d",
        AdaGVAE(
            latent_dim=16,
            likelihood="bernoulli",
            optimizer=Adam(1e-3, warmup_steps=200, decay_steps=30000, decay_after=12000),
        ),
        architecture=PatchesAny(),
        steps=30000,
        seeds=(0, 1, 2),  # settings were chosen on seed 101
        published="Ada-GVAE: MIG 0.562, DCI 0.946, FactorVAE 1.0, medians of arXiv:2002.02886 "
        "after 300,000 steps, quoted from memory",
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


def train(name: str, config: Train, folder: RunFolder) -> None:
    """Train a run, or go on with it, score it, and keep its scores and its core seconds."""
    if kept_of(config) is not None:
        return
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
    keep(name, config, folder)


def keep(name: str, config: Train, folder: RunFolder) -> None:
    """Append what a run showed, and keep the picture of the first seed."""
    line = {
        "entry": name,
        "run": config.run_name,
        "scores": {metric: folder.scores()[metric]["value"] for metric in METRICS},
        "class_named": class_accuracy(folder),
        "core_minutes": round(core_seconds(folder) / 60, 1),
        "date": str(datetime.now(UTC).date()),
    }
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
    picture = folder.path / "figures" / "traversals.png"
    if name in ENTRIES and config.seed == ENTRIES[name].seeds[0] and picture.is_file():
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / f"{name}.png").write_bytes(picture.read_bytes())


def kept_of(config: Train) -> dict[str, Any] | None:
    """Return the newest line that is kept of a run with these very settings."""
    texts = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.is_file() else []
    lines = [line for line in map(json.loads, texts) if line["run"] == config.run_name]
    return lines[-1] if lines else None


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


def cells_of(line: dict[str, Any]) -> str:
    scores = " | ".join(f"{line['scores'][metric]:.3f}" for metric in METRICS)
    return f"{scores} | {line['class_named']} | {line['core_minutes']:.1f} |"


def aims() -> list[str]:
    """Say of each run on 3D Shapes what the medians of its seeds reach."""
    lines = ["| run | aim | median | reached |", "|---|---|---|---|"]
    for name, entry in ENTRIES.items():
        if not name.startswith("shapes3d"):
            continue
        found = [kept_of(config_of(entry, seed)) for seed in entry.seeds]
        done = [line["scores"] for line in found if line is not None]
        wanted = {"dci": 0.9} if isinstance(entry.method, AdaGVAE) else {"mig": 0.4, "dci": 0.6}
        if len(done) == len(entry.seeds):
            lines += reached(entry.title, done, wanted)
    # Judged on a page of its own, by `python benchmarks/auto.py`.
    by_auto = map(json.loads, AUTO.read_text(encoding="utf-8").splitlines())
    chosen = [line for line in by_auto if (line["set"], line["arm"]) == ("shapes3d", "auto")]
    title = "3D Shapes, rendered: what `unweave train auto` chooses ([page](auto.md))"
    return lines + reached(title, chosen, {"mig": 0.4, "dci": 0.6})


def reached(title: str, scores: list[dict[str, Any]], wanted: dict[str, float]) -> list[str]:
    """Return a line for each aim: the median over seeds, and whether it is enough."""
    lines = []
    for metric, least in wanted.items():
        middle = median(one[metric] for one in scores)
        met = "yes" if middle >= least else "**no**"
        lines.append(f"| {title} | {metric} ≥ {least} | {middle:.3f} | {met} |")
    return lines


def report() -> str:
    """Return the page, from the lines that are kept."""
    lines = [
        f"| run | seed | {' | '.join(METRICS)} | class named | core minutes |",
        f"|---|---|{'---|' * len(METRICS)}---|---|",
    ]
    pictures, days = [], set()
    for name, entry in ENTRIES.items():
        for seed in entry.seeds:
            line = kept_of(config_of(entry, seed))
            if line is not None:
                lines.append(f"| {entry.title} | {seed} | {cells_of(line)}")
                days.add(line["date"])
        baseline = kept_of(baseline_of(entry.data))
        if baseline is not None:
            lines.append(f"| – principal components of its pixels | – | {cells_of(baseline)}")
        if (PICTURES / f"{name}.png").is_file():
            said = f"\n\nPublished of the original: {entry.published}." if entry.published else ""
            pictures.append(
                f"### {entry.title}\n\n`{entry.data}`: {in_words(entry.method)}, "
                f"{in_words(entry.architecture)}, {entry.steps:,} steps of {entry.batch_size} "
                f"images. Seed {entry.seeds[0]}.{said}\n\n"
                f"![Traversals of {entry.title}](worlds/{name}.png)"
            )
    return TEXT.format(
        dates=" and ".join(sorted(days)),
        machine=f"{platform.machine()}, {os.cpu_count()} cores",
        aims="\n".join(aims()),
        table="\n".join(lines),
        pictures="\n\n".join(pictures),
    )


TEXT = """# Each world, trained on

One model on each [world that is made here](../data.md), one thread for some minutes. The scores
say that a world can be learnt and whether a code beats its pixels' principal components; the
budgets are a small part of the papers', so do not rank methods by them. Factors of `pendulum`
depend on each other and half of those of clips hardly change within one: their scores are read
with that in mind.

The aim on 3D Shapes is MIG 0.4 and DCI 0.6 without labels, which the papers report of β-TCVAE and
FactorVAE, and DCI 0.9 with pairs, at the medians of three seeds:

{aims}

What is missing without labels after 12,000 steps is size and shape, which few pixels show: in some
seeds one latent has each, in others two latents share them. Given twice the steps, of which the KL
weight takes 18,000 instead of 6,000 to fall, factors have time to switch on one after the other,
and most have a latent of their own in every seed. Settings were chosen on seeds 100 and 101, where
they did better: so much is the seed.

With pairs, ten latents were too few: on seed 101, where 16 were chosen, each of the three hues,
which are rings, took two of ten, the shape three and the orientation one, and the size was told by
how far the object's hue lies from the middle of its ring.
With 16 latents and five times the steps every factor has its own, most of them several, which is
why MIG, which asks for one, is lower than that of a falling β.

`python benchmarks/worlds.py` wrote this page; measured on {dates} ({machine}).

{table}

{pictures}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(ENTRIES), default=list(ENTRIES))
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "worlds")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    for name in [] if options.report else options.only:
        entry = ENTRIES[name]
        data = entry.data.partition(":")[0]
        train(f"pca-{data}", baseline_of(entry.data), RunFolder(options.folder / f"pca-{data}"))
        for seed in entry.seeds:
            print(f"{name}, seed {seed}", flush=True)
            folder = RunFolder(options.folder / f"{name}-s{seed}")
            train(name, config_of(entry, seed), folder)
    PAGE.write_text(report(), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
