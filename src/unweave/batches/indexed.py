"""Images with their place in the data set and their class, for tables of learnt codes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave import catalog
from unweave.batches._batch import Batch, Supervision, draw_rows, lacks, tensor_of
from unweave.data import ID_COLUMNS, FactorImages

EXAMPLE = "file,class\nanna_1.png,anna   (every image has a class)"
COLUMNS = ("class", "group", "label")
"""What is the class if nothing is named and there is such a column."""


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
    """Factor or column that is the class; see `column_among` for what "" means."""

    def column_among(self, sizes: Mapping[str, int]) -> str:
        """Return which column is the class, an empty name if there is none.

        As named, or one called class, group or label, or else the one with fewest
        values, 2 at least.
        """
        if self.column:
            catalog.check_name(self.column, sizes, "column of the data")
            return self.column
        called = [name for name in COLUMNS if name in sizes]
        several = [name for name in sizes if sizes[name] > 1 and name not in ID_COLUMNS]
        return (*called, *sorted(several, key=lambda name: sizes[name]), "")[0]

    def check(self, data: FactorImages) -> None:
        sizes = data.summary.column_sizes
        name = self.column_among(sizes)
        if not name:
            raise lacks(data, "has neither a column 'class' nor a factor to take it from", EXAMPLE)
        if sizes[name] == 0:
            raise lacks(data, f"has no classes in {name!r}, which is continuous", EXAMPLE)
        missing = int((data.column(name) < 0).sum())
        if missing:
            raise lacks(data, f"has {missing:,} images without a value of {name!r}", EXAMPLE)

    def draw(self, data: FactorImages, size: int, rng: Generator) -> IndexedBatch:
        rows = draw_rows(len(data), size, rng)
        classes = data.column(self.column_among(data.summary.column_sizes), rows)
        return IndexedBatch(
            tensor_of(data, rows, rng),
            len(data),
            rows=torch.from_numpy(data.row_numbers[rows]),
            classes=torch.from_numpy(classes.astype(np.int64)),
        )
