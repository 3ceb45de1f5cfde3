"""Pairs: what differs in them, and where they come from."""

import numpy as np
import pytest
from scipy.stats import chisquare

from unweave.batches import Pairs, Transitions
from unweave.data import DataOptions, from_arrays, load_data
from unweave.errors import ConfigError, DataError

IMAGES = np.zeros((6, 8, 8), np.uint8)


def rows(kind, data, count, seed=0):
    return kind.draw_pair_rows(data, count, np.random.default_rng(seed))


def differences(kind, data, count=3000):
    first, second = rows(kind, data, count)
    return data.factors(second) - data.factors(first)


@pytest.mark.parametrize("changed", [1, 2, 3])
def test_exactly_so_many_factors_differ_and_each_as_often(toy, changed):
    differs = differences(Pairs(changed), toy) != 0
    assert (differs.sum(1) == changed).all()
    if changed < 3:
        assert chisquare(differs.sum(0)).pvalue > 1e-4


def test_a_changed_factor_takes_every_other_value_equally_often(toy):
    first, second = rows(Pairs(1), toy, 6000)
    before, after = toy.factors(first)[:, 2], toy.factors(second)[:, 2]
    moved = before != after
    table = np.zeros((4, 4))
    np.add.at(table, (before[moved], after[moved]), 1)
    assert chisquare(table[~np.eye(4, dtype=bool)]).pvalue > 1e-4


def test_without_a_number_it_is_drawn_from_one_to_all_but_one(toy):
    counts = (differences(Pairs(0), toy) != 0).sum(1)
    assert set(counts) == {1, 2}
    assert abs((counts == 1).mean() - 0.5) < 0.05


def test_the_batch_holds_both_images_and_which_factors_differ(toy):
    batch = Pairs(1).draw(toy, 9, np.random.default_rng(0))
    assert batch.images.shape == batch.partners.shape == (4, 1, 32, 32)
    assert batch.both.shape == (8, 1, 32, 32)
    assert batch.changed.sum(1).tolist() == [1] * 4
    assert not (batch.images == batch.partners).flatten(1).all(1).any()


def test_an_incomplete_grid_still_gives_exact_pairs(toy):
    part = toy.subset(np.random.default_rng(1).choice(len(toy), 300, replace=False))
    assert ((differences(Pairs(1), part) != 0).sum(1) == 1).all()


def test_transitions_follow_the_truncated_laplace_and_keep_categories():
    data = load_data("toy_shapes")
    kind = Transitions(rate=1.0)
    factors = np.tile([1, 2, 6, 0], (20_000, 1))
    moved = kind.changed_factors(data, factors, np.random.default_rng(0))
    assert (moved[:, 0] == 1).all()
    assert (moved != factors).any(1).all()
    # Given that another factor moved, this one follows the distribution as it is.
    free = moved[(moved[:, 1:3] != factors[:, 1:3]).any(1)][:, 3]
    weight = np.exp(-np.arange(13) / np.log(13))
    counts = np.bincount(free, minlength=13)
    assert chisquare(counts, weight / weight.sum() * counts.sum()).pvalue > 1e-4


def test_a_high_rate_moves_one_factor_by_one_step():
    data = load_data("toy_shapes")
    steps = differences(Transitions(rate=40.0), data)
    assert (abs(steps).sum(1) == 1).mean() > 0.99


def test_ids_make_pairs_and_images_without_one_are_left_out():
    data = from_arrays(IMAGES, {"Pair": np.array(["a", "b", "a", "", "b", "c"])})
    first, second = rows(Pairs(1), data, 40)
    assert {frozenset(p) for p in zip(first.tolist(), second.tolist(), strict=True)} == {
        frozenset({0, 2}),
        frozenset({1, 4}),
    }
    assert Pairs(1).draw(data, 4, np.random.default_rng(0)).changed is None


def test_neighbours_in_time_make_pairs(tmp_path):
    np.save(tmp_path / "images.npy", IMAGES)
    table = tmp_path / "table.csv"
    table.write_text("clip,time\nb,0.5\na,3\na,1\nb,0.1\na,2\nb,0.2\n")
    data = load_data(tmp_path / "images.npy", DataOptions(factors=str(table)))
    first, second = rows(Transitions(), data, 40)
    found = set(zip(first.tolist(), second.tolist(), strict=True))
    assert found == {(2, 4), (4, 1), (3, 5), (5, 0)}


def test_data_without_pairs_are_told_of_the_column_by_example():
    with pytest.raises(DataError, match=r"no factors to draw pairs from.*\n +file,pair\n +left"):
        Pairs(1).check(from_arrays(IMAGES))
    with pytest.raises(DataError, match=r"continuous factor 'angle'.*\n +file,pair"):
        Pairs(1).check(from_arrays(IMAGES, {"angle": np.linspace(0, 1, 6)}))
    with pytest.raises(DataError, match=r"no two images with the same id.*\n +file,pair"):
        Pairs(1).check(from_arrays(IMAGES, {"pair": np.arange(6)}))
    with pytest.raises(DataError, match=r"'clip' but none called 'time'.*\n +file,clip,time"):
        Transitions().check(from_arrays(IMAGES, {"clip": np.zeros(6, int)}))
    with pytest.raises(DataError, match=r"no factor whose values have an order"):
        Transitions().check(from_arrays(IMAGES, {"kind": np.array(list("abcabc"))}))
    with pytest.raises(DataError, match=r"say in what pairs differ.*\n +file,pair,size,color"):
        Pairs(1, factors_known=True).check(from_arrays(IMAGES, {"pair": [0, 0, 1, 1, 2, 2]}))


def test_more_changes_than_factors_are_refused(toy):
    with pytest.raises(ConfigError, match=r"3 factors that can differ.*differ in 4"):
        Pairs(4).check(toy)


def test_combinations_too_few_for_any_pair_are_an_error():
    data = from_arrays(IMAGES, {"x": np.arange(6), "y": np.arange(6)})
    with pytest.raises(DataError, match="too few combinations"):
        Pairs(1).check(data)
