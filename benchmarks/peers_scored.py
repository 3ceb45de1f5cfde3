"""What does Pythae learn of dSprites as it ships? Its loop, network and settings, scored by us.

    python benchmarks/peers_scored.py [--seeds 100 101 102] [--steps 3000]

Pythae is installed from its package as by `peers.py`. Everything is its default (network, losses,
weights, optimiser, batches) but the number of latents, the images and that they are binary;
FactorVAE draws its two batches as the halves of one. Each run has a process and one thread of its
own. Its means of 15,000 images are scored as those of `recipe.py` are. Renews its part of
docs/results/peers.md.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from typing import Any

from marked_pages import renew
from peers import LATENTS, PAGE, SITE, VERSION, install, used

KINDS = ("BetaVAE", "BetaTCVAE", "FactorVAE")
ROWS = 15_000
METRICS = ("mig", "dci", "factor_vae_score")


def trained(kind: str, seed: int, steps: int) -> dict[str, Any]:
    """Train one model of Pythae and score its means."""
    import numpy as np
    import pythae.models
    import pythae.trainers
    import torch
    from pythae.pipelines import TrainingPipeline

    from unweave import metrics
    from unweave.data import load_data

    torch.set_num_threads(1)
    adversarial = kind == "FactorVAE"
    trainer = "AdversarialTrainerConfig" if adversarial else "BaseTrainerConfig"
    settings = getattr(pythae.models, f"{kind}Config")
    config = settings(input_dim=(1, 64, 64), latent_dim=LATENTS, reconstruction_loss="bce")
    torch.manual_seed(seed)
    model = getattr(pythae.models, kind)(config)
    data, rng = load_data("dsprites"), np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        how = getattr(pythae.trainers, trainer)(output_dir=folder, num_epochs=1, seed=seed)
        seen = steps * how.per_device_train_batch_size
        images = data.images(np.sort(rng.choice(len(data), size=seen, replace=False)))
        began = used()
        TrainingPipeline(training_config=how, model=model)(train_data=images)
        seconds = used() - began
    rows = np.sort(np.random.default_rng(0).choice(len(data), size=ROWS, replace=False))
    model.eval()
    with torch.inference_mode():
        parts = torch.from_numpy(data.images(rows)).split(1000)
        codes = np.concatenate([model.encoder(part).embedding.numpy() for part in parts])
    factors = data.factors(rows)
    scores = {name: getattr(metrics, name)(codes, factors, seed=0).value for name in METRICS}
    return {**scores, "seconds": seconds, "images": seen}


def table(seeds: list[int], steps: int) -> str:
    """Train what is asked for and return it as Markdown."""
    lines = [
        "| method | images seen | CPU s | MIG of each seed | median | DCI | FactorVAE |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        found = [in_a_process(kind, seed, steps) for seed in seeds]
        middle = {name: statistics.median(each[name] for each in found) for name in found[0]}
        cells = [
            f"{kind}",
            f"{found[0]['images']:,}",
            f"{middle['seconds']:.0f}",
            " ".join(f"{each['mig']:.2f}" for each in found),
            *(f"{middle[name]:.3f}" for name in METRICS),
        ]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def in_a_process(kind: str, seed: int, steps: int) -> dict[str, float]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(SITE)}
    words = [sys.executable, __file__, "--one", kind, str(seed), str(steps)]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, seed, steps = options.one
        print(json.dumps(trained(kind, int(seed), int(steps))))
        return
    install()
    made = (
        f"`python benchmarks/peers_scored.py --steps {options.steps} --seeds "
        f"{' '.join(map(str, options.seeds))}` on {datetime.now(UTC).date()}: Pythae {VERSION}, "
        f"{LATENTS} latents.\n\n{table(options.seeds, options.steps)}"
    )
    renew(PAGE, {"scored": made})


if __name__ == "__main__":
    main()
