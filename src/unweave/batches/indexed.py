"""Images with their place in the data set and their class, for tables of learnt codes."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave.batches._batch import (
    Batch,
    Supervision,
    draw_rows,
    lacks,
    reached_by,
    remembered,
    tensor_of,
)
from unweave.batches.groups import shared_column
from unweave.data import FactorImages

EXAMPLE = "file,group\nanna_1.png,anna   (every image has a value: its class)"


@dataclass(frozen=True)
class IndexedBatch(Batch):
    """Images of one step, with the row of a table that belongs to each, and its class."""

    rows: Tensor
    """(image,): row in the data set the run was given, whatever part of it is trained on; or, if at
    most so many images are drawn from, the place among these."""
    classes: Tensor
    """(image,): class, counted from 0."""


@dataclass(frozen=True)
class Indexed(Supervision):
    """The class of every image."""

    column: str = ""
    """Factor or column that is the class; see `shared_column` for what "" means."""
    most: int = 0
    """At most so many images are drawn from, chosen at random once and for all; 0 is no limit."""

    def check(self, data: FactorImages) -> None:
        name = self.class_column(data)
        missing = int((data.column(name) < 0).sum())
        if missing:
            raise lacks(data, f"has {missing:,} images without a value of {name!r}", EXAMPLE)

    def class_column(self, data: FactorImages) -> str:
        return shared_column(data, self.column)

    def draw(self, data: FactorImages, size: int, rng: Generator) -> IndexedBatch:
        if self.most and len(data) > self.most:
            chosen = remembered(data, self, lambda: self._chosen(data))
            numbers = draw_rows(len(chosen), size, rng, reached_by(data, chosen))
            rows = chosen[numbers]
        else:
            rows = draw_rows(data, size, rng)
            numbers = rows if self.most else data.row_numbers[rows]
        classes = data.column(self.class_column(data), rows)
        return IndexedBatch(
            tensor_of(data, rows, rng),
            len(data),
            rows=torch.from_numpy(numbers),
            classes=torch.from_numpy(classes.astype(np.int64)),
        )

    def table_rows(self, rows: int) -> int:
        """Return how many rows a table needs for so many images."""
        return min(rows, self.most) if self.most else rows

    def _chosen(self, data: FactorImages) -> np.ndarray:
        return np.sort(np.random.default_rng(0).choice(len(data), size=self.most, replace=False))
