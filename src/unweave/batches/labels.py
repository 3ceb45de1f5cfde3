"""Few labels: images whose labels are known, beside the images of a step that has none.

Which images are labelled is decided once: by the gaps of the columns, or, where
there are none, by a seed of its own. Each step draws from the labelled images on
its own account, whatever it draws of the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave import catalog
from unweave.batches._batch import Batch, Supervision, draw_rows, lacks, remembered, tensor_of
from unweave.batches.images_alone import Unsupervised
from unweave.data import ID_COLUMNS, FactorImages
from unweave.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = "file,label\n001.png,cat   (an image without a label has an empty cell: 002.png,)"
PREFIX = "label"


@dataclass(frozen=True)
class LabelledBatch(Batch):
    """Images whose labels are known, and the other images of the step."""

    labels: Tensor
    """(image, column): values counted from 0, or in [0, 1] of a continuous column; what is
    missing is not a number."""
    labelled: int
    """How many images of the data set have labels."""
    unlabelled: Batch
    """What the step sees without labels."""

    def map_tensors(self, change: "Callable[[Tensor], Tensor]") -> "LabelledBatch":
        return replace(super().map_tensors(change), unlabelled=self.unlabelled.map_tensors(change))


@dataclass(frozen=True)
class Corruption:
    """What is wrong with labels; drawn once, and the same for the whole run."""

    bins: int = 0
    """Merge the values of a label into so many; 0 leaves them. Paper: 5."""
    noise: float = 0.0
    """Share of labels that are replaced by any value of theirs. Paper: 0.1."""
    permuted: bool = False
    """Whether the values of each label are renamed at random, which takes their order."""
    observed: int = 0
    """Of how many columns the labels are given, chosen at random; 0 is all. Paper: 2."""

    def __post_init__(self) -> None:
        if self.bins < 0 or self.bins == 1:
            raise ConfigError(f"bins must be 2 or more, or 0 for none, found {self.bins}")
        if not 0 <= self.noise <= 1:
            raise ConfigError(f"noise must lie in [0, 1], found {self.noise}")
        if self.observed < 0:
            raise ConfigError(f"observed must be 0 or more, found {self.observed}")


class LabelTable(NamedTuple):
    """The rows that have labels, and these."""

    rows: np.ndarray
    values: np.ndarray
    """(row, column), as a batch holds them."""


@dataclass(frozen=True)
class FewLabels(Supervision):
    """Labels of a few images."""

    columns: tuple[str, ...] = ()
    """Factors or columns that are labels; by default every column whose name begins with
    label or, without any, every factor."""
    count: int = 100
    """How many images have labels, if no column has gaps."""
    seed: int = 0
    """Decides which images those are, and how labels are corrupted."""
    corruption: Corruption = Corruption()
    unlabelled: Supervision = Unsupervised()
    """How the other images of a step are drawn."""

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ConfigError(f"labels of 1 image or more are needed, found {self.count}")
        if self.seed < 0:
            raise ConfigError(f"the seed of the labels must be 0 or more, found {self.seed}")

    def names_among(self, sizes: Mapping[str, int]) -> tuple[str, ...]:
        """Return which of the columns of a data set are the labels."""
        for name in self.columns:
            catalog.check_name(name, sizes, "column of the data")
        marked = tuple(name for name in sizes if name.lower().startswith(PREFIX))
        every = tuple(name for name in sizes if name.lower() not in ID_COLUMNS)
        names = self.columns or marked or every
        observed = self.corruption.observed
        if not observed or observed >= len(names):
            return names
        chosen = np.random.default_rng((self.seed, 0x0B5)).choice(
            len(names), size=observed, replace=False
        )
        return tuple(names[i] for i in np.sort(chosen))

    def sizes_among(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return how many values each label takes; 0 if it is continuous."""
        bins = self.corruption.bins
        found = (sizes[name] for name in self.names_among(sizes))
        return tuple((min(size, bins) or bins) if bins else size for size in found)

    def check(self, data: FactorImages) -> None:
        self.unlabelled.check(data)
        names = self.names_among(data.summary.column_sizes)
        if not names:
            raise lacks(
                data, "has neither a column 'label' nor factors to take labels from", EXAMPLE
            )
        values = self.table(data).values
        for name, known in zip(names, np.isfinite(values).any(axis=0), strict=True):
            if not known:
                raise lacks(data, f"has no image with a value of {name!r}", EXAMPLE)

    def at(self, step: int) -> "FewLabels":
        unlabelled = self.unlabelled.at(step)
        return self if unlabelled is self.unlabelled else replace(self, unlabelled=unlabelled)

    def table(self, data: FactorImages) -> LabelTable:
        """Return which rows have labels, and the labels as the method is told them."""
        # The other images of a step may be drawn otherwise at each step; labels stay.
        key = replace(self, unlabelled=Unsupervised())
        return remembered(data, key, lambda: self._table(data))

    def draw(self, data: FactorImages, size: int, rng: Generator) -> LabelledBatch:
        """Draw the other images first, so that these do not depend on the labels."""
        unlabelled = self.unlabelled.draw(data, size, rng)
        rows, values = self.table(data)
        drawn = draw_rows(len(rows), min(size, len(rows)), rng)
        return LabelledBatch(
            tensor_of(data, rows[drawn], rng),
            len(data),
            labels=torch.from_numpy(values[drawn]),
            labelled=len(rows),
            unlabelled=unlabelled,
        )

    def _table(self, data: FactorImages) -> LabelTable:
        sizes = data.summary.column_sizes
        names = self.names_among(sizes)
        rng = np.random.default_rng((self.seed, 0x1ABE1))
        rows = self._labelled_rows(data, names, rng)
        columns = []
        for name, size in zip(names, self.sizes_among(sizes), strict=True):
            values = data.column(name, rows).astype(np.float64)
            known = np.isfinite(values) & ((values >= 0) | (sizes[name] == 0))
            column = np.full(len(rows), np.nan)
            if known.any():
                column[known] = self._told(values[known], sizes[name], size, rng)
            columns.append(column)
        return LabelTable(rows, np.stack(columns, axis=1).astype(np.float32))

    def _labelled_rows(
        self, data: FactorImages, names: tuple[str, ...], rng: Generator
    ) -> np.ndarray:
        gaps = [missing(data, name) for name in names if name in data.columns]
        if any(gap.any() for gap in gaps):
            return np.flatnonzero(~np.all(gaps, axis=0))
        if self.count > len(data):
            raise DataError(
                f"labels of {self.count:,} images are asked for, and {data.name} has "
                f"{len(data):,} to train on; ask for fewer with --method.labels"
            )
        # Labels are of what is seen: of correlated data they follow the correlation.
        if data.weights is not None and np.count_nonzero(data.weights) < self.count:
            raise DataError(
                f"labels of {self.count:,} images are asked for, and the correlation leaves "
                f"{np.count_nonzero(data.weights):,}; make it wider"
            )
        chosen = rng.choice(len(data), size=self.count, replace=False, p=data.weights)
        return np.sort(chosen)

    def _told(self, values: np.ndarray, size: int, told_size: int, rng: Generator) -> np.ndarray:
        """Return values of one label as the method is told them."""
        corruption = self.corruption
        if size == 0:  # continuous: from 0 to 1 over what is labelled
            spread = values.max() - values.min()
            values = (values - values.min()) / (spread or 1.0)
        if told_size != size:  # in bins of equal width
            values = np.minimum(values * told_size // (size or 1), told_size - 1)
        if corruption.permuted and told_size:
            values = rng.permutation(told_size)[values.astype(np.int64)].astype(np.float64)
        if corruption.noise:
            wrong = rng.random(len(values)) < corruption.noise
            any_value = (
                rng.integers(told_size, size=len(values)) if told_size else rng.random(len(values))
            )
            values = np.where(wrong, any_value, values)
        return values


@dataclass(frozen=True)
class FewClasses(FewLabels):
    """The class of a few images."""

    def names_among(self, sizes: Mapping[str, int]) -> tuple[str, ...]:
        """Return the column that is the class: as asked for, called label, or of fewest values."""
        names = super().names_among(sizes)
        called_so = any(name.lower().startswith(PREFIX) for name in names)
        classes = [name for name in names if sizes[name] > 1]
        if self.columns or called_so or not classes:
            return names[:1]
        return (min(classes, key=sizes.__getitem__),)

    def class_column(self, data: FactorImages) -> str:
        (name,) = self.names_among(data.summary.column_sizes)
        return name

    def check(self, data: FactorImages) -> None:
        super().check(data)
        name = self.class_column(data)
        if data.summary.column_sizes[name] == 0:
            raise lacks(data, f"has no classes in {name!r}, which is continuous", EXAMPLE)


def missing(data: FactorImages, name: str) -> np.ndarray:
    """Return for each row whether a column beside the factors lacks its value."""
    column = data.columns[name]
    return np.isnan(column.values) if column.factor.continuous else column.values < 0
