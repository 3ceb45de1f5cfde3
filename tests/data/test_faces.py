"""Heads are lit and turned as their factors say, and people differ."""

import numpy as np
import pytest

from unweave.data import load_data
from unweave.data.faces import Head


@pytest.fixture(scope="module")
def data():
    return load_data("faces")


def picture(data, person=0, azimuth=4, elevation=1, light=4, height=1):
    return data.images(data.rows_of([[person, azimuth, elevation, light, height]]))[0, 0]


def test_there_is_every_combination_of_person_pose_and_light(data):
    assert data.factor_sizes == (24, 9, 3, 9, 3)
    assert data.is_grid
    assert data.factor_list[0].categorical


def test_the_side_towards_the_light_is_the_bright_one(data):
    for person in (0, 11, 23):
        left, right = picture(data, person, light=0), picture(data, person, light=8)
        assert left[:, :32].mean() > 2 * left[:, 32:].mean()
        assert right[:, 32:].mean() > 2 * right[:, :32].mean()
        below, above = picture(data, person, height=0), picture(data, person, height=2)
        assert above[:24].mean() > below[:24].mean()  # forehead and hair
        assert above[44:].mean() < below[44:].mean()  # chin


def test_light_moves_no_outline_and_a_turn_does(data):
    outlines = [picture(data, light=light) > 0 for light in range(9)]
    for other in outlines[1:]:
        np.testing.assert_array_equal(outlines[0], other)
    turned = picture(data, azimuth=0) > 0
    assert (turned != outlines[0]).sum() > 20


def test_the_face_is_where_the_head_is_turned_to(data):
    def eyes(azimuth):
        """Return the mean column of what is painted darkest in the upper face of the bald."""
        lit = picture(data, person=15, azimuth=azimuth)[18:32]
        dark = (lit < 0.35) & (lit > 0)
        dark[:, :12] = dark[:, -12:] = False  # the shaded rim
        return (dark * np.arange(64)).sum() / dark.sum()

    columns = [eyes(azimuth) for azimuth in (2, 4, 6)]
    assert columns[0] + 3 < columns[1] < columns[2] - 3


def test_a_head_seen_from_the_front_is_nearly_its_own_mirror():
    maps = Head(5).maps(0, 0).reshape(4, 64, 64)
    chin = slice(34, 64)  # hair is cut to one side
    np.testing.assert_allclose(maps[3, chin], maps[3, chin, ::-1], atol=0.05)
    np.testing.assert_allclose(maps[0, chin], -maps[0, chin, ::-1], atol=0.1)


def test_normals_of_a_bare_egg_are_those_of_an_ellipsoid():
    head = Head(0)
    head.bumps, head.ears = [], 0.0
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((3, 200)).astype(np.float32)
    directions /= np.linalg.norm(directions, axis=0)
    points = directions * head.radius(directions)
    expected = points / head.radii[:, None] ** 2
    expected /= np.linalg.norm(expected, axis=0)
    np.testing.assert_allclose(head._normals(directions), expected, atol=0.02)


def test_no_two_people_look_alike(data):
    looks = np.stack([picture(data, person).reshape(-1) for person in range(24)])
    apart = np.linalg.norm(looks[:, None] - looks, axis=2)
    other = apart[~np.eye(24, dtype=bool)]
    # Further apart than one person is from itself under a light next to it.
    same = np.linalg.norm(looks[0] - picture(data, 0, light=5).reshape(-1))
    assert other.min() > 0.5 * same
    assert np.median(other) > same
