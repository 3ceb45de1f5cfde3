"""Points of few numbers whose sources are mixed so that no linear method finds them."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from rules._rule import Finding
from unweave.data import Column, Factor, FactorImages
from unweave.data._pixels import FloatPixels
from unweave.metrics import mcc
from unweave.networks.mlp64 import MLP64
from unweave.settings.optimizers import Adam

SOURCES = 5
STEPS = 8000
SETTINGS = {
    "latent_dim": SOURCES,
    "pixel_scale": 0.01,
    "optimizer": Adam(3e-3, decay_steps=STEPS),
}
# With relu it depends more on the seed.
NETWORK = MLP64(hidden=64, encoder_activation="leaky_relu", decoder_activation="leaky_relu")


def bent(
    name: str, sources: np.ndarray, columns: Sequence[Column], rng: np.random.Generator
) -> FactorImages:
    """Mix sources by rotation, asinh and rotation, and return them as images of 1 × 1.

    The mixing of the data set `segments`, by leaky ReLUs, is so nearly linear that linear ICA
    undoes most of it.
    """
    first, second = (np.linalg.qr(rng.standard_normal((SOURCES, SOURCES)))[0] for _ in range(2))
    mixed = np.arcsinh(sources @ first) @ second
    least, largest = mixed.min(axis=0), mixed.max(axis=0)
    pixels = FloatPixels(((mixed - least) / (largest - least)).astype(np.float32)[:, None, None])
    factors = [Factor(f"source_{i}", 0) for i in range(SOURCES)]
    return FactorImages(name, pixels, factors, sources, columns=columns)


@cache
def some_rows(count: int) -> np.ndarray:
    """Return the rows of so many points that rules are judged on."""
    return np.random.default_rng(0).choice(count, size=5000, replace=False)


def finding(codes: np.ndarray, data: FactorImages) -> Finding:
    """Return how well the codes of some rows match the sources, and a scatter of the first."""
    sources = data.factors(some_rows(len(data)))
    found = float(mcc(codes, sources).value)
    correlation = np.abs(np.corrcoef(codes.T, sources.T)[:SOURCES, SOURCES:])
    best = correlation.argmax(0)[0]
    points = np.column_stack([sources[:, 0], codes[:, best]])
    return Finding({"MCC": found}, {"points": points, "color": np.zeros(len(points))})


def by_ica(data: FactorImages, seed: int) -> Finding:
    """Return what linear ICA finds."""
    from sklearn.decomposition import FastICA

    flat = data.images(some_rows(len(data)))
    model = FastICA(whiten="unit-variance", random_state=seed, max_iter=500)
    return finding(model.fit_transform(flat.reshape(len(flat), -1)), data)
