"""Images that a generator made, held against real ones; no network of the generator's judges.

A reader that was trained on real images only names what an image shows: that of the nearest
real image. How far an image is from it says how real it is, beside how far real images lie that
the reader does not know.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

FAIR = 0.25
"""Share of its fair share of images from which on a mode counts as covered."""


class Nearest(NamedTuple):
    """The nearest known image of each image, and how far it is."""

    rows: np.ndarray
    distances: np.ndarray
    """Sum over pixels of the absolute difference: how many pixels are wrong."""


@dataclass(frozen=True)
class Reader:
    """Reads images by the nearest of those it knows."""

    known: np.ndarray
    """Real images (row, channel, height, width)."""
    factors: np.ndarray
    """Their factors (row, factor)."""

    def nearest(self, images: np.ndarray) -> Nearest:
        """Return for each image the row of the nearest known one, and how far it is."""
        known = torch.from_numpy(self.known.reshape(len(self.known), -1))
        flat = torch.from_numpy(images.reshape(len(images), -1))
        found = [torch.cdist(part, known, p=1).min(1) for part in flat.split(256)]
        return Nearest(
            torch.cat([each.indices for each in found]).numpy(),
            torch.cat([each.values for each in found]).numpy(),
        )

    def read(self, images: np.ndarray) -> np.ndarray:
        """Return the factors (row, factor) that images show."""
        return self.factors[self.nearest(images).rows]


def how_real(made: np.ndarray, unknown: np.ndarray, reader: Reader) -> float:
    """Return how far images lie from real ones, in units of how far unknown real ones lie.

    1 is as good as real; images that repeat known ones exactly have 0.
    """
    usual = reader.nearest(unknown).distances.mean()
    return float(reader.nearest(made).distances.mean() / usual)


def modes_covered(made: np.ndarray, known: np.ndarray, columns: Sequence[int]) -> float:
    """Return the share of modes that images cover: combinations of some factors.

    `made` are the factors that images show, `known` those of real images. A mode is covered
    if it has at least a quarter of the share of images that it has among real ones.
    """
    modes, real = np.unique(known[:, list(columns)], axis=0, return_counts=True)
    place = {tuple(mode): index for index, mode in enumerate(modes)}
    shown = [place[tuple(line)] for line in made[:, list(columns)]]
    share = np.bincount(shown, minlength=len(modes)) / len(made)
    return float((share >= FAIR * real / len(known)).mean())


def agreement(categories: np.ndarray, classes: np.ndarray) -> float:
    """Return the normalised mutual information of two ways of naming the same images."""
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(classes, categories))


def average_entropy(categories: np.ndarray, classes: np.ndarray) -> float:
    """Return the mean entropy, in nats, of classes given a category and of the reverse.

    Over all rows and columns of their table alike, as U. Ojha et al. have it
    (arXiv:1910.01112): 0 if each category is one class; lower is better.
    """
    counts = np.zeros((categories.max() + 1, classes.max() + 1))
    np.add.at(counts, (categories, classes), 1)
    lines = [line for table in (counts, counts.T) for line in table if line.any()]
    return float(np.mean([_entropy(line / line.sum()) for line in lines]))


def _entropy(shares: np.ndarray) -> float:
    used = shares[shares > 0]
    return float(-(used * np.log(used)).sum())
