"""Digits are drawn whole, and each style factor changes what it is called after."""

import numpy as np
import pytest

from unweave.batches import FewClasses
from unweave.data import load_data
from unweave.data.glyphs import SHIFTS


@pytest.fixture(scope="module")
def data():
    return load_data("glyphs")


def picture(data, digit=3, slant=2, thickness=1, size=2, rotation=2, x=2, y=2):
    return data.images(data.rows_of([[digit, slant, thickness, size, rotation, x, y]]))[0, 0]


def test_there_are_ten_classes_of_ten_thousand_styles(data):
    assert len(data) == 100_000
    assert np.bincount(data.column("label_digit")).tolist() == [10_000] * 10


def test_methods_that_are_told_a_class_are_told_the_digit(data):
    assert FewClasses().class_column(data) == "label_digit"


def test_no_digit_is_cut_at_the_border(data):
    rng = np.random.default_rng(0)
    corners = [
        [digit, slant, 3, 3, rotation, x, y]
        for digit in range(10)
        for slant in (0, 4)
        for rotation in (0, 4)
        for x in (0, 4)
        for y in (0, 4)
    ]
    rows = np.concatenate([data.rows_of(corners), data.sample_rows(500, rng)])
    images = data.images(rows)[:, 0]
    border = np.concatenate([images[:, [0, -1]].reshape(len(rows), -1), images[:, :, 0]], axis=1)
    assert border.max() < 0.3


def test_x_and_y_move_the_same_drawing(data):
    middle = picture(data)
    for value, shift in enumerate(SHIFTS):
        np.testing.assert_array_equal(picture(data, x=value), np.roll(middle, shift, axis=1))
        np.testing.assert_array_equal(picture(data, y=value), np.roll(middle, shift, axis=0))


def test_thickness_and_size_add_ink(data):
    for digit in range(10):
        for name, count in (("thickness", 4), ("size", 4)):
            ink = [picture(data, digit, **{name: value}).sum() for value in range(count)]
            assert (np.diff(ink) > 0).all()
        height = [
            np.ptp(np.flatnonzero(picture(data, digit, size=value).max(axis=1) > 0.5))
            for value in range(4)
        ]
        assert height[3] > height[0]


def test_slant_and_rotation_are_told_apart_by_the_foot_of_a_seven(data):
    def lean(image):
        rows, columns = np.indices(image.shape)
        upper, lower = image * (rows < 16), image * (rows >= 16)
        return (upper * columns).sum() / upper.sum() - (lower * columns).sum() / lower.sum()

    slants = [lean(picture(data, digit=1, slant=value)) for value in range(5)]
    assert (np.diff(slants) > 0).all()  # a larger slant leans to the right
    turns = [lean(picture(data, digit=1, rotation=value)) for value in range(5)]
    assert (np.diff(turns) < 0).all()  # a positive rotation is counter-clockwise

    def tilt_of_bar(image):
        columns = np.flatnonzero(image[:14].max(axis=0) > 0.5)
        bar = [np.argmax(image[:, c] > 0.5) for c in (columns[1], columns[-2])]
        return bar[1] - bar[0]

    assert tilt_of_bar(picture(data, digit=7, slant=4)) == 0
    assert tilt_of_bar(picture(data, digit=7, rotation=4)) < 0


def test_a_nearest_neighbour_reads_the_digits_of_other_styles(data):
    rng = np.random.default_rng(1)
    known, asked = data.sample_rows(4000, rng), data.sample_rows(300, rng)
    a = data.images(known).reshape(len(known), -1)
    b = data.images(asked).reshape(len(asked), -1)
    nearest = known[(b @ a.T - 0.5 * (a**2).sum(axis=1)).argmax(axis=1)]
    right = data.column("label_digit", nearest) == data.column("label_digit", asked)
    assert right.mean() > 0.6  # legible: chance is 0.1
    assert right.mean() < 1  # and no toy
