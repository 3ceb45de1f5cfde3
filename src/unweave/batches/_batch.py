"""What one step of training sees: a function of the data, a size and a generator.

A method says which kind it needs; the loop only calls `draw`. A new kind of
supervision is a new class here, never a new loop.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave.data import FactorImages

B = TypeVar("B", bound="Batch")


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

    @abstractmethod
    def draw(self, data: FactorImages, size: int, rng: Generator) -> Batch:
        """Draw the batch of one step."""


def draw_images(data: FactorImages, size: int, rng: Generator) -> Tensor:
    """Draw images without repetition inside the batch, as far as the set reaches."""
    rows = draw_rows(len(data), size, rng)
    return torch.from_numpy(np.ascontiguousarray(data.images(rows, rng)))


def draw_rows(population: int, size: int, rng: Generator) -> np.ndarray:
    """Draw rows without replacement; estimators over a batch are unbiased only then."""
    if size >= population:
        whole, rest = divmod(size, population)
        parts = [rng.permutation(population) for _ in range(whole)]
        return np.concatenate([*parts, rng.permutation(population)[:rest]])
    return rng.choice(population, size=size, replace=False, shuffle=True)
