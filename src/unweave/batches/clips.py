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
        if "clip" in data.columns or "time" in data.columns:
            windows = remembered(
                data, ("frames", self.frames), lambda: neighbours_in_time(data, self.frames)
            )
            reached = remembered(
                data, ("frame weights", self.frames), lambda: reached_by(data, windows)
            )
            return windows[draw_rows(len(windows), count, rng, reached)]
        return self._walks(data, count, rng)

    def _walks(self, data: FactorImages, count: int, rng: Generator) -> np.ndarray:
        factors = discrete_factors(data, "clips", CLIP_EXAMPLE)
        fixed = shared_column(data, self.fixed)
        moving = np.array([f.name != fixed and not f.categorical and f.size > 1 for f in factors])
        if not moving.any():
            raise lacks(data, f"has no ordered factor besides {fixed!r} that moves", CLIP_EXAMPLE)
        last = np.array(data.factor_sizes) - 1
        rows = np.empty((count, self.frames), dtype=np.int64)
        rows[:, 0] = draw_rows(data, count, rng)
        for frame in range(1, self.frames):
            here = data.factors(rows[:, frame - 1])
            there = np.where(moving, here + rng.integers(-1, 2, size=here.shape), here)
            there = np.where(there < 0, 1, np.where(there > last, last - 1, there))
            there = np.where(moving, there, here)
            found = data.find_rows(there, rng)
            # Where an incomplete set lacks the next image, the scene stands still.
            rows[:, frame] = np.where(found >= 0, found, rows[:, frame - 1])
        return rows
