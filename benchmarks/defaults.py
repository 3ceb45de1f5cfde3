"""Train every method with its own defaults on dSprites, and complain of defaults that fail.

    python benchmarks/defaults.py [--steps 20000] [--workers 2] [--methods vae beta_vae]
    python benchmarks/defaults.py --report

One seed and the small network patches_any; all else is what a user gets who sets nothing. A run
that diverges, one whose code says nothing of the image, and a ramp that the run is too short
for are complaints, and the command then ends with 1. Each run has a folder under
build/defaults, and one line of docs/results/defaults.jsonl when it is done: such methods are
skipped, and what was stopped goes on. Writes docs/results/defaults.md.
"""

import argparse
import dataclasses
import hashlib
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from unweave import catalog
from unweave.data import FactorImages, load_data
from unweave.errors import UnweaveError
from unweave.files.writing import write_atomically
from unweave.methods import Method, method_named
from unweave.metrics import dci, mig
from unweave.networks.patches_any import PatchesAny
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.runs.run import Run
from unweave.settings.plain import to_plain
from unweave.settings.schedules import Schedule
from unweave.training import loop
from unweave.training.diagnostics import diagnose

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results" / "defaults.md"
KEPT = PAGE.with_suffix(".jsonl")
QUIET = Machine(threads=1, device="cpu", evaluations=0, checkpoint_seconds=60)
ROWS = 3000
IMAGES = 737_280  # of dSprites
LITTLE = 0.9  # of the mean image's error; a code that leaves more says next to nothing
STILL = 0.01  # deviation of a code over all images, or share of variance, that counts as none

CODES_OF_A_PART = ("info_gan", "info_gan_cr", "elastic_info_gan")
"""Methods whose codes leave most of an image to noise, so that they do not reconstruct."""

FAR = 3  # times the nats that name an image of the data: a KL above says that codes left the prior
CLAMPED = ("dc_ign",)
"""Methods whose KL is that of clamped posteriors, so that nothing holds the free ones near."""

FOR_AXES = (
    *("ada_gvae", "ada_ml_vae", "annealed_vae", "beta_tcvae", "beta_vae", "control_vae"),
    *("cooled_tcvae", "dip_vae", "dynamic_vae", "factor_vae", "hfs", "info_gan_cr", "qlae"),
    *("semi_supervised", "slow_vae", "tripod"),
)
"""Methods that are for one factor a dimension."""

Figures = Mapping[str, float]


def config_of(name: str, steps: int) -> Train:
    """Return the settings of a run: the method's own and the number of steps."""
    return Train(
        method=method_named(name)(), architecture=PatchesAny(), data="dsprites", steps=steps, seed=0
    )


def endless_ramps(method: Method, steps: int) -> list[str]:
    """List the settings that are still on their way when a run of so many steps ends."""
    found = []
    for field in dataclasses.fields(method):
        value = getattr(method, field.name)
        if isinstance(value, Schedule) and value.start != value.end:
            if value.wait + value.steps > steps:
                found.append(f"{field.name} {value} does not end within {steps:,} steps")
        elif getattr(value, "warmup_steps", 0) > steps:
            found.append(f"the warm-up of {field.name} does not end within {steps:,} steps")
    return found


