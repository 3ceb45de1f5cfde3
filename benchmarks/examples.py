"""Train the example models that are shipped in the package, and put what is shipped in place.

    python benchmarks/examples.py [--only shapes3d] [--folder build/examples]
    python benchmarks/examples.py --only glyphs --metrics mig,sap,modularity

What is done is skipped and what was stopped goes on, so the command may be stopped and given
again at any time. Training takes one thread, five minutes of it for 3D Shapes, four for glyphs
and about one for dSprites. docs/start.md says what they reach.
"""

import argparse
import json
import shutil
from dataclasses import replace
from pathlib import Path

from unweave import recipes, runs, workflows
from unweave.data import load_data
from unweave.figures import traversals
from unweave.methods.ada_gvae import AdaGVAE
from unweave.methods.m2 import M2
from unweave.networks.conv_any import ConvAny
from unweave.networks.quick64 import Quick64
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule, constant

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "src" / "unweave" / "examples"
KEPT = (
    "config.json",
    "machine.json",
    "status.json",
    "networks.safetensors",
    "silenced.json",
    "scores.json",
    "latent_names.json",
)
LINES = 400  # of the record, evenly; curves need no more
MOST_BYTES = 2_000_000
QUIET = Machine(threads=1, device="cpu", evaluations=5, checkpoint_seconds=60)

CONFIGS = {
    "dsprites": replace(recipes.demo(), seed=110),
    "shapes3d": Train(
        method=AdaGVAE(optimizer=Adam(1e-3, decay_steps=12_000, decay_after=6_000)),
        architecture=Quick64(),
        data="shapes3d",
        steps=12_000,
    ),
    "glyphs": Train(
        method=M2(
            labels=1000,
            latent_dim=6,
            beta=Schedule(1, 3, 2_000, wait=1_000),
            classification_weight=constant(100.0),
            class_warmup_steps=500,
            hidden=128,
            optimizer=Adam(2e-3, decay_steps=4_000, decay_after=2_000),
        ),
        architecture=ConvAny(channels=(16, 32, 32), hidden=128),
        data="glyphs",
        batch_size=32,
        steps=4_000,
    ),
}


def train(name: str, folder: Path, metrics: str) -> None:
    """Train a run, or go on with it, and score it."""
    config, run_folder = CONFIGS[name], RunFolder(folder)
    if not run_folder.exists():
        data = load_data(config.data)
        workflows.train_config(config, data, folder, QUIET, evaluate=False, progress=False)
    elif run_folder.status()["state"] != "done":
        workflows.resume(folder, machine=QUIET, evaluate=False, progress=False)
    if not run_folder.scores():
        print(workflows.evaluate(runs.load(folder), metrics))


def ship(name: str, folder: Path) -> None:
    """Copy what a run is shown and used by; no checkpoint, and not every line of its record."""
    target = SHIPPED / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for file in KEPT:
        if (folder / file).is_file():
            shutil.copyfile(folder / file, target / file)
    lines = (folder / "record.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    every = max(len(lines) // LINES, 1)
    kept = [
        line
        for index, line in enumerate(lines)
        if index % every == 0
        or index == len(lines) - 1
        or json.loads(line).get("kind") == "diagnostics"
    ]
    (target / "record.jsonl").write_text("".join(kept), encoding="utf-8")
    (target / "figures").mkdir()
    traversals(runs.load(folder)).save(target / "figures" / "traversals.png")
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    if size > MOST_BYTES:
        raise SystemExit(f"{name}: {size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.1f}")
    print(f"{name}: {size / 1e6:.2f} MB in {target.relative_to(ROOT)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=CONFIGS, default=list(CONFIGS))
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "examples")
    parser.add_argument("--metrics", default="default", help="what a run is scored by, once")
    flags = parser.parse_args()
    for name in flags.only:
        train(name, flags.folder / name, flags.metrics)
        ship(name, flags.folder / name)


if __name__ == "__main__":
    main()
