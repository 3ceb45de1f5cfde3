"""Groups: what they share, and where they come from."""

import numpy as np
import pytest

from unweave.batches import Groups, GroupsInTurn, shared_column
from unweave.data import from_arrays, load_data
from unweave.errors import ConfigError, DataError

IMAGES = np.random.default_rng(0).integers(0, 256, size=(6, 8, 8), dtype=np.uint8)


def test_a_group_shares_the_value_and_its_images_differ(toy):
    batch = Groups("side", 5).draw(toy, 64, np.random.default_rng(0))
    assert batch.images.shape == (60, 1, 32, 32)
    assert batch.groups.tolist() == np.repeat(np.arange(12), 5).tolist()
    area = batch.images.sum((1, 2, 3)).reshape(12, 5)
    side = np.array([5, 8, 11, 14])[batch.values.reshape(12, 5)]
    np.testing.assert_array_equal(area, side**2)
    # Each of the 4 values as often as the others, and no image twice in a group.
    assert np.bincount(batch.values).tolist() == [15] * 4
    for group in batch.images.reshape(12, 5, -1):
        assert len(group.unique(dim=0)) == 5


def test_the_size_of_groups_may_be_drawn(toy):
    kind = Groups("side", 3, vary_size=True)
    sizes = [kind.draw(toy, 12, np.random.default_rng(s)).group_size for s in range(60)]
    assert set(sizes) == {1, 2, 3}


def test_small_groups_repeat_images_and_single_images_are_left_out():
    data = from_arrays(IMAGES, {"group": ["a", "b", "a", "c", "b", "b"]})
    batch = Groups(size=3).draw(data, 6, np.random.default_rng(0))
    assert sorted(set(batch.values.tolist())) == [0, 1]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"kind": list("abcabc"), "group": [0, 0, 0, 1, 1, 1]}, "group"),
        ({"kind": list("abcabc"), "label": [0, 1, np.nan, 1, 0, 1]}, "label"),
        ({"size": [0, 0, 0, 1, 1, 1], "kind": list("abcabc")}, "kind"),
        ({"x": [0, 1, 2, 0, 1, 2], "size": [0, 0, 0, 1, 1, 1]}, "size"),
    ],
)
def test_what_is_shared_unless_named(columns, expected):
    data = from_arrays(IMAGES, {name: np.array(values) for name, values in columns.items()})
    assert shared_column(data) == expected
    assert shared_column(data, "kind" if "kind" in columns else "x") != "group"


def test_known_sets_have_a_default(toy):
    assert shared_column(toy) == "side"
    assert shared_column(load_data("toy_shapes")) == "shape"


def test_images_without_a_label_are_in_no_group():
    data = from_arrays(IMAGES, {"label": np.array([0, np.nan, 0, 1, 1, np.nan])})
    batch = Groups(size=2).draw(data, 40, np.random.default_rng(0))
    shown = {tuple(image.flatten().tolist()) for image in batch.images}
    hidden = {tuple(image.flatten().tolist()) for image in data.images([1, 5])}
    assert len(shown) == 4
    assert not shown & hidden


def test_data_without_groups_are_told_of_the_column_by_example():
    with pytest.raises(DataError, match=r"neither a column 'group'.*\n +file,group\n +anna"):
        Groups().check(from_arrays(IMAGES))
    with pytest.raises(DataError, match=r"no two images with the same 'group'.*\n +file,group"):
        Groups().check(from_arrays(IMAGES, {"group": np.arange(6)}))
    with pytest.raises(DataError, match=r"'angle', which is continuous"):
        Groups("angle").check(from_arrays(IMAGES, {"angle": np.linspace(0, 1, 6)}))
    with pytest.raises(ConfigError, match="Did you mean 'kind'"):
        Groups("kinds").check(from_arrays(IMAGES, {"kind": list("abcabc")}))


def test_groups_of_different_values_are_no_more_than_there_are_values(toy):
    batch = Groups("side", 5, distinct=True).draw(toy, 64, np.random.default_rng(0))
    assert np.bincount(batch.values).tolist() == [5] * 4
    batch = Groups("x", 5, distinct=True).draw(toy, 60, np.random.default_rng(0))
    assert len(batch.images) == 60
    assert np.unique(batch.values, return_counts=True)[1].tolist() == [5] * 12


def test_factors_take_turns_step_by_step(toy):
    kind = GroupsInTurn(size=5)
    kind.check(toy)
    rng = np.random.default_rng(0)
    batches = [kind.at(step).draw(toy, 60, rng) for step in range(7)]
    assert [batch.factor for batch in batches] == [0, 1, 2, 0, 1, 2, 0]
    assert [len(batch.images) for batch in batches[:3]] == [60, 60, 20]  # side has 4 values
    area = batches[2].images.sum((1, 2, 3)).reshape(4, 5)
    np.testing.assert_array_equal(area, np.array([5, 8, 11, 14])[batches[2].values.view(4, 5)] ** 2)
    assert batches[0].values.view(12, 5).unique(dim=1).shape == (12, 1)
    named = GroupsInTurn(("side", "x"), size=2)
    assert named.names(toy) == ("side", "x")
    assert named.at(3).draw(toy, 8, rng).factor == 1


def test_columns_of_a_table_take_turns_too():
    data = from_arrays(IMAGES, {"label": [0, 0, 1, 1, 0, 1], "kind": list("aabbcc")})
    kind = GroupsInTurn(("label", "kind"), size=2)
    kind.check(data)
    batches = [kind.at(step).draw(data, 6, np.random.default_rng(0)) for step in range(2)]
    assert [len(batch.values.unique()) for batch in batches] == [2, 3]


@pytest.mark.parametrize(
    ("columns", "kind", "problem"),
    [
        (None, GroupsInTurn(), "no factors that could take turns"),
        ({"a": np.arange(6)}, GroupsInTurn(), "no two images with the same 'a'"),
        ({"a": np.array([0, 0, 0, 1, 2, 3])}, GroupsInTurn(), "one value of 'a' only"),
        ({"a": np.linspace(0, 1, 6)}, GroupsInTurn(("a",)), "'a', which is continuous"),
    ],
)
def test_data_without_factors_for_turns_are_told_by_example(columns, kind, problem):
    with pytest.raises(DataError, match=rf"{problem}.*\n +file,"):
        kind.check(from_arrays(IMAGES, columns))
