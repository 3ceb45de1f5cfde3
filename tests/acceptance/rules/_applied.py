"""Runs that applications are held to: squares, trained once however many rules ask."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from rules._training import FAST, squares, train, untrained
from unweave.methods.ada_gvae import AdaGVAE
from unweave.methods.hfs import HFS
from unweave.methods.vae import VAE
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.runs.wrapped import wrap

STEPS = 1500
ADA, PLAIN = "Ada-GVAE", "VAE"
METHODS: dict[str, Any] = {
    ADA: AdaGVAE(**FAST),
    PLAIN: VAE(**FAST),
    "VAE, 4 latents": VAE(**FAST | {"latent_dim": 4}),
    "HFS": HFS(gamma=0.5, beta=4, **FAST),
}


@cache
def trained(name: str, seed: int, *, split: str = "", correlate: str = "") -> Run:
    """Return one of the methods, trained on squares as they are or arranged."""
    data = squares()
    if split or correlate:
        data = data.arranged(split, correlate)
    return train(METHODS[name], data=data, seed=seed, steps=STEPS)


def fresh(name: str, seed: int) -> Run:
    """Return one of the methods before its first step."""
    return untrained(METHODS[name], seed=seed, steps=STEPS)


def of_others(model: Model) -> Model:
    """Return a model that gives each image the code of another."""

    def encode(images: np.ndarray) -> np.ndarray:
        return np.roll(model.encode(images), 1, axis=0)

    return wrap(encode, model.data, decode=model.decode, takes="arrays", name="codes of others")


def turned(model: Model) -> Model:
    """Return the twin of a model whose latents are all mixed: the same likelihood, other axes."""
    from unweave.applications.impossibility import rotation_of, twin_of

    return twin_of(model, rotation_of(np.ones(model.latent_dim, dtype=bool)))


def mean(values: Sequence[float]) -> float:
    """Return the mean over draws."""
    return float(np.mean(values))


def look(model: Model, image: int = 518) -> dict[str, np.ndarray]:
    """Return one line for each latent, varied around the code of an image, to look at."""
    lines = model.traverse(model.data.images(np.array([image]))[0], steps=8)
    return {"images": lines[:, :, 0]}
