"""Batches in which one factor varies and all others are held, as DC-IGN is fed.

Which factor it is, is drawn for each batch. With a share for the rest, some batches hold
the named factors and vary all others together: what has no slot of its own in a code.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from unweave import catalog
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
from unweave.batches._rows import ValueGroups, combinations, grouped
from unweave.data import FactorImages, draw_by_weights
from unweave.errors import ConfigError

EXAMPLE = "file,azimuth,light\nface_1.png,3,0   (images that differ in light only share azimuth 3)"


@dataclass(frozen=True)
class OneVariesBatch(Batch):
    """Images of which only one factor, or only the rest, differs."""

    varying: int
    """Which of the named factors varies; as many as there are names: the rest does."""


@dataclass(frozen=True)
class OneVaries(Supervision):
    """Images that differ in one factor."""

    factors: tuple[str, ...] = ()
    """Factors of which one varies in a batch; by default all that take two values or more."""
    rest: float = 0.0
    """How many times as often as one of these all other factors vary. DC-IGN: 10."""

    def __post_init__(self) -> None:
        if self.rest < 0:
            raise ConfigError(f"rest must be 0 or more, found {self.rest}")

    def names(self, data: FactorImages) -> tuple[str, ...]:
        """Return the factors of which one varies."""
        for name in self.factors:
            catalog.check_name(name, data.factor_names, f"factor of {data.name}")
        return self.factors or tuple(f.name for f in data.factor_list if f.size > 1)

    def check(self, data: FactorImages) -> None:
        discrete_factors(data, "batches in which one factor varies", EXAMPLE)
        names = self.names(data)
        for name in names:
            if len(self._bases(data, name)) == 0:
                raise lacks(data, f"has no two images that differ in {name!r} alone", EXAMPLE)
        if not names:
            raise lacks(data, "has no factor that takes two values", EXAMPLE)
        if self.rest and len(self._alike(data)) == 0:
            held = ", ".join(names)
            raise lacks(data, f"has no two images that are alike in {held} and differ", EXAMPLE)

    def draw(self, data: FactorImages, size: int, rng: Generator) -> OneVariesBatch:
        names = self.names(data)
        weights = np.array([1.0] * len(names) + [self.rest])
        varying = int(rng.choice(len(weights), p=weights / weights.sum()))
        if varying == len(names):
            rows = self._draw_rest(data, size, rng)
        else:
            rows = self._draw_one(data, names[varying], size, rng)
        return OneVariesBatch(tensor_of(data, rows, rng), len(data), varying=varying)

    def _draw_one(self, data: FactorImages, name: str, size: int, rng: Generator) -> np.ndarray:
        """Draw rows that differ in one factor, each value once as far as they reach."""
        index, bases = data.factor_names.index(name), self._bases(data, name)
        reached = remembered(data, ("weights of", name), lambda: reached_by(data, bases))
        base = data.factors(bases[draw_rows(len(bases), 1, rng, reached)])
        wanted = np.repeat(base, data.factor_sizes[index], axis=0)
        wanted[:, index] = np.arange(len(wanted))
        wanted = wanted[data.find_rows(wanted) >= 0]  # an incomplete set lacks some values
        return data.find_rows(wanted[draw_rows(len(wanted), size, rng)], rng)

    def _draw_rest(self, data: FactorImages, size: int, rng: Generator) -> np.ndarray:
        groups = self._alike(data)
        reached = groups.reached_by_groups
        if reached is None:
            reached = groups.counts.cumsum() / groups.counts.sum()
        return groups.draw_apart(draw_by_weights(reached, 1, rng), size, rng)[0]

    def _bases(self, data: FactorImages, name: str) -> np.ndarray:
        """Return the rows for which there is one that differs in this factor alone."""

        def find() -> np.ndarray:
            if data.is_grid:
                return np.arange(len(data) if data.factor_sizes[index] > 1 else 0)
            held = combinations(data, [n for n in data.factor_names if n != name])
            both = held * data.factor_sizes[index] + data.factors()[:, index]
            values = np.bincount(np.unique(both) // data.factor_sizes[index])
            return np.flatnonzero(values[held] > 1)

        index = data.factor_names.index(name)
        return remembered(data, ("differ in", name), find)

    def _alike(self, data: FactorImages) -> ValueGroups:
        """Return the rows in groups that share the named factors and differ in others."""
        names = self.names(data)

        def find() -> ValueGroups:
            others = [n for n in data.factor_names if n not in names]
            groups = grouped(data, combinations(data, list(names)))
            kinds = combinations(data, others)[groups.order]
            varied = [
                len(np.unique(kinds[start : start + count])) > 1
                for start, count in zip(groups.starts, groups.counts, strict=True)
            ]
            return groups.only(np.array(varied, dtype=bool))

        return remembered(data, ("alike in", names), find)
