"""Images with their labels, as far as they have any, and as many other images."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator

from unweave.batches._batch import draw_rows, tensor_of
from unweave.batches.labels import FewLabels, LabelledBatch
from unweave.data import FactorImages


@dataclass(frozen=True)
class AllLabels(FewLabels):
    """Labels of all images, as far as they have any."""

    def draw(self, data: FactorImages, size: int, rng: Generator) -> LabelledBatch:
        """Draw any images with their labels, then the other images of the step."""
        drawn = draw_rows(data, size, rng)
        values = self.table(data).values
        return LabelledBatch(
            tensor_of(data, drawn, rng),
            len(data),
            labels=torch.from_numpy(values[drawn]),
            labelled=int(np.isfinite(values).any(axis=1).sum()),
            unlabelled=self.unlabelled.draw(data, size, rng),
        )

    def _labelled_rows(
        self, data: FactorImages, names: tuple[str, ...], rng: Generator
    ) -> np.ndarray:
        """Return all rows: what lacks a label is drawn as well, its label not a number."""
        return np.arange(len(data))
