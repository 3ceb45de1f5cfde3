"""Triplets: an image, one that shares its class with it, and one that does not."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave.batches._batch import Batch, Supervision, draw_rows, lacks, remembered, tensor_of
from unweave.batches._rows import RowGroups, rows_by_value
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
        name, groups = self.class_column(data), self._groups(data)
        if len(groups) == 0 or groups.counts.max() < 2:
            raise lacks(data, f"has no two images with the same {name!r}", EXAMPLE)
        if len(groups) < 2:
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
        groups, group_of, not_alone = self._places(data)
        if data.weights is not None:
            return self._draw_by_weights(data, groups, count, rng)
        first = not_alone[draw_rows(len(not_alone), count, rng)]
        start, members = groups.starts[group_of[first]], groups.counts[group_of[first]]
        # 1 to members - 1 places further, around the end of the group: never the same image.
        second = start + (first - start + rng.integers(1, members)) % members
        if self.any_third:
            third = rng.integers(len(group_of), size=count)
        else:
            third = rng.integers(len(group_of) - members)  # among the others: the group is skipped
            third = np.where(third < start, third, third + members)
        return groups.order[first], groups.order[second], groups.order[third]

    def _draw_by_weights(
        self, data: FactorImages, groups: RowGroups, count: int, rng: Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw triplets of rows that are not drawn alike often."""
        values = data.column(self.class_column(data))
        drawn: list[tuple[int, int, int]] = []
        while len(drawn) < count:
            first, third = data.draw_rows(1, rng)[0], data.draw_rows(1, rng)[0]
            has_gap = values[first] < 0 or values[third] < 0
            if has_gap or (not self.any_third and values[third] == values[first]):
                continue
            group = np.searchsorted(groups.values, values[first])
            second = groups.draw(np.array([group]), 1, rng)[0, 0]
            if second != first:
                drawn.append((first, second, third))
        first, second, third = np.array(drawn).T
        return first, second, third

    def _places(self, data: FactorImages) -> tuple[RowGroups, np.ndarray, np.ndarray]:
        """Return the groups, which one each place in their order is in, and who is not alone."""

        def find() -> tuple[RowGroups, np.ndarray, np.ndarray]:
            groups = self._groups(data)
            group_of = np.repeat(np.arange(len(groups)), groups.counts)
            return groups, group_of, np.flatnonzero(groups.counts[group_of] > 1)

        return remembered(data, ("triplets by", self.class_column(data)), find)

    def _groups(self, data: FactorImages) -> RowGroups:
        name = self.class_column(data)
        return remembered(data, ("all of", name), lambda: rows_by_value(data, name))
