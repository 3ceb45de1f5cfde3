"""Images with a further observation of each: a segment, a time, a label, any column."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave import catalog
from unweave.batches._batch import (
    Batch,
    Supervision,
    draw_rows,
    lacks,
    reached_by,
    remembered,
    tensor_of,
)
from unweave.batches.labels import missing
from unweave.data import FactorImages

EXAMPLE = "file,segment\n001.png,0   (images of one segment are alike in distribution)"
COLUMN = "segment"


@dataclass(frozen=True)
class AuxiliaryBatch(Batch):
    """Images, and what else is known of each."""

    auxiliary: Tensor
    """(image, number): u, one-hot where it is discrete."""


@dataclass(frozen=True)
class Auxiliary(Supervision):
    """A further observation of every image."""

    columns: tuple[str, ...] = ()
    """Factors or columns observed; by default a column called segment, else the first one."""

    def names_among(self, sizes: Mapping[str, int]) -> tuple[str, ...]:
        """Return which of the columns of a data set are observed."""
        for name in self.columns:
            catalog.check_name(name, sizes, "column of the data")
        return self.columns or ((COLUMN,) if COLUMN in sizes else tuple(sizes)[:1])

    def width(self, sizes: Mapping[str, int]) -> int:
        """Return how many numbers u has."""
        return sum(sizes[name] or 1 for name in self.names_among(sizes))

    def check(self, data: FactorImages) -> None:
        names = self.names_among(data.summary.column_sizes)
        if not names:
            raise lacks(data, "has neither a column 'segment' nor a factor to observe", EXAMPLE)
        if len(self.known_rows(data)) == 0:
            raise lacks(data, f"has no image with all of {', '.join(names)}", EXAMPLE)

    def known_rows(self, data: FactorImages) -> np.ndarray:
        """Return the rows of which everything is observed."""

        def find() -> np.ndarray:
            known = np.ones(len(data), dtype=bool)
            for name in self.names_among(data.summary.column_sizes):
                if name in data.columns:
                    known &= ~missing(data, name)
            return np.flatnonzero(known)

        return remembered(data, ("known", self), find)

    def values(self, data: FactorImages, rows: np.ndarray) -> np.ndarray:
        """Return u of rows, (row, number); continuous columns are standardised."""
        parts = []
        sizes = data.summary.column_sizes
        for name in self.names_among(sizes):
            column = data.column(name, rows)
            if sizes[name]:
                one_hot = np.zeros((len(rows), sizes[name]), dtype=np.float32)
                one_hot[np.arange(len(rows)), column.astype(np.int64)] = 1
                parts.append(one_hot)
            else:
                mean, deviation = remembered(data, ("scale", name), partial(_scale, data, name))
                parts.append(((column - mean) / deviation).astype(np.float32)[:, None])
        return np.concatenate(parts, axis=1)

    def draw(self, data: FactorImages, size: int, rng: Generator) -> AuxiliaryBatch:
        known = self.known_rows(data)
        reached = remembered(data, ("known weights", self), lambda: reached_by(data, known))
        rows = known[draw_rows(len(known), size, rng, reached)]
        u = torch.from_numpy(self.values(data, rows))
        return AuxiliaryBatch(tensor_of(data, rows, rng), len(data), auxiliary=u)


def _scale(data: FactorImages, name: str) -> tuple[float, float]:
    values = data.column(name)
    return float(np.nanmean(values)), float(np.nanstd(values)) or 1.0