def figures_of(run: Run, data: FactorImages) -> dict[str, float]:
    """Return what a run showed on some images."""
    count = min(ROWS, len(data))
    rows = np.random.default_rng(0).choice(len(data), size=count, replace=False)
    images, factors = data.images(rows), data.factors(rows)
    codes = run.encode_rows(rows, data)
    figures = {
        "mig": float(mig(codes, factors).value),
        "dci": float(dci(codes, factors, train_rows=count * 2 // 3, test_rows=count // 3).value),
    }
    if run.code.source != "images":
        return figures
    terms = run.terms(images)
    figures |= {name: terms[name] for name in ("reconstruction", "kl") if name in terms}
    figures["nats of the mean image"] = nats_of_the_mean(images)
    figures["nats that name an image"] = math.log(len(data))
    active = diagnose(run, images[:1000]).get("active_dimensions")
    figures["dimensions in use"] = float((codes.std(0) > STILL).sum() if active is None else active)
    chosen = [list(unit.dimensions) for unit in run.code.units if unit.kind == "category"]
    if chosen:
        figures["categories in use"] = float(
            min(len(np.unique(codes[:, dimensions].argmax(1))) for dimensions in chosen)
        )
    if run.code.decodes:
        variance = np.square(images - images.mean(0)).sum()
        figures["error"] = float(np.square(run.reconstruct(images) - images).sum() / variance)
        samples = run.sample(500)
        varied = np.square(samples - samples.mean(0)).sum((1, 2, 3)).mean()
        figures["variance of samples"] = float(varied * len(images) / variance)
    return figures


def nats_of_the_mean(images: np.ndarray) -> float:
    """Return how many nats an image has, on average, if each pixel is as likely as in the mean."""
    mean = np.clip(images.mean(0, dtype=np.float64), 1e-6, 1 - 1e-6)
    return float(-(mean * np.log(mean) + (1 - mean) * np.log(1 - mean)).sum())


def complaints(name: str, figures: Figures, ramps: list[str]) -> list[str]:
    """List what is wrong with a run that a method's defaults gave."""
    if name == "untrained_vae":  # it is there to show what no training gives
        return []
    found = list(ramps)
    wild = [figure for figure, value in figures.items() if not math.isfinite(value)]
    if wild:
        found.append(f"diverged: {', '.join(wild)} not finite")
    named = figures.get("nats that name an image", math.inf)
    if name not in CLAMPED and figures.get("kl", 0) > FAR * named:
        found.append(
            f"runs away: a KL of {figures['kl']:.0f} nats, where {named:.1f} name every image"
        )
    if figures.get("dimensions in use", 1) < 1:
        found.append("collapsed: no dimension of the code is in use")
    if figures.get("categories in use", 2) < 2:
        found.append("collapsed: every image has the same category")
    if name == "very_deep_vae" and figures:
        left = figures["reconstruction"] / figures["nats of the mean image"]
        if left > LITTLE:
            found.append(f"collapsed: all layers leave {left:.2f} of the mean image's nats")
    elif name not in CODES_OF_A_PART and figures.get("error", 0) > LITTLE:
        found.append(
            f"collapsed: what is decoded has {figures['error']:.2f} of the mean image's error"
        )
    if figures.get("variance of samples", 1) < STILL:
        found.append("collapsed: samples are all alike")
    return found


def train(name: str, options: argparse.Namespace) -> None:
    """Train a method, or go on with it, and keep its figures or why it has none."""
    config = config_of(name, options.steps)
    folder = RunFolder(options.folder / f"{config.run_name}-{digest_of(config.method)}")
    data = load_data("dsprites")
    ramps = endless_ramps(config.method.settled(options.steps, data), options.steps)
    figures: dict[str, float] = {}
    reasons = []
    try:
        if folder.exists():
            run = loop.resume(folder.path, data, QUIET)
        else:
            run = loop.start(config, data, folder.path, QUIET)
        figures = figures_of(run, data)
    except UnweaveError as error:
        reasons = [f"failed: {error}"]
    finally:
        seconds = spent_on(folder.path)
    line = {
        "run": config.run_name,
        "settings": digest_of(config.method),
        "steps": options.steps,
        "figures": figures,
        "complaints": reasons + complaints(name, figures, ramps),
        "core_minutes": round(seconds / 60, 1),
        "date": str(datetime.now(UTC).date()),
    }
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def spent_on(folder: Path) -> float:
    """Return the seconds of the processor that a run took, in the processes before this one too."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    place = folder / "core_seconds.json"
    before = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else 0.0
    seconds = float(before + used.ru_utime + used.ru_stime)
    if folder.is_dir():
        place.write_text(json.dumps(seconds), encoding="utf-8")
    return seconds


def kept_of(name: str, steps: int) -> dict[str, Any] | None:
    """Return the newest line that is kept of a method with the defaults that it has now."""
    wanted = config_of(name, steps)
    texts = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.is_file() else []
    lines = [
        line
        for line in map(json.loads, texts)
        if (line["run"], line["settings"]) == (wanted.run_name, digest_of(wanted.method))
    ]
    return lines[-1] if lines else None


def digest_of(method: Method) -> str:
    """Return a digest of all settings: names of runs leave out those that are the default."""
    plain = json.dumps(to_plain(method), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def page(options: argparse.Namespace) -> tuple[str, list[str]]:
    """Return the page, and the methods that there are complaints of."""
    columns = ("reconstruction", "kl", "error", "dimensions in use", "mig", "dci")
    lines, bad, total, missing = [], [], 0.0, []
    for name in catalog.own_names("unweave.methods"):
        lengths = {steps: kept_of(name, steps) for steps in (Train.steps, options.steps)}
        steps, result = next(((s, r) for s, r in lengths.items() if r is not None), (0, None))
        if result is None:
            missing.append(name)
            continue
        minutes = result["core_minutes"]
        total += minutes
        cells = [words(result["figures"].get(column)) for column in columns]
        # Checks that are newer than a line are made of what it keeps.
        figures = {"nats that name an image": math.log(IMAGES)} | result["figures"]
        found = dict.fromkeys(result["complaints"] + complaints(name, figures, []))
        said = "; ".join(found)
        bad += [name] if said else []
        lines.append(
            f"| {name} | {steps:,} | {' | '.join(cells)} | {said or 'good'} | {minutes:.1f} |"
        )
    left_out = f" Not run: {', '.join(missing)}." if missing else ""
    text = TEXT.format(
        axes=against_plain(),
        default=f"{Train.steps:,}",
        command=f"python benchmarks/defaults.py --steps {options.steps}",
        date=datetime.now(UTC).date(),
        good=len(lines) - len(bad),
        count=len(lines),
        left_out=left_out,
        minutes=total,
        rows="\n".join(lines),
    )
    return text, bad


def against_plain() -> str:
    """Return which of the methods for one factor a dimension have more of that than a VAE."""
    scores = {
        name: result["figures"]
        for name in ("vae", *FOR_AXES)
        if (result := kept_of(name, Train.steps)) is not None
    }
    if (plain := scores.pop("vae", None)) is None:
        return "Not known before the VAE is trained for as long."
    above = [
        sum(figures[key] > plain[key] for key in ("mig", "dci")) for figures in scores.values()
    ]
    of_count = {
        count: ", ".join(name for name, has in zip(scores, above, strict=True) if has == count)
        for count in (2, 1, 0)
    }
    waiting = ", ".join(name for name in FOR_AXES if name not in scores)
    parts = {
        "in MIG and DCI": of_count[2],
        "in one of the two": of_count[1],
        "in neither": of_count[0],
        "not trained for as long yet": waiting,
    }
    return "\n".join(f"- {part}: {names or 'none'}" for part, names in parts.items())


def words(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if value == round(value) else f"{value:.3g}"


TEXT = """# What the defaults give

Every method of the catalog with its own defaults on dSprites, for so many steps (a user's default
is {default}), one seed, the small network `patches_any`. Papers train ten times longer and more:
this page says whether a default trains to a code that can be used, not how good the method is;
whether it gives what the method is for is said below for axes, and nowhere for the rest.

`{command}` wrote this page on {date}; it took {minutes:.0f} core minutes. {good} of {count}
defaults are good.{left_out}

R is the reconstruction term and KL the rate in nats per image, where a method has them; the
error is that of what is decoded from codes, in units of the mean image's. A dimension is in use
if its KL is above 0.01 nats or, where there is none, its deviation above 0.01. A default is bad
if the run diverges, if no dimension is in use, if all images have one category, if the error is
above 0.9 (but of InfoGANs, whose codes leave most of an image to noise, and of the Very Deep VAE,
whose code is a few of its layers and which is judged by R of all), if samples are all alike, if
the KL is above three times the 13.5 nats that name an image of dSprites (but of DC-IGN, whose KL is
that of clamped posteriors), so that codes have left the prior, or if a setting is still on its ramp
when the run ends.

| method | steps | R | KL | error | dimensions in use | MIG | DCI | verdict | core minutes |
|---|---|---|---|---|---|---|---|---|---|
{rows}

## More than a VAE?

Methods that are for one factor a dimension, and whether they have more of it than a plain VAE
after {default} steps of this seed. "Good" above does not mean it: with the settings of
papers, made for trainings ten times as long, some have no more. Seeds differ by about 0.05; [the
study over seeds](unsupervised.md) says more.

{axes}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=Train.steps)
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each")
    parser.add_argument("--methods", nargs="+", default=catalog.own_names("unweave.methods"))
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "defaults")
    parser.add_argument("--report", action="store_true", help="only write the page")
    parser.add_argument("--train", help="train this method alone, in this process")
    options = parser.parse_args()
    if options.train:
        train(options.train, options)
        return
    waiting = [] if options.report else list(options.methods)
    waiting = [name for name in waiting if kept_of(name, options.steps) is None]
    in_processes(waiting, options)
    text, bad = page(options)
    write_atomically(PAGE, text)
    print(text)
    if bad:
        sys.exit(f"bad defaults: {', '.join(bad)}")


def in_processes(waiting: list[str], options: argparse.Namespace) -> None:
    """Train methods in processes of their own, a few at a time."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    common = [f"--steps={options.steps}", f"--folder={options.folder}"]
    running: list[subprocess.Popen[bytes]] = []
    while waiting or running:
        while waiting and len(running) < options.workers:
            command = [sys.executable, __file__, "--train", waiting.pop(0), *common]
            running.append(subprocess.Popen(command, env=environment))
        try:
            time.sleep(0.5)
        except KeyboardInterrupt:  # the processes heard it too and save what they have
            for process in running:
                process.wait()
            sys.exit("stopped; give the command again to go on")
        for process in [p for p in running if p.poll() is not None]:
            running.remove(process)
            if process.returncode:
                waiting.clear()
                for other in running:
                    other.wait()
                sys.exit("a method could not be trained; give the command again to go on")


if __name__ == "__main__":
    main()
