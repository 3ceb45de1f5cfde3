"""Pairs of images of which little differs: by an id, by time, or drawn from factors.

Where the pairs come from, the first that the data has:

- a column `pair`: two images with the same id are a pair;
- columns `clip` and `time`: neighbours in time are a pair;
- factors, each with a list of values: the kind of pair says how they change. Of correlated
  data the first image follows the correlation; what changes is chosen as without it.
"""

from abc import abstractmethod
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
from unweave.batches._rows import ValueGroups, neighbours_in_time, rows_by_value
from unweave.data import FactorImages
from unweave.errors import ConfigError, DataError

EXAMPLE = "file,pair\nleft.png,7   (the image of the other line with pair 7 is its partner)"
FACTORS_EXAMPLE = "file,pair,size,color\nleft.png,7,3,red"
ROUNDS = 1000  # in which images missing from an incomplete grid of factors are drawn again


@dataclass(frozen=True)
class PairBatch(Batch):
    """Images and, in the same order, their partners."""

    partners: Tensor
    """(pair, channel, height, width), in [0, 1]."""
    changed: Tensor | None
    """(pair, factor): which factors differ, if the factors of the data are known."""

    @property
    def both(self) -> Tensor:
        """Return the images, then their partners."""
        return torch.cat([self.images, self.partners])


@dataclass(frozen=True)
class PairsOfImages(Supervision):
    """Pairs of images."""

    @abstractmethod
    def changed_factors(
        self, data: FactorImages, factors: np.ndarray, rng: Generator
    ) -> np.ndarray:
        """Return what the factors of the first images (pair, factor) become."""

    def check(self, data: FactorImages) -> None:
        self.draw_pair_rows(data, 2, np.random.default_rng(0))

    def draw(self, data: FactorImages, size: int, rng: Generator) -> PairBatch:
        """Draw half as many pairs as images are asked for, at least one."""
        first, second = self.draw_pair_rows(data, max(size // 2, 1), rng)
        changed = None
        if data.factor_list:
            changed = torch.from_numpy(data.factors(first) != data.factors(second))
        images, partners = tensor_of(data, first, rng), tensor_of(data, second, rng)
        return PairBatch(images, len(data), partners=partners, changed=changed)

    def draw_pair_rows(
        self, data: FactorImages, count: int, rng: Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw the rows of pairs."""
        if "pair" in data.columns:
            return _rows_of_ids(data, count, rng)
        if "clip" in data.columns or "time" in data.columns:
            return _rows_of_neighbours(data, count, rng)
        return self._rows_of_factors(data, count, rng)

    def _rows_of_factors(
        self, data: FactorImages, count: int, rng: Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        discrete_factors(data, "pairs", EXAMPLE)
        first = draw_rows(data, count, rng)
        second = np.full(count, -1, dtype=np.int64)
        for _ in range(ROUNDS):
            open_pairs = np.flatnonzero(second < 0)
            if len(open_pairs) == 0:
                return first, second
            wanted = self.changed_factors(data, data.factors(first[open_pairs]), rng)
            second[open_pairs] = data.find_rows(wanted, rng)
            # An image without any partner would be tried forever.
            alone = open_pairs[second[open_pairs] < 0]
            if data.weights is None:
                first[alone] = data.sample_rows(len(alone), rng)
            else:
                first[alone] = draw_rows(data, len(alone), rng)
        raise DataError(
            f"{data.name} holds too few combinations of factors to find pairs that differ as "
            f"asked; add images, or say in a column `pair` which belong together"
        )


@dataclass(frozen=True)
class Pairs(PairsOfImages):
    """Pairs of images that differ in few factors."""

    changed: int = 1
    """In how many factors the images of a pair differ, exactly; 0 draws the number for each
    pair, from 1 to all factors but one."""
    factors_known: bool = False
    """Whether it must be known in which factors they differ."""

    def check(self, data: FactorImages) -> None:
        if self.factors_known and not data.factor_list:
            raise lacks(data, "has no factors that say in what pairs differ", FACTORS_EXAMPLE)
        super().check(data)

    def changed_factors(
        self, data: FactorImages, factors: np.ndarray, rng: Generator
    ) -> np.ndarray:
        sizes = np.array(data.factor_sizes)
        movable = np.flatnonzero(sizes > 1)
        if self.changed > len(movable) or len(movable) == 0:
            raise ConfigError(
                f"{data.name} has {len(movable)} factors that can differ, but pairs are to "
                f"differ in {self.changed or 1}"
            )
        count: int | np.ndarray = self.changed
        if self.changed == 0:
            count = rng.integers(1, max(len(movable), 2), size=(len(factors), 1))
        ranks = rng.random((len(factors), len(movable))).argsort(axis=1).argsort(axis=1)
        differs = np.zeros(factors.shape, dtype=bool)
        differs[:, movable] = ranks < count
        # 1 to size - 1 steps further, around the end: never the same value again.
        steps = rng.integers(1, np.maximum(sizes, 2), size=factors.shape)
        return np.where(differs, (factors + steps) % sizes, factors)


@dataclass(frozen=True)
class Transitions(PairsOfImages):
    """Pairs of successive images, in which each factor moves little or not at all."""

    rate: float = 1.0
    """Of the Laplace distribution by which an ordered factor of n values moves: its scale is
    log(n) / rate, cut off at the ends. Factors without order stay. At least one moves."""

    def changed_factors(
        self, data: FactorImages, factors: np.ndarray, rng: Generator
    ) -> np.ndarray:
        movable = [
            index
            for index, factor in enumerate(data.factor_list)
            if factor.size > 1 and not factor.categorical
        ]
        if not movable:
            raise lacks(data, "has no factor whose values have an order", EXAMPLE)
        moved = factors.copy()
        for index in movable:
            moved[:, index] = self._moved(factors[:, index], data.factor_sizes[index], rng)
        still = (moved == factors).all(axis=1)
        forced = np.asarray(movable)[rng.integers(len(movable), size=len(factors))]
        for index in movable:
            lines = np.flatnonzero(still & (forced == index))
            size = data.factor_sizes[index]
            moved[lines, index] = self._moved(factors[lines, index], size, rng, stay=False)
        return moved

    def _moved(
        self, values: np.ndarray, size: int, rng: Generator, *, stay: bool = True
    ) -> np.ndarray:
        """Draw where values from 0 to size - 1 move."""
        distance = abs(np.arange(size) - values[:, None])
        weight = np.exp(-distance * self.rate / np.log(size))
        if not stay:
            weight[distance == 0] = 0
        total = weight.cumsum(axis=1)
        drawn = rng.random((len(values), 1)) * total[:, -1:]
        return (drawn >= total).sum(axis=1)


def _rows_of_ids(data: FactorImages, count: int, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
    groups: ValueGroups = remembered(data, "pair", lambda: rows_by_value(data, "pair", least=2))
    if len(groups) == 0:
        raise lacks(data, "has no two images with the same id in its column 'pair'", EXAMPLE)
    chosen = draw_rows(len(groups), count, rng, groups.reached_by_groups)
    rows = groups.draw_apart(chosen, 2, rng)
    return rows[:, 0], rows[:, 1]


def _rows_of_neighbours(
    data: FactorImages, count: int, rng: Generator
) -> tuple[np.ndarray, np.ndarray]:
    windows = remembered(data, ("frames", 2), lambda: neighbours_in_time(data, 2))
    reached = remembered(data, ("frame weights", 2), lambda: reached_by(data, windows))
    rows = windows[draw_rows(len(windows), count, rng, reached)]
    return rows[:, 0], rows[:, 1]
