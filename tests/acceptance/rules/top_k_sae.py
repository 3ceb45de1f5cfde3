"""Top-k SAE: the directions that features are made of are found, few to each input."""

from functools import cache

import numpy as np

from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import train, untrained
from unweave.data import FactorImages, from_arrays
from unweave.methods.top_k_sae import TopKSAE, feature_images
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

STEPS = 4000
FEATURES, TRUE, ACTIVE, ROWS = 24, 40, 3, 6000
SETTINGS = {
    "latent_dim": 64,
    "active": ACTIVE,
    "optimizer": Adam(3e-3, decay_steps=STEPS),
}


@cache
def true_directions() -> np.ndarray:
    """Return more directions than there are features."""
    drawn = np.random.default_rng(0).standard_normal((TRUE, FEATURES))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@cache
def features() -> FactorImages:
    """Return features that have three directions each, and a little noise."""
    rng = np.random.default_rng(1)
    strengths = np.zeros((ROWS, TRUE))
    for line in strengths:
        line[rng.choice(TRUE, ACTIVE, replace=False)] = rng.uniform(0.5, 1.5, ACTIVE)
    noise = 0.01 * rng.standard_normal((ROWS, FEATURES))
    return from_arrays(feature_images(strengths @ true_directions() + noise), name="features")


def scattered(seed: int) -> FactorImages:
    """Return the same numbers, each feature from another row: they are made of nothing."""
    images = features().images(np.arange(ROWS))[:, 0]
    rng = np.random.default_rng((seed, 0x5AB))
    return from_arrays(rng.permuted(images, axis=0), name="features")


def finding(run: Run) -> Finding:
    data = features()
    images = data.images(np.arange(ROWS))
    codes = run.encode(images)
    found = run.nets.decoder.unit.detach().numpy()
    alike = true_directions() @ found.T
    error = (
        np.square(run.reconstruct(images) - images).sum() / np.square(images - images.mean(0)).sum()
    )
    numbers = {
        "cosine of the nearest direction": float(alike.max(1).mean()),
        "directions found (cosine > 0.9)": float((alike.max(1) > 0.9).mean()),
        "variance explained": float(1 - error),
        "active latents": float((codes > 0).sum(1).mean()),
        "latents never active": float((codes > 0).any(0).mean() * -1 + 1),
    }
    order = alike.argmax(1)
    return Finding(numbers, {"images": np.abs(alike[:, order])[None, None]})


def trained(seed: int, data: FactorImages | None = None, **changes: float) -> Finding:
    data = features() if data is None else data
    method = TopKSAE(**SETTINGS | changes)
    return finding(train(method, data=data, seed=seed, steps=STEPS, batch_size=128))


def checks(own: Columns, others: object) -> Checks:
    return {
        "cosine > 0.9": bool(own["cosine of the nearest direction"].min() > 0.9),
        "variance explained > 0.8": bool(own["variance explained"].min() > 0.8),
        "3 active latents": bool(own["active latents"].max() <= ACTIVE),
    }


SABOTEURS: dict[str, Measure] = {
    "every latent active": lambda seed: trained(seed, active=64),
    "features of different rows": lambda seed: trained(seed, scattered(seed)),
    "untrained": lambda seed: finding(untrained(TopKSAE(**SETTINGS), data=features(), seed=seed)),
}
RULE = Rule(
    covers=("top_k_sae",),
    claim="24 features made of 3 out of 40 directions each: each seed has for a true direction one "
    "whose cosine with it is above 0.9 on average, explains more than 80 % of the variance, and "
    "gives no input more than 3 latents",
    method=trained,
    saboteurs=SABOTEURS,
    checks=checks,
    picture="Cosines of true directions (lines) and the direction nearest to each (columns).",
)
