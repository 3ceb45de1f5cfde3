"""The pendulum: effects follow from causes, and interventions cut them off."""

import numpy as np
import pytest

from unweave.data import load_data
from unweave.errors import ConfigError

SUN, GROUND = slice(0, 12), slice(58, 64)  # rows of the picture


@pytest.fixture(scope="module")
def observed():
    return load_data("pendulum")


def shadow_in(images):
    """Return length and position of the shadow as the picture shows them, in units."""
    dark = 1 - images[:, 0, 62]  # the ground; red is 0 in the shadow alone
    length = dark.sum(axis=1) * 20 / 64
    middle = (dark * (np.arange(64) + 0.5)).sum(axis=1) / dark.sum(axis=1) * 20 / 64
    return length, middle


def test_there_are_the_angles_of_the_paper(observed):
    assert len(observed) == 84 * 87
    assert observed.factor_sizes == (84, 87, 0, 0)
    assert observed.factor_list[0].labels[0] == "-36"
    assert observed.factor_list[1].labels[0] == "54"
    assert "90" not in observed.factor_list[1].labels
    assert {name: len(rows) for name, rows in observed.partitions.items()} == {
        "train": 5481,
        "test": 1827,
    }


def test_the_shadow_lies_where_light_through_the_pendulum_meets_the_ground(observed):
    # Pendulum at rest, light from 45 degrees to the left (135): the pivot's shadow is
    # 11 to the right of it, the end's (1 above the ground + 0.5) is 1.5.
    row = observed.rows_of([[*_indices(observed, "0", "117"), *_shadow(observed, "0", "117")]])
    slope = np.tan(np.radians(117))
    pivot, end = 10 - 11 / slope, 10 - 1.5 / slope
    length, position = observed.factors(row)[0, 2:]
    assert length == pytest.approx(max(3, pivot - end))
    assert position == pytest.approx((pivot + end) / 2)


def _indices(data, swing, light):
    return data.factor_list[0].labels.index(swing), data.factor_list[1].labels.index(light)


def _shadow(data, swing, light):
    at = np.all(data.factors()[:, :2] == _indices(data, swing, light), axis=1)
    return data.factors()[at][0, 2:]


def test_pictures_show_the_shadow_the_table_tells(observed):
    rows = np.arange(0, len(observed), 7)
    inside = [
        row
        for row in rows
        if observed.factors([row])[0, 3] - observed.factors([row])[0, 2] / 2 > 0.5
        and observed.factors([row])[0, 3] + observed.factors([row])[0, 2] / 2 < 19.5
    ]
    length, middle = shadow_in(observed.images(inside))
    np.testing.assert_allclose(length, observed.factors(inside)[:, 2], atol=0.1)
    np.testing.assert_allclose(middle, observed.factors(inside)[:, 3], atol=0.1)


def test_an_angle_moves_its_own_part_of_the_picture_and_the_shadow(observed):
    first, other_light, other_swing = observed.images([40 * 87 + 20, 40 * 87 + 60, 60 * 87 + 20])
    pendulum = slice(14, 56)
    assert (first[:, pendulum] == other_light[:, pendulum]).all()
    assert (first[:, SUN] == other_swing[:, SUN]).all()
    for other, rows in ((other_light, SUN), (other_swing, pendulum)):
        assert abs(first[:, rows] - other[:, rows]).max() > 0.5
        assert abs(first[:, GROUND] - other[:, GROUND]).max() > 0.5


def test_the_graph_names_causes_among_the_factors(observed):
    assert observed.graph == {
        "shadow_length": ("pendulum_angle", "light_angle"),
        "shadow_position": ("pendulum_angle", "light_angle"),
    }
    assert observed.subset([1, 2]).graph == observed.graph
    assert load_data("toy_xys").graph == {}


def test_an_intervention_on_an_effect_leaves_its_causes_alone(observed):
    data = load_data("pendulum:do(shadow_length=9)")
    rows = np.arange(5, len(data), 97)
    assert (data.column("shadow_length") == 9).all()
    np.testing.assert_array_equal(data.factors()[:, [0, 1, 3]], observed.factors()[:, [0, 1, 3]])
    above = slice(0, 58)
    np.testing.assert_array_equal(
        data.images(rows)[:, :, above], observed.images(rows)[:, :, above]
    )
    middle = data.column("shadow_position", rows)
    inside = rows[(middle > 5) & (middle < 15)]
    np.testing.assert_allclose(shadow_in(data.images(inside))[0], 9, atol=0.1)
    assert "do(shadow_length=9)" in data.note


def test_an_intervention_on_a_cause_reaches_its_effects(observed):
    data = load_data("pendulum:do(light_angle=60)")
    assert data.factor_sizes == (84, 1, 0, 0)
    one_for_each_swing = np.unique(data.factors()[:, [0, 2, 3]], axis=0)
    assert len(one_for_each_swing) == 84
    assert len(np.unique(data.images(np.arange(87)), axis=0)) == 1  # one swing, one light


def test_random_effects_do_not_depend_on_their_causes():
    data = load_data("pendulum:do(shadow_length=random, shadow_position=random)")
    observed = load_data("pendulum")

    def told_by_angles(data, name):
        """Return the share of a factor's variance that angles explain, by a table of bins."""
        bins = data.factors()[:, :2].astype(int) // 6
        _, inverse = np.unique(bins, axis=0, return_inverse=True)
        values = data.column(name)
        means = np.bincount(inverse.reshape(-1), values) / np.bincount(inverse.reshape(-1))
        return means[inverse.reshape(-1)].var() / values.var()

    for name in ("shadow_length", "shadow_position"):
        assert told_by_angles(observed, name) > 0.9
        assert told_by_angles(data, name) < 0.06
        np.testing.assert_allclose(
            [data.column(name).min(), data.column(name).max()],
            [observed.column(name).min(), observed.column(name).max()],
            atol=0.02,
        )


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ("do(shadow=3)", "factor of pendulum"),
        ("do(shadow_length=long)", "expected pendulum:do"),
        ("do(shadow_length=40)", "can be set from 3 to"),
        ("do(light_angle=random)", "has no causes"),
        ("do(light_angle=90)", "cannot be 90"),
    ],
)
def test_an_impossible_intervention_is_explained(wish, message):
    with pytest.raises(ConfigError, match=message):
        load_data(f"pendulum:{wish}")
