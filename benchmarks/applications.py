"""Apply small runs to everything there is, seed by seed, and write docs/results/applications.md.

    python benchmarks/applications.py --seeds 0 1 2     # about twenty minutes of one core
    python benchmarks/applications.py --report          # the page again, from what is kept

Every number is kept by arm and seed in docs/results/applications.jsonl; what is there is not
measured again. The page says which rules of the protocols hold and which do not.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from applications_page import page
from unweave import applications
from unweave.data import DataOptions, load_data
from unweave.methods import Method
from unweave.methods.ada_gvae import AdaGVAE
from unweave.methods.ff_vae import FFVAE
from unweave.methods.vae import VAE
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import constant
from unweave.training import loop

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results" / "applications.md"
KEPT = PAGE.with_suffix(".jsonl")
PICTURES = PAGE.with_suffix("")
STEPS = 1500
SETTINGS: dict[str, Any] = {"latent_dim": 6, "optimizer": Adam(1e-3)}
NETWORK = MLP64(hidden=256, decoder_activation="relu")
METHODS: dict[str, Method] = {"VAE": VAE(**SETTINGS), "Ada-GVAE": AdaGVAE(**SETTINGS)}
FAIR: dict[str, Method] = {
    "FFVAE": FFVAE(
        latent_dim=5,
        sensitive=("side",),
        alpha=constant(20.0),
        gamma=constant(20.0),
        optimizer=Adam(1e-3),
        discriminator_width=256,
        discriminator_optimizer=Adam(1e-3, betas=(0.5, 0.9)),
    )
}
"""Methods that are told the sensitive factor, beside those whose latents are dropped post hoc."""
SPLITS = {
    "element": "x>0.7,y>0.7,side=14",
    "range": "x>0.5,side=14",
    "extrapolation": "x>0.5",
}
CORRELATION = "x~y:0.1"
TARGETS = ("toy_shapes", "glyphs")
"""Images that transfer goes on to: shapes are near to squares, drawn digits are far."""


def train(method: Method, seed: int, options: DataOptions = DataOptions()) -> Run:
    """Train on squares; no file is left."""
    data = load_data("toy_xys", options)
    config = Train(
        method=method,
        data="toy_xys",
        data_options=options,
        architecture=NETWORK,
        steps=STEPS,
        seed=seed,
    )
    quiet = Machine(evaluations=0, threads=1, checkpoint_seconds=1e9)
    with tempfile.TemporaryDirectory() as folder:
        run = loop.start(config, data, Path(folder) / "run", quiet)
        return Run(config, data.summary, run.nets, step=run.step, data=data)


Numbers = dict[str, float]


def drawn(run: Run, use: str, **settings: Any) -> Any:
    """Apply a run, keep the figure of the first seed, and return the numbers."""
    applied = applications.apply(use, run, **settings)
    if run.config.seed == 0 and applied.figure is not None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        name = type(run.config.method).__name__.lower()
        applied.figure.save(PICTURES / f"{use}-{name}.png")
    return applied.numbers


def impossibility_arm(run: Run) -> Numbers:
    numbers = drawn(run, "impossibility")
    scores = numbers["scores"]
    return {
        "log p(x)": numbers["log_likelihood"]["model"],
        "of the twin": numbers["log_likelihood"]["twin"],
        "largest difference": numbers["largest_difference_of_an_image"],
        "rounding": numbers["rounding"],
        "MIG": scores["mig"]["model"],
        "MIG of the twin": scores["mig"]["twin"],
        "MIG, shuffled": scores["mig"]["shuffled"],
        "DCI": scores["dci"]["model"],
        "DCI of the twin": scores["dci"]["twin"],
    }


def fairness_arm(run: Run) -> Numbers:
    numbers = drawn(run, "fairness", sensitive="side", target="y", rows=1000, drop=1)
    by, flips = numbers["classifiers"], numbers["flips"]
    without, noisy = (name for name in by if name.startswith("without ") and "as many" not in name)
    return {
        "gap": _mean(by["the whole code"]["parity_gap"]),
        "gap without the latent": _mean(by[without]["parity_gap"]),
        "gap without it, as drawn": _mean(by[noisy]["parity_gap"]),
        "gap of pixels": _mean(by["pixels"]["parity_gap"]),
        "accuracy": _mean(by["the whole code"]["accuracy"]),
        "accuracy without": _mean(by[without]["accuracy"]),
        "AUC left": _mean(by[without]["sensitive_auc"]),
        "AUC left, as drawn": _mean(by[noisy]["sensitive_auc"]),
        "flips of decoded": flips["decoded"],
        "flips of true counterfactuals": flips["true"],
        "decided otherwise than true": flips["not_as_true"],
        "flips unchanged": flips["decoded_unchanged"],
        "unfairness": numbers["unfairness"]["aggregates"]["mean_fairness:mean_pred:mean_sens"],
        "unfairness, shuffled": numbers["unfairness_of_shuffled_codes"][
            "mean_fairness:mean_pred:mean_sens"
        ],
    }


def few_labels_arm(run: Run) -> Numbers:
    numbers = drawn(run, "few_labels", labels=(10, 30, 100, 300))
    return {
        f"{who} at {size}": _mean(numbers["r2"][who][size])
        for who in ("the code", "pixels", "untrained", "the code, rows shuffled")
        for size in (30, 100)
    }


def intervene_arm(run: Run) -> Numbers:
    numbers = drawn(run, "intervene")
    found, ratios = numbers["identification"], numbers["in_the_code"]["ratios"]
    return {
        "IRS": numbers["irs"]["value"],
        "IRS of rotated codes": max(numbers["irs"]["nulls"]["rotated"]),
        "MCC before": found["before"],
        "MCC after, straight": found["straight"],
        "MCC after": found["after"],
        "MCC at random": max(found["at_random"]),
        "worst ratio": max(ratios.values(), default=float("nan")),
        "factors carried": len(ratios),
    }


def representation_arm(run: Run) -> Numbers:
    numbers = drawn(run, "representation", task="side", nuisance="x", rows=1024)
    told, rate = numbers["information"], numbers["rate"]
    return {
        "I(side; z)": told["the code"]["task"],
        "H(side)": numbers["entropy_of_task"],
        "I(x; z)": told["the code"]["nuisance"],
        "its bound": numbers["bound_of_nuisance"],
        "I(image; z)": rate["i_xz"],
        "total correlation": rate["tc"],
        "I(side; z), shuffled": told["the code, rows shuffled"]["task"],
    }


def augment_arm(run: Run) -> Numbers:
    numbers = drawn(run, "augment", target="side", labels=30)
    right = {name: _mean(values) for name, values in numbers["accuracy"].items()}
    return right | {"chance": numbers["chance"]}


PLAIN: dict[str, Callable[[Run], Numbers]] = {
    "impossibility": impossibility_arm,
    "fairness": fairness_arm,
    "few_labels": few_labels_arm,
    "intervene": intervene_arm,
    "representation": representation_arm,
    "augment": augment_arm,
}
"""What needs nothing of the training but a run."""


def _mean(values: Any) -> float:
    return float(sum(values) / len(values)) if len(values) else math.nan


def split_arm(run: Run) -> Numbers:
    applied = applications.apply("recombination", run, rows=200)
    numbers = applied.numbers
    name = f"{type(run.config.method).__name__.lower()}-{run.config.data_options.split}"
    if run.config.seed == 0 and run.config.data_options.split == SPLITS["range"]:
        assert applied.figure is not None
        applied.figure.save(PICTURES / f"recombination-{name.partition('-')[0]}.png")
    composed = [by["held out"] for by in numbers["composition"].values() if "held out" in by]
    return {
        "NLL ratio": numbers["nll_ratio"],
        "NLL": numbers["nll"]["held out"],
        "NLL of the mean image": numbers["nll_of_mean_image"]["held out"],
        "error": numbers["squared_error"]["held out"],
        "error of the nearest": numbers["squared_error_of_nearest"]["held out"],
        "R²": _mean(numbers["r2"]["held out"]["code"]),
        "R² of pixels": _mean(numbers["r2"]["held out"]["pixels"]),
        "composed": _mean([c["composed"] for c in composed]) if composed else float("nan"),
        "left as it was": _mean([c["left as it was"] for c in composed])
        if composed
        else float("nan"),
    }


def correlated_arm(run: Run) -> Numbers:
    numbers = applications.apply("correlated", run, rows=1024).numbers
    return {
        "MIG": numbers["scores"]["mig"]["all"],
        "DCI": numbers["scores"]["dci"]["all"],
        "DCI as trained": numbers["scores"]["dci"]["correlated"],
        "DCI turned around": numbers["scores"]["dci"]["inverse"],
        "known of the other": numbers["of_the_pair"],
        "of other pairs": numbers["of_other_pairs"],
        "undone by 100 labels": _mean(numbers["undone"][100]),
        "chance": numbers["chance"],
    }


def transfer_arm(run: Run, shown: str, target: str) -> Numbers:
    applied = applications.apply("transfer", run, target=target, seed=run.config.seed)
    numbers = applied.numbers
    if run.config.seed == 0 and shown in TARGETS:  # the people on photographs are not ours to show
        assert applied.figure is not None
        name = f"{type(run.config.method).__name__.lower()}-{shown}"
        applied.figure.save(PICTURES / f"transfer-{name}.png")
    on_source, on_target = numbers["on_the_source"], numbers["on_the_target"]
    before, after, alone = on_target
    return {
        "MIG on squares, before": on_source[before]["mig"],
        "MIG after": on_source[after]["mig"],
        "DCI on squares, before": on_source[before]["dci"],
        "DCI after": on_source[after]["dci"],
        "DCI of networks that never saw squares": on_source[alone]["dci"],
        "latents like themselves before (median)": float(np.median(numbers["same_latents"])),
        "explained of new images, before": on_target[before]["explained"],
        "explained after": on_target[after]["explained"],
        "explained by networks of their own": on_target[alone]["explained"],
        "R² of new factors, before": _known(on_target[before]["r2"]),
        "R² after": _known(on_target[after]["r2"]),
        "R² of networks of their own": _known(on_target[alone]["r2"]),
        "R² of pixels": _known(numbers.get("pixels")),
    }


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def kept() -> dict[tuple[str, str, int], Numbers]:
    if not KEPT.is_file():
        return {}
    lines = map(json.loads, KEPT.read_text(encoding="utf-8").splitlines())
    return {(line["use"], line["arm"], line["seed"]): line["numbers"] for line in lines}


def keep(use: str, arm: str, seed: int, numbers: Numbers) -> None:
    line = {"use": use, "arm": arm, "seed": seed, "numbers": numbers}
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def measure(seeds: list[int], targets: dict[str, str]) -> None:
    """Measure what is not kept yet: first what needs one run each, then the others."""
    for seed in seeds:
        for name, method in METHODS.items():
            missing = [use for use in PLAIN if (use, name, seed) not in kept()]
            further = {
                shown: target
                for shown, target in targets.items()
                if ("transfer", f"{name}, {shown}", seed) not in kept()
            }
            run = train(method, seed) if missing or further else None
            for use in missing:
                assert run is not None
                keep(use, name, seed, PLAIN[use](run))
            for shown, target in further.items():
                assert run is not None
                keep("transfer", f"{name}, {shown}", seed, transfer_arm(run, shown, target))
        for name, method in FAIR.items():
            if ("fairness", name, seed) not in kept():
                keep("fairness", name, seed, fairness_arm(train(method, seed)))
    for seed in seeds:
        for name, method in METHODS.items():
            if ("correlated", name, seed) not in kept():
                options = DataOptions(correlate=CORRELATION)
                keep("correlated", name, seed, correlated_arm(train(method, seed, options)))
    for seed in seeds:
        for name, method in METHODS.items():
            for split, rule in SPLITS.items():
                arm = f"{name}, {split}"
                if ("recombination", arm, seed) not in kept():
                    options = DataOptions(split=rule)
                    keep("recombination", arm, seed, split_arm(train(method, seed, options)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--report", action="store_true", help="write the page, measure nothing")
    parser.add_argument("--photographs", help="real images, 32×32, that transfer goes on to")
    words = parser.parse_args()
    torch.set_num_threads(1)
    if not words.report:
        photographs = {"photographs": words.photographs} if words.photographs else {}
        measure(words.seeds, {name: name for name in TARGETS} | photographs)
    PAGE.write_text(page(kept(), list(METHODS), list(SPLITS)), encoding="utf-8")


if __name__ == "__main__":
    main()
