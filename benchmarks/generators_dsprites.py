"""InfoGAN on dSprites before and after the contrastive regulariser comes on, scored as its paper.

    python benchmarks/generators_dsprites.py --seeds 0 1 2    # a few minutes of one core for each
    python benchmarks/generators_dsprites.py --report         # what is kept, as Markdown

Each run is that of `info_gan_cr`: five codes, no category. Until BEFORE steps it is an InfoGAN,
then the regulariser is on for AFTER more. The code head reads 10,000 images in both states; scores
are those of the InfoGAN-CR paper (protocol lin2020) and of this library's defaults. A line for each
seed goes into docs/results/generators.jsonl; what is there is not trained again.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from unweave.data import load_data
from unweave.evaluation.encode import encode_run
from unweave.methods.info_gan_cr import InfoGANCR
from unweave.metrics import beta_vae_score, dci, factor_vae_score, mig, sap
from unweave.networks.patches_any import PatchesAny
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule
from unweave.training import loop

KEPT = Path(__file__).parent.parent / "docs" / "results" / "generators.jsonl"
QUIET = Machine(evaluations=0, threads=1, checkpoint_seconds=1e9)
BEFORE, AFTER, BATCH = 5000, 1500, 64
NETWORK = PatchesAny(channels=32)
ROWS = 10_000
METHOD = InfoGANCR(
    latent_dim=5,
    noise_dim=5,
    information_weight=0.5,
    sees_spread=True,
    discriminator_width=64,
    average_images=6400,
    input_noise=0.2,
    optimizer=Adam(2e-3, betas=(0.5, 0.999)),
    discriminator_optimizer=Adam(4e-3, betas=(0.5, 0.999)),
    contrast_optimizer=Adam(4e-3, betas=(0.5, 0.999)),
    contrast_weight=Schedule(0, 2, 0, BEFORE),
)
METRICS = {
    "FactorVAE": factor_vae_score,
    "DCI": dci,
    "SAP": sap,
    "MIG": mig,
    "β-VAE": beta_vae_score,
}
PUBLISHED = {
    "before": (0.82, 0.60, 0.41, 0.22, 0.87),
    "after": (0.88, 0.71, 0.58, 0.37, 0.95),
}
"""Means of 50 runs of 322,560 steps, arXiv:1906.06034."""

TRIED = """
### Why the direction does not show: trials on seeds 100 to 102

Single short trials, not kept; FactorVAE / MIG by lin2020 on 10,000 images. No set-up was found in
which the regulariser raises both on all three seeds, so the settings above are unchanged. In these
trials the third player learns only once α is above 0, where it begins afresh anyway. *Goes on
without* is the same run for as many steps more with α = 0: what the regulariser is to be held
against.

With judge and code head not normalised, one update of the generator in a step, and its rate 1e-3,
which teaches codes more than the settings above, so that [the paper's table](infogan_cr_table.md)
is run in that way:

| seed | steps | before | goes on with α = 2 | goes on without |
|---|---|---|---|---|
| 100 | 1,500 + 800 | 0.63 / 0.12 | 0.68 / 0.16 | 0.63 / 0.13 |
| 101 | 2,500 + 1,500 | 0.53 / 0.03 | 0.47 / 0.05 | 0.54 / 0.03 |
| 102 | 2,500 + 1,500 | 0.63 / 0.13 | 0.50 / 0.09 | 0.63 / 0.14 |

Untrained networks have 0.30 / 0.01 (seeds 101 and 102). What else was tried:

| what differs from that | seed | steps | FactorVAE / MIG |
|---|---|---|---|
| settings above, without the regulariser | 100 | 4,000 | 0.60 / 0.10 |
| two updates, rate 2e-3 | 100 | 2,000 | 0.59 / 0.14 |
| quick64 in place of patches_any | 100 | 1,200 | 0.45 / 0.03 (patches_any: 0.63 / 0.11) |
| α = 0.3 | 100 | 1,500 + 800 | 0.63 / 0.12 → 0.64 / 0.13 |
| rate 5e-4, no regulariser | 101, 102 | 1,500 | 0.56 / 0.07, 0.61 / 0.04 |
| λ = 0.15, no regulariser | 101, 102 | 1,500 | 0.42 / 0.03, 0.64 / 0.09 |
| rates 5e-4 and 8e-3, no noise, no regulariser | 101, 102 | 1,500 | 0.50 / 0.04, 0.55 / 0.03 |
| rate 5e-4, goes on without | 102 | 1,500 + 700 | 0.61 / 0.04 → 0.64 / 0.06 |
| rate 5e-4, α = 0.5, pairs with noise of 0.2 | 102 | 1,500 + 700 | 0.61 / 0.04 → 0.63 / 0.05 |
| rate 5e-4, α = 2, pairs with noise of 0.2 | 102 | 1,500 + 700 | 0.61 / 0.04 → 0.59 / 0.05 |
| rate 5e-4, α = 2, all with noise of 0.5 then | 102 | 1,500 + 700 | 0.61 / 0.04 → 0.63 / 0.07 |
| α = 2, all with noise of 0.5 then | 102 | 1,500 + 1,000 | 0.62 / 0.12 → 0.62 / 0.13 |
| the same noise, goes on without | 102 | 1,500 + 1,000 | 0.62 / 0.12 → 0.63 / 0.13 |
| shades in quarters, goes on without | 101 | 1,500 + 800 | 0.48 / 0.04 → 0.49 / 0.04 |
| shades in quarters, α = 2 | 101 | 1,500 + 800 | 0.48 / 0.04 → 0.45 / 0.04 |
| generator of what_where, α = 2 | 100 | 1,500 + 800 | 0.53 / 0.04 → 0.47 / 0.02 |

- The InfoGAN does learn codes that real images show: place and size, within 1,500 steps; shape and
  rotation it does not. How far the codes follow the axes differs by seed, and hardly changes later.
- The judge is soon fooled: its loss is 1.38, where guessing has 1.386. With two updates at rate
  2e-3 that is so by step 1,000; with the settings of the first table here by step 3,000.
- Where the regulariser rises against so weak a judge, the generator may leave what real images
  look like. On seeds 101 and 102 the third player's loss fell to 1.0 and 0.9, and in traversals
  two codes changed nothing that can be seen, though codes were read back with a mean R² of 0.90 and
  0.87. The squared correlation of
  size with the code that showed it fell from 0.24 to 0.02 and from 0.82 to 0.01. Places gained on
  seeds 100 and 101, and one of the two on seed 102.
- Shades in quarters, those of real images in blocks of 2×2, leave the generator nothing to
  write that nobody sees; the third player then tells more (0.38 to 0.49), but scores fall as well.
- `input_noise` is on what the discriminator sees, not on what the third player does. Noise of 0.5
  there too kept the size, but then the third player learnt next to nothing in 1,000 steps (loss
  1.61, guessing log 5 = 1.609), and scores were those of going on without it."""
"""What was seen in trials that are not kept, as Markdown."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--report", action="store_true", help="print what is kept, train nothing")
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    for seed in [] if wanted.report else wanted.seeds:
        if seed not in {entry["seed"] for entry in kept()}:
            entry = measure(seed)
            with KEPT.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
    print(table())


