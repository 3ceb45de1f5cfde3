"""Images with their place in the data set and their class, for tables of learnt codes."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave.batches._batch import Batch, Supervision, draw_rows, lacks, tensor_of
from unweave.batches.groups import shared_column
from unweave.data import FactorImages

EXAMPLE = "file,group\nanna_1.png,anna   (every image has a value: its class)"


@dataclass(frozen=True)
class IndexedBatch(Batch):
    """Images of one step, with the row of a table that belongs to each, and its class."""

    rows: Tensor
    """(image,): row in the data set the run was given, whatever part of it is trained on."""
    classes: Tensor
    """(image,): class, counted from 0."""


@dataclass(frozen=True)
class Indexed(Supervision):
    """The class of every image."""

    column: str = ""
    """Factor or column that is the class; see `shared_column` for what "" means."""

    def check(self, data: FactorImages) -> None:
        name = self.class_column(data)
        missing = int((data.column(name) < 0).sum())
        if missing:
            raise lacks(data, f"has {missing:,} images without a value of {name!r}", EXAMPLE)

    def class_column(self, data: FactorImages) -> str:
        return shared_column(data, self.column)

    def draw(self, data: FactorImages, size: int, rng: Generator) -> IndexedBatch:
        rows = draw_rows(data, size, rng)
        classes = data.column(self.class_column(data), rows)
        return IndexedBatch(
            tensor_of(data, rows, rng),
            len(data),
            rows=torch.from_numpy(data.row_numbers[rows]),
            classes=torch.from_numpy(classes.astype(np.int64)),
        )
