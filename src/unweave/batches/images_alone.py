"""Images without any label: one batch, or two that are independent."""

from dataclasses import dataclass

from numpy.random import Generator
from torch import Tensor

from unweave.batches._batch import Batch, Supervision, draw_images
from unweave.data import FactorImages


@dataclass(frozen=True)
class TwoBatches(Batch):
    """Images of one step, and as many others drawn independently."""

    other_images: Tensor


@dataclass(frozen=True)
class Unsupervised(Supervision):
    """Images alone."""

    def draw(self, data: FactorImages, size: int, rng: Generator) -> Batch:
        return Batch(draw_images(data, size, rng), population=len(data))


@dataclass(frozen=True)
class UnsupervisedTwice(Supervision):
    """Images alone, in two independent batches."""

    def draw(self, data: FactorImages, size: int, rng: Generator) -> TwoBatches:
        images = draw_images(data, size, rng)
        return TwoBatches(images, len(data), other_images=draw_images(data, size, rng))