def kept() -> list[dict[str, Any]]:
    """Return the lines of this file's runs, in the order of their seeds."""
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.is_file() else []
    found = [entry for entry in map(json.loads, lines) if entry["part"] == "dsprites"]
    return sorted(found, key=lambda entry: int(entry["seed"]))


def measure(seed: int) -> dict[str, Any]:
    """Train one run and score it in both states."""
    data = load_data("dsprites")
    config = Train(
        method=METHOD,
        architecture=NETWORK,
        data="dsprites",
        steps=BEFORE,
        batch_size=BATCH,
        seed=seed,
    )
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        before = loop.start(config, data, Path(folder) / "run", QUIET)
        after = loop.resume(Path(folder) / "run", data, QUIET, steps=BEFORE + AFTER)
    seconds = time.process_time() - began
    return {
        "part": "dsprites",
        "seed": seed,
        "steps": [BEFORE, AFTER],
        "cpu_seconds": round(seconds, 1),
        "before": scores(before),
        "after": scores(after),
    }


def scores(run: Run) -> dict[str, float]:
    """Score what the code head reads in real images."""
    found = encode_run(run, rows=ROWS + ROWS // 2)
    numbers = {}
    for name, metric in METRICS.items():
        for protocol in ("lin2020", None):
            chosen = {} if protocol is None or name == "MIG" else {"protocol": protocol}
            score = metric(found.codes, found.factors, seed=0, **chosen)
            if score.value is not None:
                numbers[f"{name}, {protocol or 'default'}"] = round(float(score.value), 4)
    return numbers


def table() -> str:
    """Return the scores of every seed, before and after, beside those of the paper."""
    entries = kept()
    if not entries:
        return "Nothing is kept yet."
    lines = [f"| | {' | '.join(METRICS)} |", f"|---|{'---|' * len(METRICS)}"]
    for protocol in ("lin2020", "default"):
        for state in ("before", "after"):
            cells = [
                ", ".join(f"{entry[state][f'{name}, {protocol}']:.2f}" for entry in entries)
                for name in METRICS
            ]
            lines.append(f"| {state}, {protocol} | {' | '.join(cells)} |")
    for state, values in PUBLISHED.items():
        cells = [f"{value:.2f}" for value in values]
        lines.append(f"| {state}, published (lin2020) | {' | '.join(cells)} |")
    minutes = sum(entry["cpu_seconds"] for entry in entries) / 60 / len(entries)
    said = (
        f"\nSeeds {', '.join(str(entry['seed']) for entry in entries)}: {BEFORE:,} steps of "
        f"{BATCH} images, then {AFTER:,} with the regulariser, {minutes:.0f} core minutes each; "
        "the paper takes 288,000 and 34,560."
    )
    rises = [
        f"{name} in {sum(e['after'][key] > e['before'][key] for e in entries)}"
        for name in METRICS
        for key in [f"{name}, lin2020"]
    ]
    risen = f" By lin2020 {', '.join(rises)} of {len(entries)} seeds rise; in the paper all do."
    return "\n".join([*lines, said + risen, TRIED])


if __name__ == "__main__":
    main()
