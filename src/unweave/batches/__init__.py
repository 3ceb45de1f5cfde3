"""Kinds of batches: what one step of training sees, drawn from any data set."""

from unweave.batches._batch import Batch, Supervision, draw_images, draw_rows
from unweave.batches.images_alone import TwoBatches, Unsupervised, UnsupervisedTwice

__all__ = [
    "Batch",
    "Supervision",
    "TwoBatches",
    "Unsupervised",
    "UnsupervisedTwice",
    "draw_images",
    "draw_rows",
]
