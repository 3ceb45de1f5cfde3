"""The rendered 3D Shapes: the room of the original, and factors that do what they say."""

import colorsys

import numpy as np
import pytest

from unweave.data import load_data

SKY = np.array([153, 226, 249]) / 255
# Read off published pictures of the original: where the corner of the room meets the sky
# (column, row), and how brightly the wall to its right is lit.
CORNER_AT_30 = (43.6, 19.2)
CORNER_AT_13 = (59.0, 18.1)
RIGHT_WALL_AT_30, RIGHT_WALL_AT_13 = 0.67, 0.51


@pytest.fixture(scope="module")
def data():
    return load_data("shapes3d")


def picture(data, floor=0, wall=0, thing=0, scale=4, shape=0, orientation=7):
    return data.images(data.rows_of([[floor, wall, thing, scale, shape, orientation]]))[0]


def changed(a, b):
    return np.abs(a - b).max(axis=0) > 0.02


def test_the_order_is_that_of_the_original(data):
    assert data.factor_names == (
        "floor_hue",
        "wall_hue",
        "object_hue",
        "scale",
        "shape",
        "orientation",
    )
    assert data.factor_sizes == (10, 10, 10, 8, 4, 15)
    assert len(data) == 480_000
    np.testing.assert_array_equal(data.factors([0, 1, 15, 479_999])[1], [0, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(data.factors([15])[0], [0, 0, 0, 0, 1, 0])
    # Rows asked for together are the rows asked for one by one.
    rows = np.random.default_rng(0).integers(len(data), size=12)
    alone = np.concatenate([data.images([row]) for row in rows])
    np.testing.assert_allclose(data.images(rows), alone, atol=1 / 254)


def test_a_rendering_says_that_it_is_one(data):
    assert "rendered here in the manner of 3D Shapes" in data.note
    assert data.subset([0, 1]).note == data.note


def test_the_sky_and_the_corner_are_where_the_original_has_them(data):
    for orientation, (column, row) in ((14, CORNER_AT_30), (10, CORNER_AT_13)):
        # A dark blue wall stands out against the sky in red and green.
        image = picture(data, wall=7, orientation=orientation, shape=0, scale=0)
        np.testing.assert_allclose(image[:, :14].mean(axis=(1, 2)), SKY, atol=1e-3)
        share_of_sky = (image[1] / SKY[1]).clip(0, 1)
        edge = share_of_sky[:24].sum(axis=0)
        lowest = np.flatnonzero(edge > edge.max() - 0.05)
        assert abs(lowest.mean() - column) <= 3.5
        assert abs(edge.max() - row) <= 1


def test_walls_are_lit_as_in_the_original(data):
    for orientation, shade in ((14, RIGHT_WALL_AT_30), (10, RIGHT_WALL_AT_13)):
        image = picture(data, wall=0, orientation=orientation, shape=0, scale=0)
        assert image[0, 24, 62] == pytest.approx(shade, abs=0.08)
        assert image[0, 24, 5] > 0.95  # the wall at the back
        assert image[1:, 24, 5].max() == 0


@pytest.mark.parametrize("factor", ["floor", "wall", "thing"])
def test_a_hue_colors_its_own_part_by_the_wheel(data, factor):
    parts = {}
    for name in ("floor", "wall", "thing"):
        parts[name] = changed(picture(data), picture(data, **{name: 3}))
    others = [part for name, part in parts.items() if name != factor]
    mine = parts[factor]
    assert mine.sum() > 200
    for other in others:  # only pixels on the border between two parts show both
        assert (mine & other).sum() < 0.2 * mine.sum()
    alone = mine & ~others[0] & ~others[1]
    for hue in range(10):
        image = picture(data, **{"floor": 0, "wall": 0, "thing": 0, factor: hue})
        color = image[:, alone].mean(axis=1)
        found, saturation, _ = colorsys.rgb_to_hsv(*color)
        away = abs(found - hue / 10)
        assert min(away, 1 - away) < 0.02
        assert saturation > 0.9


def test_the_object_grows_with_its_scale_and_stays_in_the_picture(data):
    for shape in range(4):
        areas = []
        for scale in range(8):
            covered = changed(
                picture(data, scale=scale, shape=shape),
                picture(data, scale=scale, shape=shape, thing=5),
            )
            areas.append(covered.sum())
            assert not covered[:, [0, -1]].any()
            assert not covered[[0, -1]].any()
        assert (np.diff(areas) > 0).all()


def test_shapes_differ_from_each_other_at_every_scale(data):
    for scale in (0, 7):
        images = [picture(data, scale=scale, shape=shape) for shape in range(4)]
        for i in range(4):
            for j in range(i):
                assert changed(images[i], images[j]).sum() > 30


def test_the_object_throws_a_shadow_that_follows_its_size(data):
    def darkest_floor(scale):
        # Red floor, blue object: only what is lit dim red is floor in the shadow.
        image = picture(data, floor=0, wall=3, thing=7, scale=scale, shape=2)
        floor = (image[0] > 0.1) & (image[1:].max(axis=0) < 0.02)
        return (image[0][floor] < 0.5).sum()

    assert 10 < darkest_floor(0) < darkest_floor(7)


def test_the_room_turns_evenly_and_mirrors_itself(data):
    columns = []
    for orientation in (0, 14):
        image = picture(data, wall=7, orientation=orientation, scale=0)
        edge = (image[1] / SKY[1]).clip(0, 1)[:24].sum(axis=0)
        columns.append(edge)
    np.testing.assert_allclose(columns[0], columns[1][::-1], atol=0.35)
