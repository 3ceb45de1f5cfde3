"""HFS: correlated factors have codes whose support is a box, and keep them apart."""

from functools import cache

import numpy as np
import torch

from rules._measures import scatter, squared_error
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, all_images, judged_on, squares, train, untrained
from unweave.data import FactorImages
from unweave.methods import Method
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.hfs import HFS, distance_of_supports
from unweave.metrics import dci, mig
from unweave.runs.run import Run

STEPS = 1500
BETA = 4
DRAWS = 8
SETTINGS = {"gamma": 0.5, "beta": BETA, **FAST}
RIVAL = "β-VAE, β = 4"


@cache
def together() -> FactorImages:
    """Return squares of which x and y are seldom far apart."""
    return squares().arranged(correlate="x~y:0.1")


def missing_support(codes: np.ndarray) -> float:
    """Return what the support of codes lacks of a box, each divided by its deviation."""
    spread = torch.from_numpy((codes - codes.mean(0)) / (codes.std(0) + 1e-3))
    pairs = torch.triu_indices(codes.shape[1], codes.shape[1], 1).T
    return float(distance_of_supports(spread, pairs)) / len(pairs)


def finding(run: Run) -> Finding:
    data = squares()
    codes, factors = judged_on(run, data).encode(all_images(data)), data.factors()
    rng = np.random.default_rng(0)
    seen = [codes[together().draw_rows(128, rng)] for _ in range(DRAWS)]
    numbers = {
        "missing support": float(np.mean([missing_support(each) for each in seen])),
        "MIG": float(mig(codes, factors).value),
        "DCI": float(dci(codes, factors, train_rows=682, test_rows=341).value),
        "squared error": squared_error(judged_on(run, data)),
    }
    best = [int(np.abs(np.corrcoef(codes.T, factors[:, k])[-1, :-1]).argmax()) for k in (0, 1)]
    return Finding(numbers, scatter(codes, factors[:, 0], *best))


def trained(method: Method) -> Measure:
    return lambda seed: finding(train(method, data=together(), seed=seed, steps=STEPS))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    own_median = {name: np.median(values) for name, values in own.items()}
    rival = {name: np.median(values) for name, values in others[RIVAL].items()}
    return {
        "support nearer to a box": bool(
            own_median["missing support"] < 0.85 * rival["missing support"]
        ),
        "MIG above β-VAE's": bool(own_median["MIG"] > rival["MIG"]),
        "images kept": bool(own_median["squared error"] < 1.5 * rival["squared error"]),
    }


RULE = Rule(
    covers=("hfs",),
    claim="x and y seldom far apart (σ = 0.1), medians over seeds: what the support of codes lacks "
    "of a box, each latent divided by its deviation, is below 0.85 of that of a β-VAE of the same "
    "β; MIG over all images, most of which were hardly seen, is above its, and the squared error "
    "below 1.5 of its",
    method=trained(HFS(**SETTINGS)),
    saboteurs={
        "no distance of supports": trained(HFS(**SETTINGS | {"gamma": 0})),
        "untrained": lambda seed: finding(untrained(HFS(**SETTINGS), data=together(), seed=seed)),
    },
    references={RIVAL: trained(BetaVAE(beta=BETA, **FAST))},
    checks=checks,
    picture="All images, the dimensions that know most of x and of y; the colour is x.",
)
