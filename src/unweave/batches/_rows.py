"""Which rows belong together: those with the same value, those that follow in time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from unweave.batches._batch import lacks, reached_by
from unweave.data import FactorImages
from unweave.row_groups import RowGroups

CLIP_EXAMPLE = (
    "file,clip,time\nframe_0001.png,walk,1   (frames of a clip follow each other by time)"
)


@dataclass(frozen=True)
class ValueGroups(RowGroups):
    """Rows in groups of the same value."""

    values: np.ndarray
    """(group,): the value its rows share."""
    reached: np.ndarray | None = None
    """(row,): the running sum of the weights of `order`, unless all are drawn alike."""

    @property
    def reached_by_groups(self) -> np.ndarray | None:
        """Return the running sum of the weights of the groups."""
        if self.reached is None:
            return None
        before = np.concatenate([[0.0], self.reached])
        weights: np.ndarray = before[self.starts + self.counts] - before[self.starts]
        return weights.cumsum()

    def only(self, chosen: np.ndarray) -> "ValueGroups":
        """Return the groups for which it is true."""
        groups = self.starts[chosen], self.counts[chosen], self.values[chosen]
        return ValueGroups(self.order, *groups, reached=self.reached)

    def draw_distinct(self, count: int, rng: Generator) -> np.ndarray:
        """Draw so many groups, none twice; of those that are drawn at all there may be fewer."""
        reached = self.reached_by_groups
        if reached is None:
            return rng.choice(len(self), size=count, replace=False)
        weights = np.diff(reached, prepend=0.0) / reached[-1]
        most = min(count, int((weights > 0).sum()))
        return rng.choice(len(self), size=most, replace=False, p=weights)

    def draw_apart(self, groups: np.ndarray, size: int, rng: Generator) -> np.ndarray:
        """Draw rows (group, size) of each group, without repetition as far as it reaches."""
        if self.reached is not None:
            return self._draw_by_weights(groups, size, rng)
        drawn = np.empty((len(groups), size), dtype=np.int64)
        for line, group in enumerate(groups):
            count = self.counts[group]
            if count >= size:
                picked = rng.choice(count, size=size, replace=False)
            else:
                picked = np.resize(rng.permutation(count), size)
            drawn[line] = self.order[self.starts[group] + picked]
        return drawn

    def _draw_by_weights(self, groups: np.ndarray, size: int, rng: Generator) -> np.ndarray:
        assert self.reached is not None
        before = np.concatenate([[0.0], self.reached])
        low, high = before[self.starts[groups]], before[self.starts[groups] + self.counts[groups]]
        share = rng.random((len(groups), size))
        places = np.searchsorted(
            self.reached, low[:, None] + share * (high - low)[:, None], "right"
        )
        last = (self.starts + self.counts)[groups, None] - 1
        return self.order[places.clip(self.starts[groups, None], last)]


def rows_by_value(data: FactorImages, name: str, least: int = 1) -> ValueGroups:
    """Group rows by the value of a factor or column; gaps and smaller groups are left out."""
    groups = grouped(data, data.column(name))
    return groups.only(groups.counts >= least)


def grouped(data: FactorImages, values: np.ndarray) -> ValueGroups:
    """Group rows by their value, leaving out gaps, which are below 0."""
    known = np.flatnonzero(values >= 0)
    found, group_of_row = np.unique(values[known], return_inverse=True)
    groups = RowGroups.of(group_of_row)
    order = known[groups.order]
    return ValueGroups(order, groups.starts, groups.counts, found, reached_by(data, order))


def combinations(data: FactorImages, names: Sequence[str]) -> np.ndarray:
    """Return a number for each row, the same for rows that share the values of all factors."""
    found = np.zeros(len(data), dtype=np.int64)
    for name in names:  # numbered anew each time, so that they never outgrow 64 bits
        both = found * data.summary.column_sizes[name] + data.column(name)
        found = np.unique(both, return_inverse=True)[1]
    return found


def neighbours_in_time(data: FactorImages, frames: int) -> np.ndarray:
    """Return the rows (window, frame) of every run of frames of one clip, in order of time."""
    for name in ("clip", "time"):
        if name not in data.columns:
            other = "time" if name == "clip" else "clip"
            raise lacks(data, f"has a column {other!r} but none called {name!r}", CLIP_EXAMPLE)
    clip, time = data.column("clip"), data.column("time")
    known = np.flatnonzero(
        (clip >= 0) & (np.isfinite(time) if time.dtype.kind == "f" else time >= 0)
    )
    order = known[np.lexsort((time[known], clip[known]))]
    count = max(len(order) - frames + 1, 0)
    windows = order[np.arange(count)[:, None] + np.arange(frames)]
    windows = windows[clip[windows[:, 0]] == clip[windows[:, -1]]]
    if len(windows) == 0:
        raise lacks(data, f"has no clip with {frames} images that have a time", CLIP_EXAMPLE)
    return windows
