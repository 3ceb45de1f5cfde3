"""Triplets: two that share a value and one that does not."""

import numpy as np
import pytest
from scipy.stats import chisquare

from unweave.batches import Triplets
from unweave.data import from_arrays
from unweave.errors import ConfigError, DataError

IMAGES = np.random.default_rng(0).integers(0, 256, size=(6, 8, 8), dtype=np.uint8)


def rows(kind: Triplets, data, count: int) -> np.ndarray:
    return np.stack(kind.draw_triplet_rows(data, count, np.random.default_rng(0)), axis=1)


def test_two_images_share_the_value_and_the_third_has_another(toy):
    drawn = rows(Triplets("x"), toy, 2000)
    first, same, other = toy.factors(drawn.reshape(-1)).reshape(-1, 3, 3).transpose(1, 0, 2)
    assert (first[:, 0] == same[:, 0]).all()
    assert (first[:, 0] != other[:, 0]).all()
    assert (drawn[:, 0] != drawn[:, 1]).all()
    for factor in (1, 2):  # nothing else is shared on purpose
        assert 0 < (first[:, factor] == same[:, factor]).mean() < 0.35
        assert chisquare(np.bincount(same[:, factor])).pvalue > 1e-4
        assert chisquare(np.bincount(other[:, factor])).pvalue > 1e-4
    apart = (other[:, 0] - first[:, 0]) % 16  # each other value as often
    assert chisquare(np.bincount(apart)[1:]).pvalue > 1e-4


def test_every_partner_is_as_likely_and_who_is_alone_comes_third_only():
    data = from_arrays(IMAGES, {"group": ["b", "a", "b", "c", "b", "a"]})
    drawn = rows(Triplets(), data, 6000)
    assert set(drawn[:, 0]) == {0, 1, 2, 4, 5}
    partners = drawn[drawn[:, 0] == 2][:, 1]
    assert set(partners) == {0, 4}
    assert chisquare(np.bincount(partners)[[0, 4]]).pvalue > 1e-4
    thirds = np.bincount(drawn[np.isin(drawn[:, 0], [1, 5])][:, 2], minlength=6)
    assert (thirds[[1, 5]] == 0).all()
    assert chisquare(thirds[[0, 2, 3, 4]]).pvalue > 1e-4


def test_the_third_may_be_any_image():
    data = from_arrays(IMAGES, {"group": list("aabbbb")})
    thirds = rows(Triplets(any_third=True), data, 6000)[:, 2]
    assert chisquare(np.bincount(thirds)).pvalue > 1e-4


def test_a_batch_holds_a_third_as_many_triplets_and_their_values(toy):
    batch = Triplets("side").draw(toy, 64, np.random.default_rng(0))
    sides = np.array([5, 8, 11, 14])
    assert batch.images.shape == batch.same.shape == batch.others.shape == (21, 1, 32, 32)
    for images, values in (
        (batch.images, batch.values),
        (batch.same, batch.values),
        (batch.others, batch.other_values),
    ):
        np.testing.assert_array_equal(images.sum((1, 2, 3)), sides[values] ** 2)
    assert len(Triplets("side").draw(toy, 1, np.random.default_rng(0)).images) == 1


def test_images_without_a_label_are_in_no_triplet():
    data = from_arrays(IMAGES, {"label": np.array([0, np.nan, 0, 1, 1, np.nan])})
    assert set(rows(Triplets(), data, 200).reshape(-1)) == {0, 2, 3, 4}


def test_data_without_triplets_are_told_of_the_column_by_example():
    for columns, problem in (
        (None, "neither a column 'group'"),
        ({"group": np.arange(6)}, "no two images with the same 'group'"),
        ({"group": np.zeros(6, int)}, "no two images with different 'group'"),
    ):
        with pytest.raises(DataError, match=rf"{problem}.*\n +file,group\n +anna"):
            Triplets().check(from_arrays(IMAGES, columns))
    with pytest.raises(ConfigError, match="Did you mean 'kind'"):
        Triplets("kinds").check(from_arrays(IMAGES, {"kind": list("abcabc")}))


def weighted(weights: list[float]):
    data = from_arrays(IMAGES, {"group": list("aaabbb")})
    data.weights = np.array(weights)
    return data


def test_rows_that_are_drawn_more_often_are_so_in_every_place_of_a_triplet():
    data = weighted([0.5, 0.1, 0.1, 0.3, 0.0, 0.0])
    Triplets().check(data)
    first, same, other = rows(Triplets(), data, 6000).T
    assert chisquare(np.bincount(first, minlength=3), 6000 * np.array([5, 1, 1]) / 7).pvalue > 1e-4
    assert (first != same).all()
    assert set(other) == {3}, "who is never drawn is never drawn, and 3 has no partner"
    partners = np.bincount(same[first == 1], minlength=3)
    assert partners[2] / partners.sum() == pytest.approx(1 / 6, abs=0.05)
    with pytest.raises(DataError, match="no two images with different 'group'"):
        Triplets().check(weighted([0.5, 0.25, 0.25, 0.0, 0.0, 0.0]))
