"""Generated images against real ones, where the answer is known."""

import math

import numpy as np
import pytest

from unweave.evaluation.generated import (
    Reader,
    agreement,
    average_entropy,
    how_real,
    modes_covered,
)

RNG = np.random.default_rng(0)
KNOWN = RNG.random((40, 1, 4, 4), dtype=np.float32)
FACTORS = np.stack([np.arange(40) % 4, np.arange(40) // 4], axis=1)
READER = Reader(KNOWN, FACTORS)


def test_an_image_is_read_as_the_nearest_known_one():
    order = RNG.permutation(40)
    moved = KNOWN[order] + np.float32(0.01)
    found = READER.nearest(moved)
    assert (found.rows == order).all()
    np.testing.assert_allclose(found.distances, 0.16, rtol=1e-4)
    assert (READER.read(moved) == FACTORS[order]).all()


def test_real_images_are_as_real_as_real_ones_and_noise_is_not():
    unknown = RNG.random((40, 1, 4, 4), dtype=np.float32)
    assert how_real(unknown, unknown, READER) == 1
    assert how_real(KNOWN, unknown, READER) == 0
    assert how_real(3 * unknown, unknown, READER) > 2


def test_modes_are_covered_from_a_quarter_of_their_share_on():
    everything = np.repeat(FACTORS, 10, axis=0)
    assert modes_covered(everything, FACTORS, [0]) == 1
    assert modes_covered(everything, FACTORS, [0, 1]) == 1
    collapsed = everything[everything[:, 0] < 3]
    assert modes_covered(collapsed, FACTORS, [0]) == 0.75
    rest = everything[everything[:, 0] == 3]
    assert modes_covered(np.concatenate([collapsed, rest[:15]]), FACTORS, [0]) == 0.75
    assert modes_covered(np.concatenate([collapsed, rest[:25]]), FACTORS, [0]) == 1


def test_a_permutation_of_classes_agrees_with_them_and_chance_does_not():
    classes = RNG.integers(3, size=900)
    names = np.array([2, 0, 1])[classes]
    assert agreement(names, classes) == pytest.approx(1)
    assert average_entropy(names, classes) == 0
    other = RNG.integers(3, size=900)
    assert agreement(other, classes) < 0.02
    assert average_entropy(other, classes) == pytest.approx(math.log(3), abs=0.02)
    assert average_entropy(np.zeros(900, int), classes) == pytest.approx(math.log(3) / 4, abs=0.02)
