"""What one step of training sees: a function of the data, a size and a generator.

A method says which kind it needs; the loop asks it for the kind of the step (`at`) and
calls `draw`. A new kind of supervision is a new class here, never a new loop.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave.data import Factor, FactorImages, draw_by_weights, draw_evenly
from unweave.errors import DataError

B = TypeVar("B", bound="Batch")
T = TypeVar("T")


@dataclass(frozen=True)
class Batch:
    """Images of one step."""

    images: Tensor
    """(batch, channel, height, width), in [0, 1]."""
    population: int
    """How many images the data set holds."""

    def map_tensors(self: B, change: Callable[[Tensor], Tensor]) -> B:
        """Return the batch with every tensor replaced, for instance moved to a device."""
        changed: dict[str, Any] = {
            f.name: change(value)
            for f in fields(self)
            if isinstance(value := getattr(self, f.name), Tensor)
        }
        return replace(self, **changed)


class Supervision(ABC):
    """A kind of batch."""

    def check(self, data: FactorImages) -> None:
        """Refuse data that cannot give such batches, before a run is begun.

        The message names the column or factor that is missing and shows one.
        """
        return

    def class_column(self, data: FactorImages) -> str:
        """Return the factor or column that is told of images as their class, if one is."""
        return ""

    def at(self, step: int) -> "Supervision":
        """Return the kind of batch that a step sees; by default it is the same at all steps."""
        return self

    @abstractmethod
    def draw(self, data: FactorImages, size: int, rng: Generator) -> Batch:
        """Draw the batch of one step."""


def draw_images(data: FactorImages, size: int, rng: Generator) -> Tensor:
    """Draw images without repetition inside the batch, as far as the set reaches."""
    rows = draw_rows(data, size, rng)
    return torch.from_numpy(np.ascontiguousarray(data.images(rows, rng)))


def draw_rows(
    population: int | FactorImages,
    size: int,
    rng: Generator,
    reached: np.ndarray | None = None,
) -> np.ndarray:
    """Draw rows of the data, or out of so many things whose running sum of weights is `reached`.

    Without weights no row is drawn twice; estimators over a batch are unbiased only then.
    """
    if isinstance(population, FactorImages):
        return population.draw_rows(size, rng)
    if reached is not None:
        return draw_by_weights(reached, size, rng)
    return draw_evenly(population, size, rng)


def reached_by(data: FactorImages, rows: np.ndarray) -> np.ndarray | None:
    """Return the running sum of the weights of rows, or of (thing, row) with their means.

    None where all rows are drawn alike.
    """
    if data.weights is None:
        return None
    weights = data.weights[rows]
    reached: np.ndarray = (weights if weights.ndim == 1 else weights.mean(axis=1)).cumsum()
    return reached


def tensor_of(data: FactorImages, rows: np.ndarray, rng: Generator) -> Tensor:
    """Return the images of rows."""
    return torch.from_numpy(np.ascontiguousarray(data.images(rows, rng)))


def discrete_factors(data: FactorImages, wish: str, example: str) -> tuple[Factor, ...]:
    """Return the factors if there are any and values can be chosen for all of them."""
    if not data.factor_list:
        raise lacks(data, f"has no factors to draw {wish} from", example)
    for factor in data.factor_list:
        if factor.continuous:
            problem = f"has a continuous factor {factor.name!r}, so {wish} cannot be drawn"
            raise lacks(data, problem, example)
    return data.factor_list


def lacks(data: FactorImages, problem: str, example: str) -> DataError:
    """Return an error that shows two lines of a table with which it would go."""
    return DataError(
        f"{data.name} {problem}. Give a table with your images (--factors table.csv):\n"
        + "\n".join(f"    {line}" for line in example.splitlines())
    )


_REMEMBERED: WeakKeyDictionary[FactorImages, dict[Hashable, Any]] = WeakKeyDictionary()


def remembered(data: FactorImages, key: Hashable, make: Callable[[], T]) -> T:
    """Return what `make` finds in the data, found once and not at every step."""
    known = _REMEMBERED.setdefault(data, {})
    if key not in known:
        known[key] = make()
    found: T = known[key]
    return found
