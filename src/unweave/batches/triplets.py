"""Triplets: an image, one that shares its class with it, and one that does not."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave.batches._batch import Batch, Supervision, draw_rows, lacks, remembered, tensor_of
from unweave.batches._rows import rows_by_value
from unweave.batches.groups import shared_column
from unweave.data import FactorImages

EXAMPLE = "file,group\nanna_1.png,anna   (two images of anna, and one of somebody else, are three)"


@dataclass(frozen=True)
class TripletBatch(Batch):
    """Images and, in the same order, one that shares the value of each and one that does not."""

    same: Tensor
    """(triplet, channel, height, width), in [0, 1]: another image of the same value."""
    others: Tensor
    """(triplet, channel, height, width), in [0, 1]: an image of another value."""
    values: Tensor
    """(triplet,): what the first two share."""
    other_values: Tensor
    """(triplet,): the value of the third."""


@dataclass(frozen=True)
class Triplets(Supervision):
    """Triplets of images, two of which share a factor's value."""

    column: str = ""
    """Factor or column whose value they share; see `shared_column` for what "" means."""
    any_third: bool = False
    """Whether the third image is any image, which may have the value of the first two."""

    def check(self, data: FactorImages) -> None:
        name, places = self.class_column(data), self._places(data)
        if len(places.not_alone) == 0:
            raise lacks(data, f"has no two images with the same {name!r}", EXAMPLE)
        if len(np.unique(places.group_of[np.diff(places.before) > 0])) < 2:
            raise lacks(data, f"has no two images with different {name!r}", EXAMPLE)

    def class_column(self, data: FactorImages) -> str:
        return shared_column(data, self.column)

    def draw(self, data: FactorImages, size: int, rng: Generator) -> TripletBatch:
        """Draw a third as many triplets as images are asked for, at least one."""
        name, rows = self.class_column(data), self.draw_triplet_rows(data, max(size // 3, 1), rng)
        anchors, same, others = (tensor_of(data, part, rng) for part in rows)
        return TripletBatch(
            anchors,
            len(data),
            same=same,
            others=others,
            values=torch.from_numpy(data.column(name, rows[0])),
            other_values=torch.from_numpy(data.column(name, rows[2])),
        )

    def draw_triplet_rows(
        self, data: FactorImages, count: int, rng: Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw the rows of triplets; an image that is alone with its value is never the first."""
        places = self._places(data)
        first = places.not_alone[
            draw_rows(len(places.not_alone), count, rng, places.reached_not_alone)
        ]
        group = places.group_of[first]
        start, end = places.begins[group], places.begins[group + 1]
        second = places.draw_except(first, first + 1, start, end, rng)
        zero, all_of = np.zeros_like(first), np.full_like(first, len(places.order))
        left_out = (zero, zero) if self.any_third else (start, end)
        third = places.draw_except(*left_out, zero, all_of, rng)
        return places.order[first], places.order[second], places.order[third]

    def _places(self, data: FactorImages) -> "_Places":
        name = self.class_column(data)
        return remembered(data, ("places by", name), lambda: _places_by(data, name))


@dataclass(frozen=True)
class _Places:
    """Rows side by side with those of the same value, and how far their weights reach."""

    order: np.ndarray
    """(place,): the row."""
    group_of: np.ndarray
    """(place,): which group it is in."""
    begins: np.ndarray
    """(group + 1,): where each begins, and where all end."""
    before: np.ndarray
    """(place + 1,): the sum of the weights before it."""
    not_alone: np.ndarray
    """Places of rows that are not the only ones of their value."""
    reached_not_alone: np.ndarray | None
    """The running sum of their weights, unless all are drawn alike."""

    def draw_except(
        self,
        hole_start: np.ndarray,
        hole_end: np.ndarray,
        start: np.ndarray,
        end: np.ndarray,
        rng: Generator,
    ) -> np.ndarray:
        """Draw a place from each stretch by weight, but none from the hole in it."""
        low, high = self.before[start], self.before[end]
        hole, after = self.before[hole_start], self.before[hole_end]
        at = low + rng.random(len(low)) * (high - low - (after - hole))
        at = np.where(at < hole, at, at + (after - hole))  # the hole is skipped
        return np.searchsorted(self.before, at, side="right").clip(start + 1, end) - 1


def _places_by(data: FactorImages, name: str) -> _Places:
    groups = rows_by_value(data, name)
    group_of = np.repeat(np.arange(len(groups)), groups.counts)
    weights = np.ones(len(group_of)) if data.weights is None else data.weights[groups.order]
    company = np.bincount(group_of, weights=weights > 0)
    not_alone = np.flatnonzero((weights > 0) & (company[group_of] > 1))
    return _Places(
        groups.order,
        group_of,
        np.append(groups.starts, len(group_of)),
        np.concatenate([[0.0], weights.cumsum()]),
        not_alone,
        None if data.weights is None else weights[not_alone].cumsum(),
    )
