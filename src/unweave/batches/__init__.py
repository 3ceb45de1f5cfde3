"""Kinds of batches: what one step of training sees, drawn from any data set."""

from unweave.batches._batch import Batch, Supervision, draw_images, draw_rows
from unweave.batches.auxiliary import Auxiliary, AuxiliaryBatch
from unweave.batches.clips import ClipBatch, Clips
from unweave.batches.groups import GroupBatch, Groups, shared_column
from unweave.batches.images_alone import TwoBatches, Unsupervised, UnsupervisedTwice
from unweave.batches.indexed import Indexed, IndexedBatch
from unweave.batches.labels import Corruption, FewClasses, FewLabels, LabelledBatch
from unweave.batches.pairs import PairBatch, Pairs, Transitions

__all__ = [
    "Auxiliary",
    "AuxiliaryBatch",
    "Batch",
    "ClipBatch",
    "Clips",
    "Corruption",
    "FewClasses",
    "FewLabels",
    "GroupBatch",
    "Groups",
    "Indexed",
    "IndexedBatch",
    "LabelledBatch",
    "PairBatch",
    "Pairs",
    "Supervision",
    "Transitions",
    "TwoBatches",
    "Unsupervised",
    "UnsupervisedTwice",
    "draw_images",
    "draw_rows",
    "shared_column",
]
