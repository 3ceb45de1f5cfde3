"""Few labels: which images have them, what they say, and how steps draw them."""

import numpy as np
import pytest
import torch

from unweave.batches import (
    Corruption,
    FewClasses,
    FewLabels,
    GroupsInTurn,
    TwoBatches,
    UnsupervisedTwice,
)
from unweave.data import DataOptions, from_arrays, load_data
from unweave.errors import ConfigError, DataError
from unweave.methods.m2 import M2
from unweave.methods.semi_supervised import SemiSupervised
from unweave.methods.vae import VAE
from unweave.runs.config import Train
from unweave.training import loop

IMAGES = (np.arange(6 * 64) % 251).astype(np.uint8).reshape(6, 8, 8)


@pytest.fixture
def own(tmp_path):
    """Own images of which four have a label, two of them a size too."""
    np.save(tmp_path / "images.npy", IMAGES)
    table = tmp_path / "labels.csv"
    table.write_text("label,label_size\nsquare,0.5\n,\ndisc,1.5\n,2.5\nsquare,\n,\n")
    return load_data(tmp_path / "images.npy", DataOptions(factors=str(table)))


def test_the_labelled_images_follow_from_the_seed_of_the_labels_alone(toy):
    one, again = FewLabels(count=50).table(toy), FewLabels(count=50).table(toy.subset(range(1024)))
    np.testing.assert_array_equal(one.rows, again.rows)
    np.testing.assert_array_equal(one.values, toy.factors(one.rows))
    assert len(np.unique(one.rows)) == 50
    other = FewLabels(count=50, seed=1).table(toy)
    assert not np.array_equal(one.rows, other.rows)


def test_steps_draw_labelled_images_with_their_labels_equally_often(toy):
    kind = FewLabels(("side", "x"), count=20)
    rng = np.random.default_rng(0)
    rows = kind.table(toy).rows
    labelled = torch.from_numpy(toy.images(rows)).flatten(1)
    labels = torch.from_numpy(toy.factors(rows)[:, [2, 0]])
    seen = torch.zeros(20)
    for _ in range(300):
        batch = kind.draw(toy, 8, rng)
        assert batch.images.shape == batch.unlabelled.images.shape == (8, 1, 32, 32)
        assert batch.labelled == 20
        assert batch.population == 1024
        distances = torch.cdist(batch.images.flatten(1), labelled)
        match = distances.argmin(1)
        assert not distances.gather(1, match[:, None]).any()
        assert torch.equal(batch.labels, labels[match].float())
        seen += torch.bincount(match, minlength=20)
    assert seen.min() > 80  # 120 are expected
    assert seen.max() < 160


def test_the_other_images_of_a_step_are_those_it_sees_without_labels(toy):
    kind = FewLabels(unlabelled=UnsupervisedTwice())
    with_labels = kind.draw(toy, 16, np.random.default_rng(3)).unlabelled
    without = UnsupervisedTwice().draw(toy, 16, np.random.default_rng(3))
    assert isinstance(with_labels, TwoBatches)
    assert torch.equal(with_labels.images, without.images)
    assert torch.equal(with_labels.other_images, without.other_images)


def test_a_step_takes_every_labelled_image_once_if_there_are_few(toy):
    batch = FewLabels(("x",), count=5).draw(toy, 64, np.random.default_rng(0))
    assert len(batch.images) == len(batch.labels) == 5
    assert len(batch.unlabelled.images) == 64


def test_moving_a_batch_moves_the_images_inside_it(toy):
    batch = FewLabels().draw(toy, 4, np.random.default_rng(0))
    moved = batch.map_tensors(lambda tensor: tensor + 1)
    assert torch.equal(moved.unlabelled.images, batch.unlabelled.images + 1)
    assert torch.equal(moved.labels, batch.labels + 1)


def test_own_labels_with_gaps_say_which_images_are_labelled(own):
    kind = FewLabels(count=1)  # not asked: the gaps decide
    rows, values = kind.table(own)
    assert rows.tolist() == [0, 2, 3, 4]
    np.testing.assert_allclose(values, [[1, 0], [0, 0.5], [np.nan, 1], [1, np.nan]], equal_nan=True)
    assert kind.names_among(own.summary.column_sizes) == ("label", "label_size")
    assert kind.sizes_among(own.summary.column_sizes) == (2, 0)
    one = FewClasses().table(own)
    assert one.rows.tolist() == [0, 2, 4]
    assert one.values[:, 0].tolist() == [1, 0, 1]


