"""The standard test representations: codes made from factors by a formula.

u are factors standardised over their uniform grid. Nothing is stored; rows are
drawn from the seed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIZES = (3, 6, 40, 32, 32)
"""Shape, scale, orientation, x and y of dSprites."""

SMALL_SIZES = (3, 6, 8, 8, 8)

NAMES = (
    "perfect",
    "perfect_affine",
    "rotated_pairs",
    "sincos",
    "merged",
    "redundant",
    "dead",
    "noise",
    "noisy_0.3",
    "kminus1",
)


HELD_OUT = ("held_out_turned", "held_out_bent", "held_out_spread")
"""Representations that defaults are checked on, and that none is chosen by."""


@dataclass(frozen=True)
class Representation:
    """Codes and the factors they were made from."""

    codes: NDArray[np.float32]
    factors: NDArray[np.int64]


@dataclass(frozen=True)
class Posterior:
    """Gaussian posteriors of a full grid."""

    mean: NDArray[np.float32]
    logvar: NDArray[np.float32]
    factors: NDArray[np.int64]


def standardised(factors: NDArray[np.int64], sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Scale each factor to mean 0 and variance 1 over its uniform grid."""
    n = np.array(sizes)
    return (factors - (n - 1) / 2) / np.sqrt((n**2 - 1) / 12)


def representation(
    name: str, rows: int, seed: int = 7, sizes: tuple[int, ...] = SIZES
) -> Representation:
    """Draw factors and make the codes of a standard representation."""
    rng = np.random.default_rng(seed)
    factors = np.stack([rng.integers(size, size=rows) for size in sizes], axis=1)
    return Representation(codes_of(name, factors, sizes, rng).astype(np.float32), factors)


def codes_of(
    name: str, factors: NDArray[np.int64], sizes: tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the codes of a standard representation."""
    u = standardised(factors, sizes)
    rows = len(u)
    shape, scale, orientation, x, y = u.T
    if name == "perfect":
        return u
    if name == "perfect_affine":
        return u[:, [3, 0, 4, 2, 1]] * [2, 0.5, -1, 3, -0.7] + [1, -2, 0, 0.5, 10]
    if name == "rotated_pairs":
        half = np.sqrt(0.5)
        turned = [(scale - orientation), (scale + orientation), (x - y), (x + y)]
        return np.stack([shape, *(half * pair for pair in turned)], axis=1)
    if name == "sincos":
        angle = 2 * np.pi * factors[:, 2] / sizes[2]
        return np.stack([shape, scale, np.sin(angle), np.cos(angle), x, y], axis=1)
    if name == "merged":
        levels = (factors[:, 0] * sizes[1] + factors[:, 1])[:, None]
        both = standardised(levels, (sizes[0] * sizes[1],))
        return np.concatenate([both, u[:, 2:]], axis=1)
    if name == "redundant":
        return np.concatenate([u, -u / 2], axis=1)
    if name == "dead":
        return np.concatenate([u, np.zeros((rows, 1))], axis=1)
    if name == "noise":
        return rng.standard_normal((rows, 6))
    if name == "noisy_0.3":
        return u + 0.3 * rng.standard_normal(u.shape)
    if name == "kminus1":
        return np.concatenate([u[:, 1:], rng.standard_normal((rows, 1))], axis=1)
    if name == "noisy_0.6":
        return u + 0.6 * rng.standard_normal(u.shape)
    if name == "noise_beside":
        return np.concatenate(
            [u + 0.3 * rng.standard_normal(u.shape), rng.standard_normal(u.shape)], 1
        )
    if name == "vae_like":
        # Bent and slightly mixed codes with noise of their own, and latents that all but died.
        fixed = np.random.default_rng(5)
        mixed = u @ (0.75 * np.eye(5) + 0.35 * np.linalg.qr(fixed.standard_normal((5, 5)))[0])
        alive = np.tanh(0.7 * mixed) + 0.15 * rng.standard_normal(u.shape) * [1, 0.5, 2, 1, 1.5]
        dead = 0.02 * u @ fixed.standard_normal((5, 5)) + 0.01 * rng.standard_normal(u.shape)
        return np.concatenate([alive, dead], axis=1)
    if name.startswith("mixtures_"):  # so many codes, each of which mixes all factors
        mixing = np.random.default_rng(29).standard_normal((5, int(name.partition("_")[2])))
        mixed = u @ mixing
        return np.tanh(mixed + 0.3 * rng.standard_normal(mixed.shape))
    if name in HELD_OUT:
        return _held_out(name, u, rng)
    raise KeyError(name)


def _held_out(name: str, u: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    fixed = np.random.default_rng(23)
    if name == "held_out_turned":  # every code holds its factor and a little of all the others
        turn = np.linalg.qr(np.eye(5) + 0.25 * fixed.standard_normal((5, 5)))[0]
        return u @ turn + 0.2 * rng.standard_normal(u.shape)
    if name == "held_out_bent":  # cubes with noise of heavy tails
        return u**3 + 0.3 * rng.standard_t(3, size=u.shape)
    # "held_out_spread": each factor in two codes of different noise, and two sums of factors.
    twice = np.repeat(u, 2, axis=1) + rng.standard_normal((len(u), 10)) * ([0.3, 0.8] * 5)
    return np.concatenate([twice, u[:, [0, 2]] + u[:, [1, 3]]], axis=1)


def full_grid(sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Return every combination of values, the last factor fastest."""
    return np.indices(sizes).reshape(len(sizes), -1).T


class FullGrid:
    """A data set whose image of a row is its factors, which an encoder turns into codes."""

    factor_names = ("shape", "scale", "orientation", "x", "y")

    def __init__(self, sizes: tuple[int, ...] = SIZES) -> None:
        self.factor_sizes = sizes
        self.grid = full_grid(sizes)
        self.encoded = 0

    def __len__(self) -> int:
        return len(self.grid)

    def factors(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the factors of rows."""
        return self.grid[rows]

    def images(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return factors in the shape of images."""
        self.encoded += len(rows)
        return self.grid[rows].astype(np.float32)[:, :, None, None]

    def rows_of(self, factors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows that have these factors."""
        return np.ravel_multi_index(tuple(np.asarray(factors).T), self.factor_sizes)


def posterior(deviation: float) -> Posterior:
    """Return posteriors around perfect means, and one latent that equals its prior."""
    factors = full_grid(SMALL_SIZES)
    mean = standardised(factors, SMALL_SIZES)
    mean = np.concatenate([mean, np.zeros((len(mean), 1))], axis=1)
    logvar = np.full(mean.shape, 2 * np.log(deviation))
    logvar[:, -1] = 0.0
    return Posterior(mean.astype(np.float32), logvar.astype(np.float32), factors)
