"""Turn the main knob of every method, and write what it did.

    python benchmarks/knobs.py [--methods beta_vae qlae] [--seeds 0]
    python benchmarks/knobs.py --report

Three values each on toy_shapes: three shapes of five sides at 169 places. One line of
docs/results/knobs.jsonl for each run, which is not done again while its settings stay. Writes
docs/results/knobs.md, from which pages of methods take their lines.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from defaults import QUIET, digest_of, figures_of, words
from unweave.data import load_data
from unweave.errors import UnweaveError
from unweave.files.writing import write_atomically
from unweave.methods import Method, method_named
from unweave.networks.patches_any import PatchesAny
from unweave.runs.config import Train
from unweave.settings.optimizers import Adam
from unweave.settings.plain import from_plain
from unweave.training import loop

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results" / "knobs.md"
KEPT = PAGE.with_suffix(".jsonl")
STEPS, BATCH = 1000, 64
WORLD, NETWORK = "toy_shapes", PatchesAny(block=1, channels=16, hidden=128)
COLUMNS = ("reconstruction", "kl", "error", "dimensions in use", "mig", "dci")
RATE = Adam(1e-3)

KNOBS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "aae": ("adversarial_weight", (0, 5, 50)),
    "aae_clustering": ("clusters", (4, 16, 64)),
    "aae_reduction": ("head_distance", (0.5, 2.0, 8.0)),
    "aae_semi_supervised": ("labels", (20, 100, 500)),
    "ada_gvae": ("beta", (1, 4, 16)),
    "ada_ml_vae": ("beta", (1, 4, 16)),
    "annealed_vae": ("capacity", ("0:4:500", "0:8:500", "0:16:500")),
    "beta_tcvae": ("beta", (1, 6, 20)),
    "beta_vae": ("beta", (1, 4, 16)),
    "control_vae": ("capacity", (4, 8, 16)),
    "cooled_tcvae": ("kl_weight", (1, "20:1:500", "100:1:500")),
    "cv_mim": ("view_weight", (0, 10, 100)),
    "dc_ign": ("invariance", (0.0, 0.01, 0.1)),
    "dip_vae": ("lambda_od", (0, 10, 100)),
    "dr_net": ("adversarial_weight", (0, 10, 100)),
    "dynamic_vae": ("capacity", (4, 8, 16)),
    "elastic_info_gan": ("view_weight", (0, 1, 10)),
    "f_statistic": ("separating", (1, 2, 4)),
    "factor_vae": ("gamma", (0, 35, 100)),
    "ff_vae": ("gamma", (0, 10, 50)),
    "generalised_m2": ("labels", (20, 100, 500)),
    "gvae": ("group_size", (2, 5, 20)),
    "hfs": ("gamma", (0, 1, 10)),
    "i_vae": ("auxiliary", (("shape",), ("x",), ("x", "y"))),
    "ica": ("latent_dim", (5, 10, 20)),
    "info_gan": ("information_weight", (0, 1, 4)),
    "info_gan_cr": ("contrast_weight", (0, 2, 8)),
    "info_vae": ("lambda_prior", (1.0, 100.0, 1000.0)),
    "lord": ("content_decay", (0.0, 0.1, 1.0)),
    "m1_m2": ("labels", (20, 100, 500)),
    "m2": ("labels", (20, 100, 500)),
    "ml_vae": ("group_size", (2, 5, 20)),
    "pca": ("latent_dim", (5, 10, 20)),
    "pixels": ("side", (4, 8, 16)),
    "qlae": ("values", (4, 10, 30)),
    "semi_supervised": ("labels", (20, 100, 500)),
    "slow_vae": ("gamma", (0, 10, 50)),
    "style_gan": ("r1_weight", (0.0, 0.02, 0.2)),
    "top_k_sae": ("active", (2, 4, 8)),
    "tripod": ("lambda_hessian", (0.0, 0.01, 0.1)),
    "untrained_vae": ("latent_dim", (5, 10, 20)),
    "vae": ("latent_dim", (5, 10, 20)),
    "vae_gan": ("adversarial_weight", (0, 10, 100)),
    "very_deep_vae": ("layers_at_size", ((1, 2, 0, 0), (1, 2, 1, 0), (1, 2, 2, 1))),
}
"""The setting of each method that is turned first, and values of it."""


def turned(name: str, value: Any) -> Method:
    """Return a method with its knob at a value, learning at the rate of short runs."""
    knob, _ = KNOBS[name]
    kind = method_named(name)
    plain = {knob: list(value) if isinstance(value, tuple) else value}
    if kind().optimizer == Adam(1e-4):  # a paper's rate for hundreds of thousands of steps
        plain["optimizer"] = {"name": "adam", "learning_rate": RATE.learning_rate}
    method: Method = from_plain(kind, plain, "method")
    return method


def measure(name: str, value: Any, seed: int) -> dict[str, Any]:
    """Train a method with its knob at a value; return the line to keep."""
    method, data = turned(name, value), load_data(WORLD)
    config = Train(
        method=method,
        architecture=NETWORK,
        data=WORLD,
        steps=STEPS,
        batch_size=BATCH,
        seed=seed,
    )
    began, figures, reason = time.process_time(), {}, ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = loop.start(config, data, Path(folder) / "run", QUIET)
            figures = figures_of(run, data)
        except UnweaveError as error:
            reason = str(error).splitlines()[0]
    return {
        "method": name,
        "value": in_words(value),
        "seed": seed,
        "settings": digest_of(method),
        "figures": figures,
        "failed": reason,
        "core_seconds": round(time.process_time() - began, 1),
        "date": str(datetime.now(UTC).date()),
    }


def in_words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def kept() -> dict[tuple[str, str, int], dict[str, Any]]:
    """Return the newest line of each run, by method, value and seed, with settings as now."""
    texts = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.is_file() else []
    lines = {(r["method"], r["value"], r["seed"]): r for r in map(json.loads, texts)}
    wanted = {
        (name, in_words(value)): digest_of(turned(name, value))
        for name, (_, values) in KNOBS.items()
        for value in values
    }
    return {key: r for key, r in lines.items() if wanted.get(key[:2]) == r["settings"]}


def sections() -> Iterator[str]:
    """Yield what turning each knob did, method by method."""
    lines = kept()
    for name, (knob, values) in KNOBS.items():
        rows = []
        for value in values:
            for key in sorted(k for k in lines if k[:2] == (name, in_words(value))):
                figures = lines[key]["figures"]
                cells = [words(figures.get(column)) for column in COLUMNS]
                if lines[key]["failed"]:
                    cells[0] = f"failed: {lines[key]['failed']}"
                rows.append(f"| {in_words(value)} | {key[2]} | {' | '.join(cells)} |")
        if rows:
            head = f"| {knob} | seed | R | KL | error | dimensions in use | MIG | DCI |"
            yield "\n".join([f"## {name}", "", head, "|" + "---|" * 8, *rows])


def write_page() -> None:
    lines = kept()
    minutes = sum(line["core_seconds"] for line in lines.values()) / 60
    missing = [name for name in KNOBS if name not in {key[0] for key in lines}]
    text = TEXT.format(
        steps=f"{STEPS:,}",
        batch=BATCH,
        minutes=minutes,
        missing=f" Not run: {', '.join(missing)}." if missing else "",
    )
    write_atomically(PAGE, "\n\n".join([text, *sections()]) + "\n")


TEXT = """# What knobs do

The main knob of every method at three values, on three shapes of five sides at 169 places
(`toy_shapes`), {steps} steps of {batch} images. A single seed: what differs little may be chance.
`python benchmarks/knobs.py` wrote this page; its runs took {minutes:.0f} core minutes.{missing}

R, KL, error and dimensions in use are those of [the defaults](defaults.md)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--methods", nargs="+", choices=KNOBS, default=list(KNOBS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--report", action="store_true", help="write the page of what is kept")
    wanted = parser.parse_args()
    if not wanted.report:
        run_all(wanted.methods, wanted.seeds)
    write_page()


def run_all(names: Sequence[str], seeds: Sequence[int]) -> None:
    torch.set_num_threads(1)
    done = kept()
    for name in names:
        for value in KNOBS[name][1]:
            for seed in seeds:
                if (name, in_words(value), seed) in done:
                    continue
                line = measure(name, value, seed)
                with KEPT.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
                told = line["failed"] or line["figures"].get("mig")
                print(name, line["value"], told, f"{line['core_seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