def test_the_class_is_the_label_or_else_the_factor_of_fewest_values(toy):
    sizes = toy.summary.column_sizes
    assert FewClasses().names_among(sizes) == ("side",)
    assert FewClasses(("y",)).names_among(sizes) == ("y",)
    assert FewClasses().names_among({"kind": 2, "label": 7}) == ("label",)
    assert FewClasses().names_among({"angle": 0, "same": 1, "kind": 3}) == ("kind",)
    assert FewClasses().names_among({"angle": 0}) == ("angle",)
    assert FewClasses().names_among({}) == ()


def test_pairs_and_clips_are_no_labels():
    data = from_arrays(IMAGES, {"clip": [0, 0, 0, 1, 1, 1], "kind": [0, 1, 2, 0, 1, 2]})
    assert FewLabels().names_among(data.summary.column_sizes) == ("kind",)


def test_bins_are_of_equal_width(toy):
    binned = FewLabels(("x", "side"), corruption=Corruption(bins=5)).table(toy)
    x, side = toy.factors(binned.rows)[:, [0, 2]].T
    np.testing.assert_array_equal(binned.values[:, 0], np.minimum(x // (16 / 5), 4))
    np.testing.assert_array_equal(binned.values[:, 1], side)
    kind = FewLabels(("x", "side"), corruption=Corruption(bins=5))
    assert kind.sizes_among(toy.summary.column_sizes) == (5, 4)


def test_noise_replaces_its_share_by_any_value(toy):
    rows, values = FewLabels(("x",), 1024, corruption=Corruption(noise=0.4)).table(toy)
    wrong = values[:, 0] != toy.column("x", rows)
    assert wrong.mean() == pytest.approx(0.4 * 15 / 16, abs=0.05)
    assert len(np.unique(values[wrong])) == 16


def test_permuted_values_are_renamed_one_by_one(toy):
    rows, values = FewLabels(("x", "y"), 1024, corruption=Corruption(permuted=True)).table(toy)
    for told, truth in zip(values.T, toy.factors(rows).T, strict=False):
        new_names = {(a, b) for a, b in zip(truth, told, strict=True)}
        assert len(new_names) == 16
        assert {b for _, b in new_names} == set(range(16))
        assert not np.array_equal(told, truth)


def test_partial_labels_keep_as_many_columns(toy):
    sizes = toy.summary.column_sizes
    chosen = {
        FewLabels(seed=s, corruption=Corruption(observed=2)).names_among(sizes) for s in range(20)
    }
    assert chosen == {("x", "y"), ("x", "side"), ("y", "side")}
    kind = FewLabels(corruption=Corruption(observed=2))
    table = kind.table(toy)
    for name, told in zip(kind.names_among(sizes), table.values.T, strict=True):
        np.testing.assert_array_equal(told, toy.column(name, table.rows))


@pytest.mark.parametrize("method", [M2(), SemiSupervised(VAE())], ids=["m2", "twin"])
def test_without_labels_the_error_shows_a_table_and_leaves_no_folder(method, tmp_path):
    config = Train(method=method, data="arrays", steps=1)
    with pytest.raises(DataError, match=r"'label' nor factors(.|\n)*file,label\n *001.png,cat"):
        loop.start(config, from_arrays(IMAGES), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_continuous_column_is_no_class(tmp_path):
    data = from_arrays(IMAGES, {"label": [0.5, np.nan, 1.25, 2.0, 0.1, np.nan]})
    with pytest.raises(DataError, match="no classes in 'label', which is continuous"):
        loop.start(Train(method=M2(), data="arrays", steps=1), data, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_unknown_columns_and_too_many_labels_are_refused(toy):
    with pytest.raises(ConfigError, match="no column of the data named 'shape'"):
        FewLabels(("shape",)).check(toy)
    with pytest.raises(DataError, match=r"labels of 2,000 images .* has 1,024"):
        FewLabels(count=2000).check(toy)
    FewLabels(count=1024).check(toy)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: FewLabels(count=0),
        lambda: FewLabels(seed=-1),
        lambda: Corruption(bins=1),
        lambda: Corruption(noise=1.5),
        lambda: Corruption(observed=-1),
    ],
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ConfigError):
        wrong()


def test_what_has_no_labels_may_change_from_step_to_step_and_the_labels_stay(toy):
    kind = FewLabels(("x",), count=20, unlabelled=GroupsInTurn(size=2))
    tables = [kind.at(step).table(toy) for step in range(4)]
    assert all(table is tables[0] for table in tables), "found once, not at every step"
    drawn = [kind.at(step).draw(toy, 12, np.random.default_rng(0)) for step in range(4)]
    assert [batch.unlabelled.factor for batch in drawn] == [0, 1, 2, 0]
    assert torch.equal(drawn[0].images, drawn[3].images)
    plain = FewLabels(("x",), count=20)
    assert plain.at(5) is plain
