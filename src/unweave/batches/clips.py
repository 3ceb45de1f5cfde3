"""Clips: several frames of one scene, in order of time.

From columns `clip` and `time` if the data has one of them; else drawn from factors:
what a group would share stays, and so do factors without order; every other factor
takes a random walk of one value down, none or one up, turned back at its ends.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave.batches._batch import (
    Batch,
    Supervision,
    discrete_factors,
    draw_rows,
    lacks,
    reached_by,
    remembered,
    tensor_of,
)
from unweave.batches._rows import CLIP_EXAMPLE, neighbours_in_time
from unweave.batches.groups import shared_column
from unweave.data import FactorImages
from unweave.errors import ConfigError


@dataclass(frozen=True)
class ClipBatch(Batch):
    """Images of which each `frames` in a row are a clip, in order of time."""

    frames: int
    clips: Tensor
    """(image,): number of the clip each image is in: 0, 0, …, 1, 1, …"""


@dataclass(frozen=True)
class Clips(Supervision):
    """Clips of successive images."""

    frames: int = 4
    """Images of a clip."""
    fixed: str = ""
    """Factor that stays when clips are drawn from factors; "" takes what groups would share."""
    span: int = 0
    """Successive images among which the frames are drawn, still in order; 0 for no gaps."""

    def __post_init__(self) -> None:
        if self.frames < 1 or (self.span and self.span < self.frames):
            raise ConfigError(
                f"a clip needs 1 frame or more and a span of 0 or of as many, found "
                f"{self.frames} frames in a span of {self.span}"
            )

    def check(self, data: FactorImages) -> None:
        self.draw_clip_rows(data, 1, np.random.default_rng(0))

    def draw(self, data: FactorImages, size: int, rng: Generator) -> ClipBatch:
        """Draw as many whole clips as there is room for, at least one."""
        rows = self.draw_clip_rows(data, max(size // self.frames, 1), rng)
        clips = torch.arange(len(rows)).repeat_interleave(self.frames)
        images = tensor_of(data, rows.reshape(-1), rng)
        return ClipBatch(images, len(data), frames=self.frames, clips=clips)

    def draw_clip_rows(self, data: FactorImages, count: int, rng: Generator) -> np.ndarray:
        """Draw rows (clip, frame)."""
        span = self.span or self.frames
        if "clip" in data.columns or "time" in data.columns:
            windows = remembered(data, ("frames", span), lambda: neighbours_in_time(data, span))
            reached = remembered(data, ("frame weights", span), lambda: reached_by(data, windows))
            rows = windows[draw_rows(len(windows), count, rng, reached)]
        else:
            rows = self._walks(data, count, span, rng)
        if span == self.frames:
            return rows
        kept = np.sort(rng.random(rows.shape).argsort(axis=1)[:, : self.frames], axis=1)
        return np.take_along_axis(rows, kept, axis=1)

    def _walks(self, data: FactorImages, count: int, frames: int, rng: Generator) -> np.ndarray:
        factors = discrete_factors(data, "clips", CLIP_EXAMPLE)
        fixed = shared_column(data, self.fixed)
        moving = np.array([f.name != fixed and not f.categorical and f.size > 1 for f in factors])
        if not moving.any():
            raise lacks(data, f"has no ordered factor besides {fixed!r} that moves", CLIP_EXAMPLE)
        last = np.array(data.factor_sizes) - 1
        rows = np.empty((count, frames), dtype=np.int64)
        rows[:, 0] = draw_rows(data, count, rng)
        for frame in range(1, frames):
            here = data.factors(rows[:, frame - 1])
            there = np.where(moving, here + rng.integers(-1, 2, size=here.shape), here)
            there = np.where(there < 0, 1, np.where(there > last, last - 1, there))
            there = np.where(moving, there, here)
            found = data.find_rows(there, rng)
            # Where an incomplete set lacks the next image, the scene stands still.
            rows[:, frame] = np.where(found >= 0, found, rows[:, frame - 1])
        return rows
