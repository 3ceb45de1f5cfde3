"""Clips made of the images of a full grid: how each factor moves while time passes.

`NAME:dynamics=bounce,clips=1000,frames=20,seed=0` says what is made:

- `bounce`: constant velocity, turned back at the ends of the range;
- `straight`: constant velocity from one end of the clip to the other, without a turn;
- `laplace`: at every frame each factor moves by a distance from a Laplace distribution, cut
  off at the ends, as SlowVAE assumes of nature (D. Klindt et al., ICLR 2021,
  arXiv:2007.10930); its scale for a factor of n values is log n, as for pairs.

A factor without order stays what it was when the clip began. One whose last value is followed
by its first, an angle or a hue, goes around.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from unweave.data._arguments import read_arguments
from unweave.data._dataset import Column, Factor, FactorImages
from unweave.data._original import grid_size
from unweave.data._pixels import Pixels, SelectedPixels
from unweave.errors import ConfigError

Dynamics = Literal["bounce", "straight", "laplace"]


@dataclass(frozen=True)
class ClipSettings:
    """What is asked for behind the colon."""

    dynamics: Dynamics = "bounce"
    clips: int = 1000
    frames: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("clips", 1), ("frames", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be {least} or more, found {getattr(self, name)}")


@dataclass(frozen=True)
class Motion:
    """How one factor moves."""

    speed: float
    """Values per frame that a bouncing factor makes at most; at least half of it. 0: it rests."""
    period: int = 0
    """After how many values it is back at the first; 0 if it has ends."""


def moving(
    name: str,
    source: str,
    pixels: Pixels,
    factors: Sequence[Factor],
    motions: Sequence[Motion],
    note: str = "",
) -> FactorImages:
    """Return clips of a full grid of images, with columns `clip` and `time`."""
    settings = read_arguments(ClipSettings, name, source)
    rng = np.random.default_rng((settings.seed, 0xC11F))
    paths = [
        _path(factor, motion, settings, rng)
        for factor, motion in zip(factors, motions, strict=True)
    ]
    rows = np.ravel_multi_index(tuple(paths), [factor.size for factor in factors]).reshape(-1)
    assert len(pixels) == grid_size(factors)
    clip, time = np.indices((settings.clips, settings.frames)).reshape(2, -1)
    return FactorImages(
        name,
        SelectedPixels(pixels, rows),
        factors,
        np.stack([path.reshape(-1) for path in paths], axis=1).astype(np.int64),
        columns=[
            Column(Factor("clip", settings.clips), clip),
            Column(Factor("time", settings.frames), time),
        ],
        note=note,
    )


def _path(factor: Factor, motion: Motion, settings: ClipSettings, rng: Generator) -> np.ndarray:
    """Return the values (clip, frame) of one factor."""
    shape = (settings.clips, settings.frames)
    start = rng.integers(factor.size, size=(settings.clips, 1))
    if factor.categorical or (motion.speed == 0 and settings.dynamics != "laplace"):
        return np.broadcast_to(start, shape)
    if settings.dynamics == "laplace":
        return _laplace(start, factor.size, motion.period, settings.frames, rng)
    frame = np.arange(settings.frames)
    if motion.period:
        speed = rng.uniform(0.5, 1, start.shape) * motion.speed * rng.choice([-1, 1], start.shape)
        around = start + speed * frame
        return np.floor(around + 0.5).astype(np.int64) % motion.period
    last = factor.size - 1
    begin = rng.uniform(0, last, start.shape)
    if settings.dynamics == "straight":
        end = rng.uniform(0, last, start.shape)
        place = begin + (end - begin) * frame / max(settings.frames - 1, 1)
    else:
        speed = rng.uniform(0.5, 1, start.shape) * motion.speed * rng.choice([-1, 1], start.shape)
        unfolded = (begin + speed * frame) % (2 * last)
        place = np.minimum(unfolded, 2 * last - unfolded)
    return np.floor(place + 0.5).astype(np.int64)


def _laplace(start: np.ndarray, size: int, period: int, frames: int, rng: Generator) -> np.ndarray:
    values = np.arange(period or size)
    distance = abs(values[:, None] - values)
    if period:
        distance = np.minimum(distance, period - distance)
    reached = np.exp(-distance / np.log(len(values))).cumsum(axis=1)
    reached /= reached[:, -1:]
    path = np.empty((len(start), frames), np.int64)
    path[:, 0] = start[:, 0] % len(values)
    for frame in range(1, frames):
        drawn = rng.random((len(start), 1))
        path[:, frame] = (drawn >= reached[path[:, frame - 1]]).sum(axis=1)
    return path
