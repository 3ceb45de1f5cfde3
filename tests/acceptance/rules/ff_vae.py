"""FFVAE: an attribute is in its own dimension, and gone with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from rules._measures import squared_error, traversals
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import DISCRIMINATOR, all_images, squares, train, untrained
from unweave.batches import LabelledBatch
from unweave.data import Column, Factor, FactorImages
from unweave.evaluation.probes import accuracy
from unweave.methods import Turn
from unweave.methods.ff_vae import FFVAE
from unweave.networks import Networks
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

STEPS = 3000
SETTINGS = {
    "latent_dim": 4,
    "sensitive": ("large",),
    "alpha": 20,
    "gamma": 20,
    "optimizer": Adam(1e-3),
    **DISCRIMINATOR,
}
BIAS = 0.3
"""How many labels of the target say what the attribute says."""


@dataclass(frozen=True, kw_only=True)
class Asleep(FFVAE):
    """Its discriminator never plays."""

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Turn]:
        yield next(super().turns(nets, batch, step))


Asleep.catalog_name = "ff_vae"  # type: ignore[attr-defined]


@cache
def attributed() -> FactorImages:
    """Return the squares; an attribute says which are large."""
    data = squares()
    large = Column(Factor("large", 2), (data.column("side") >= 2).astype(np.int64))
    return FactorImages(data.name, data.pixels, data.factor_list, columns=[large])


def parity(codes: np.ndarray, large: np.ndarray, upper: np.ndarray, known: np.ndarray) -> tuple:
    """Return how often a classifier is right, and how differently it treats large squares.

    It learns which squares are in the upper half from labels of which some are biased.
    """
    from sklearn.ensemble import RandomForestClassifier

    biased = np.where(np.random.default_rng(1).random(len(upper)) < BIAS, large, upper)
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
    said = forest.fit(codes[known], biased[known]).predict(codes[~known])
    of_large = large[~known] == 1
    gap = abs(said[of_large].mean() - said[~of_large].mean())
    return float((said == upper[~known]).mean()), float(gap)


def finding(run: Run) -> Finding:
    data = attributed()
    codes, factors = run.encode(all_images(data)), data.factors()
    large, upper = data.column("large"), (factors[:, 1] < 8).astype(np.int64)
    place = factors[:, 0] * 16 + factors[:, 1]  # squares of one place are in one half
    known = np.isin(place, np.random.default_rng(0).permutation(256)[:128])
    right, gap = parity(codes, large, upper, known)
    right_without, gap_without = parity(codes[:, 1:], large, upper, known)
    drawn = run.draw_codes(all_images(data))
    numbers = {
        "attribute from b": accuracy(codes[:, :1], large, place),
        "attribute from z as drawn": accuracy(drawn[:, 1:], large, place),
        "attribute from means of z": accuracy(codes[:, 1:], large, place),
        "target with b": right,
        "target without b": right_without,
        "gap with b": gap,
        "gap without b": gap_without,
        "squared error": squared_error(run),
    }
    return Finding(numbers, traversals(run))


def trained(seed: int, kind: type[FFVAE] = FFVAE, **changes: object) -> Finding:
    method = kind(**SETTINGS | changes)
    return finding(train(method, data=attributed(), seed=seed, steps=STEPS))


def checks(own: Columns, others: object) -> Checks:
    return {
        "attribute from b > 0.95": bool(own["attribute from b"].min() > 0.95),
        "attribute from z ≤ 0.75": bool(own["attribute from means of z"].max() <= 0.75),
        "gap halved without b": bool((own["gap without b"] <= own["gap with b"] / 2).all()),
        "target no worse by 0.03": bool(
            (own["target without b"] >= own["target with b"] - 0.03).all()
        ),
        "squared error < 16": bool(own["squared error"].max() < 16),
    }


SABOTEURS: dict[str, Measure] = {
    "no total correlation": lambda seed: trained(seed, gamma=0),
    "attributes not told": lambda seed: trained(seed, alpha=0),
    "discriminator asleep": lambda seed: trained(seed, Asleep),
    "untrained": lambda seed: finding(untrained(FFVAE(**SETTINGS), data=attributed(), seed=seed)),
}
RULE = Rule(
    covers=("ff_vae",),
    claim="squares of which the larger half is the attribute, each seed: a forest names it from b "
    "in > 95 %, from means of z in at most 75 % (chance 50 %); of a classifier of another factor "
    "that learnt from biased labels the parity gap without b is at most half of that with b, and "
    "it is right as often to within 3 points; squared error of reconstructions below 16, where "
    "the mean image has 79",
    method=trained,
    saboteurs=SABOTEURS,
    checks=checks,
    picture="Traversals, one line for each latent; the first is the attribute's.",
)
