"""Kinds of batches: what one step of training sees, drawn from any data set."""

from unweave.batches._batch import Batch, Supervision, draw_images, draw_rows
from unweave.batches.all_labels import AllLabels
from unweave.batches.augmented import AugmentedBatch, AugmentedPairs
from unweave.batches.auxiliary import Auxiliary, AuxiliaryBatch
from unweave.batches.clips import ClipBatch, Clips
from unweave.batches.groups import (
    FactorGroupBatch,
    GroupBatch,
    Groups,
    GroupsInTurn,
    shared_column,
)
from unweave.batches.images_alone import TwoBatches, Unsupervised, UnsupervisedTwice
from unweave.batches.indexed import Indexed, IndexedBatch
from unweave.batches.labels import Corruption, FewClasses, FewLabels, LabelledBatch
from unweave.batches.one_varies import OneVaries, OneVariesBatch
from unweave.batches.pairs import PairBatch, Pairs, Transitions
from unweave.batches.triplets import TripletBatch, Triplets

__all__ = [
    "AllLabels",
    "AugmentedBatch",
    "AugmentedPairs",
    "Auxiliary",
    "AuxiliaryBatch",
    "Batch",
    "ClipBatch",
    "Clips",
    "Corruption",
    "FactorGroupBatch",
    "FewClasses",
    "FewLabels",
    "GroupBatch",
    "Groups",
    "GroupsInTurn",
    "Indexed",
    "IndexedBatch",
    "LabelledBatch",
    "OneVaries",
    "OneVariesBatch",
    "PairBatch",
    "Pairs",
    "Supervision",
    "Transitions",
    "TripletBatch",
    "Triplets",
    "TwoBatches",
    "Unsupervised",
    "UnsupervisedTwice",
    "draw_images",
    "draw_rows",
    "shared_column",
]
