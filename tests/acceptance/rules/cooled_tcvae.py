"""CooledTCVAE: factors that switch on one by one are found on latents of their own."""

from dataclasses import replace
from functools import cache

import numpy as np

from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import train, untrained
from unweave import recipes
from unweave.data import FactorImages, load_data
from unweave.methods import Method
from unweave.metrics import mig
from unweave.runs.run import Run

RECIPE = recipes.without_pose()
ROWS = 10_000


@cache
def sprites() -> FactorImages:
    """Return dSprites."""
    return load_data("dsprites")


def finding(run: Run) -> Finding:
    data = sprites()
    rows = np.random.default_rng(0).choice(len(data), size=ROWS, replace=False)
    images = data.images(rows)
    numbers = {
        "MIG": float(mig(run.encode(images), data.factors(rows)).value),
        "R": run.terms(images[:2000])["reconstruction"],
    }
    return Finding(numbers, {"images": run.traverse(images[0], steps=8)[:, :, 0]})


def trained(method: Method) -> Measure:
    return lambda seed: finding(
        train(
            method,
            seed=seed,
            data=sprites(),
            network=RECIPE.architecture,
            steps=RECIPE.steps,
            batch_size=RECIPE.batch_size,
        )
    )


def weighing(kl_weight: float) -> Method:
    """Return the recipe's method with a KL weight that stays as it is."""
    return replace(RECIPE.method, kl_weight=kl_weight)


def begun(seed: int) -> Finding:
    network = RECIPE.architecture
    return finding(untrained(RECIPE.method, seed=seed, data=sprites(), network=network))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    cold = others["KL weight 1 throughout"]
    return {
        "MIG > 0.38": bool(np.median(own["MIG"]) > 0.38),
        "MIG > that of KL weight 1 + 0.1": bool(
            np.median(own["MIG"]) > np.median(cold["MIG"]) + 0.1
        ),
        "R < 110": bool(np.median(own["R"]) < 110),
    }


RULE = Rule(
    covers=("cooled_tcvae",),
    claim="the recipe without poses on dSprites, dead latents left in, medians of the seeds: MIG "
    "above 0.38 and above that with a KL weight of 1 throughout by 0.1 or more, R below 110 nats",
    method=trained(RECIPE.method),
    saboteurs={
        "KL weight 1 throughout": trained(weighing(1.0)),
        "KL weight 150 throughout": trained(weighing(150.0)),
        "untrained": begun,
    },
    references={"KL weight 1 throughout": trained(weighing(1.0))},
    checks=checks,
    picture="Traversals, one line for each latent.",
)
