"""What a user must have for a method: the headings of `unweave list methods`."""

from unweave.batches import (
    AllLabels,
    AugmentedPairs,
    Auxiliary,
    Clips,
    FewLabels,
    Groups,
    GroupsInTurn,
    Indexed,
    OneVaries,
    Pairs,
    Supervision,
    Transitions,
    Triplets,
    Unsupervised,
    UnsupervisedTwice,
)
from unweave.batches.views import Views
from unweave.methods.ground_truth import EveryFactor
from unweave.methods.top_k_sae import Features

# A kind of batch has the first heading it belongs to, so what is special comes before what is not.
KINDS: tuple[tuple[str, tuple[type[Supervision], ...]], ...] = (
    ("labels of all images", (AllLabels, EveryFactor, Indexed, OneVaries, GroupsInTurn)),
    ("labels of a few images", (FewLabels,)),
    ("groups or classes", (Groups, Triplets)),
    ("pairs", (Pairs, Transitions)),
    ("views of one content", (Views,)),
    ("clips", (Clips,)),
    ("a further observation of every image", (Auxiliary,)),
    ("features of a frozen network", (Features,)),
    ("images alone", (Unsupervised, UnsupervisedTwice, AugmentedPairs)),
)
OTHER = "something else"
ORDER = (
    "images alone",
    "labels of a few images",
    "groups or classes",
    "pairs",
    "views of one content",
    "clips",
    "a further observation of every image",
    "labels of all images",
    "features of a frozen network",
    OTHER,
)


def heading_of(supervision: Supervision) -> str:
    """Return what a user must have who wants such batches."""
    for heading, kinds in KINDS:
        if isinstance(supervision, kinds):
            return heading
    return OTHER
