"""Every kind of batch follows the correlation of its data, and shows nothing held out."""

from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

import numpy as np
import pytest

from unweave import batches
from unweave.batches import (
    AllLabels,
    AugmentedPairs,
    Auxiliary,
    Clips,
    FewClasses,
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
from unweave.data import from_arrays

SIDE = 12
KINDS = {
    "unsupervised": Unsupervised(),
    "twice": UnsupervisedTwice(),
    "pairs": Pairs(),
    "transitions": Transitions(),
    "groups": Groups("kind"),
    "indexed": Indexed("kind"),
    "auxiliary": Auxiliary(("kind",)),
    "few_labels": FewLabels(count=60),
    "all labels": AllLabels(),
    "few_classes": FewClasses(columns=("kind",), count=60),
    "clips": Clips(frames=3),
    "triplets": Triplets("kind"),
    "one varies": OneVaries(("kind",)),
    "one varies or the rest": OneVaries(("kind",), rest=1.0),
    "augmented": AugmentedPairs(),
    "groups in turn": GroupsInTurn(("kind",)),
    "views": Views(("b",)),
}
BY_COLUMNS = {
    "pairs by id": (Pairs(), "pair"),
    "pairs by time": (Pairs(), "clip"),
    "views by id": (Views(), "pair"),
    "clips by time": (Clips(frames=2), "clip"),
    "groups by column": (Groups("group"), "group"),
}


def made(column: str = ""):
    """Return images that tell their factors: a, b and kind, the same four times."""
    a, b, kind, copy = np.indices((SIDE, SIDE, 2, 4)).reshape(4, -1)
    images = np.stack([a, b, kind, copy], axis=1).astype(np.float32)[:, None, None] / SIDE
    columns = {"a": a, "b": b, "kind": kind}
    if column == "clip":  # four images of the same combination, one after the other
        columns |= {"clip": np.arange(len(a)) // 4, "time": copy}
    elif column:
        columns[column] = np.arange(len(a)) // 4
    return from_arrays(images, columns)


def drawn_factors(kind: Supervision, data, first_only: bool):
    """Return the factors (image, factor) that many batches show."""
    shown = []
    for step in range(60):
        batch = kind.draw(data, 48, np.random.default_rng((7, step)))
        tensors = [batch.images]
        if not first_only:
            for name in ("partners", "other_images", "same", "others"):
                if getattr(batch, name, None) is not None:
                    tensors.append(getattr(batch, name))
        if hasattr(batch, "unlabelled"):
            tensors.append(batch.unlabelled.images)
        shown += [np.rint(t.numpy()[:, 0, 0] * SIDE).astype(int) for t in tensors]
    return np.concatenate(shown)


def test_every_kind_of_batch_is_looked_at_here():
    modules = [import_module(f"unweave.batches.{m.name}") for m in iter_modules(batches.__path__)]
    kinds = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Supervision) and not isabstract(value)
    }
    assert kinds == {type(kind) for kind in KINDS.values()}


@pytest.mark.parametrize("name", KINDS)
def test_batches_follow_the_correlation(name):
    data, kind = made().arranged(correlate="a~b:0.08"), KINDS[name]
    kind.check(data)
    shown = drawn_factors(kind, data, first_only=True)
    if name == "clips":  # the first frame follows it; then each factor walks on its own
        shown = shown.reshape(-1, 3, 4)[:, 0]
    assert np.corrcoef(shown[:, 0], shown[:, 1])[0, 1] > 0.85
    plain = drawn_factors(kind, made(), first_only=True)
    assert abs(np.corrcoef(plain[:, 0], plain[:, 1])[0, 1]) < 0.35


@pytest.mark.parametrize("name", KINDS)
def test_batches_never_show_what_is_held_out(name):
    data = made().arranged(split="a>0.5,kind=1").part("train")
    # Where kind is held out for some a, nothing but kind cannot vary there.
    kind = OneVaries(("b",)) if name == "one varies" else KINDS[name]
    shown = drawn_factors(kind, data, first_only=False)
    assert not ((shown[:, 0] > 5) & (shown[:, 2] == 1)).any()
    assert (shown[:, 0] > 5).any()
    assert (shown[:, 2] == 1).any()


@pytest.mark.parametrize("name", BY_COLUMNS)
def test_batches_by_columns_follow_the_correlation(name):
    kind, column = BY_COLUMNS[name]
    data = made(column).arranged(correlate="a~b:0.08")
    shown = drawn_factors(kind, data, first_only=False)
    assert np.corrcoef(shown[:, 0], shown[:, 1])[0, 1] > 0.85


def test_members_of_a_group_are_drawn_by_their_weights():
    data = made().arranged(correlate="a~b:0.08")
    batch = Groups("kind", size=6).draw(data, 240, np.random.default_rng(0))
    shown = np.rint(batch.images.numpy()[:, 0, 0] * SIDE).astype(int)
    assert (shown[:, 2].reshape(-1, 6) == shown[::6, 2:3]).all()  # still of one kind each
    assert np.corrcoef(shown[:, 0], shown[:, 1])[0, 1] > 0.85


def test_the_partner_of_a_correlated_image_is_any_change_of_it():
    """One factor is changed as without a correlation: interventions are not correlated."""
    data = made().arranged(correlate="a~b:0.02")
    rows = [Pairs().draw_pair_rows(data, 500, np.random.default_rng(step)) for step in range(4)]
    first, second = (np.concatenate(part) for part in zip(*rows, strict=True))
    apart = abs(data.column("a", second) - data.column("b", second))
    assert np.corrcoef(data.column("a", first), data.column("b", first))[0, 1] > 0.98
    assert apart.max() > 8
