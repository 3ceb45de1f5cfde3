"""VAE-GAN: the class is in the content, and images swapped have the donor's."""

import numpy as np

from rules._classes import CHANCE, judge
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import all_images, judged_on, shapes, shuffled, train, untrained
from unweave.data import FactorImages
from unweave.evaluation.probes import leakage
from unweave.methods.vae_gan import VAEGAN
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

STEPS = 2000
RATE = Adam(1e-3, betas=(0.5, 0.999))
# A style with room for side, x and y; with a KL that weighs 1 it tells the shape a little.
SETTINGS = {
    "latent_dim": 3,
    "beta": 3,
    "content_dim": 4,
    "class_column": "shape",
    "discriminator_width": 64,
    "optimizer": RATE,
    "discriminator_optimizer": RATE,
}


def centres(images: np.ndarray) -> np.ndarray:
    """Return where the bright pixels of images (image, 1, side, side) have their middle."""
    places = np.arange(images.shape[-1])
    mass = images.sum((1, 2, 3)) + 1e-6
    down = (images.sum((1, 3)) * places).sum(1) / mass
    across = (images.sum((1, 2)) * places).sum(1) / mass
    return np.stack([down, across], axis=1)


def finding(run: Run, count: int = 1000) -> Finding:
    run, data = judged_on(run, shapes()), shapes()
    found = leakage(run, "shape")
    images = all_images(data)
    donor, place = np.random.default_rng(0).integers(len(data), size=(2, count))
    swapped = run.swap(images[donor], images[place])
    wanted = centres(images[place])
    error = np.square(centres(swapped) - wanted).sum() / np.square(wanted - wanted.mean(0)).sum()
    numbers = {
        "shape from s": found.accuracy["content"],
        "shape from means of z": found.accuracy["style"],
        "shape from z as drawn": found.drawn["style"],
        "shape of the content's donor": float(
            (judge()(swapped) == data.column("shape", donor)).mean()
        ),
        "R² of the place of the style's donor": float(1 - error),
    }
    return Finding(numbers, grid(run))


def grid(run: Run, count: int = 6) -> dict[str, np.ndarray]:
    """Return swaps: the content of the image above with the style of the image on the left."""
    data = shapes()
    images, rng = all_images(data), np.random.default_rng(3)
    contents = np.array([rng.choice(np.flatnonzero(data.column("shape") == k)) for k in range(3)])
    styles = rng.choice(len(data), size=count, replace=False)
    above, beside = (m.ravel() for m in np.meshgrid(contents, styles))
    made = run.swap(images[above], images[beside])[:, 0].reshape(count, 3, 32, 32)
    head = np.concatenate([np.zeros((1, 1, 32, 32)), images[contents][None, :, 0]], axis=1)
    body = np.concatenate([images[styles][:, None, 0], made], axis=1)
    return {"images": np.concatenate([head, body])}


def trained(seed: int, data: FactorImages | None = None, **changes: float) -> Finding:
    data = shapes() if data is None else data
    return finding(
        train(VAEGAN(**SETTINGS | changes), data=data, seed=seed, steps=STEPS, batch_size=48)
    )


def checks(own: Columns, others: object) -> Checks:
    return {
        "shape from s > 0.9": bool(own["shape from s"].min() > 0.9),
        "shape from z ≤ chance + 0.15": bool(
            own["shape from means of z"].max() <= CHANCE + 0.15
            and own["shape from z as drawn"].max() <= CHANCE + 0.15
        ),
        "swaps have the donor's shape > 0.8": bool(own["shape of the content's donor"].min() > 0.8),
        "swaps are where the style was, R² > 0.6": bool(
            own["R² of the place of the style's donor"].min() > 0.6
        ),
    }


SABOTEURS: dict[str, Measure] = {
    "classes shuffled": lambda seed: trained(seed, shuffled(shapes(), seed)),
    "judge not asked": lambda seed: trained(seed, adversarial_weight=0),
    "untrained": lambda seed: finding(untrained(VAEGAN(**SETTINGS), data=shapes(), seed=seed)),
}
RULE = Rule(
    covers=("vae_gan",),
    claim="three shapes, each seed: a forest names the shape from s in > 90 %, from z, its means "
    "or as drawn, in at most chance + 0.15; of images with the content of one and the style of "
    "another a classifier of real images names > 80 % by the content's donor, and they are where "
    "the style's donor was with R² > 0.6",
    method=trained,
    saboteurs=SABOTEURS,
    checks=checks,
    picture="Swaps: the content of the image above with the style of the image on the left.",
)
