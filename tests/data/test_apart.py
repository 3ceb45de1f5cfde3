"""A data set that is taken apart and put together again is the same set."""

import numpy as np
import pytest

from unweave.data import FactorImages, put_together, take_apart


@pytest.mark.parametrize("part", [False, True])
def test_an_arranged_set_stays_arranged(toy, part):
    data = toy.arranged("x>0.5,y>0.5", "x~y:0.1")
    if part:
        data = data.split(0.5, keep_numbers=True)[0]
    again = put_together(*take_apart(data))
    for name in ("held_out", "weights", "inverse_weights", "row_numbers"):
        np.testing.assert_array_equal(getattr(again, name), getattr(data, name))
    rows = np.arange(0, len(data), 7)
    np.testing.assert_array_equal(again.images(rows), data.images(rows))
    np.testing.assert_array_equal(again.factors(rows), data.factors(rows))
    drawn = [one.draw_rows(20, np.random.default_rng(0)) for one in (data, again)]
    np.testing.assert_array_equal(*drawn)


def test_what_is_known_of_a_set_goes_along(toy):
    known = {"note": "drawn here", "graph": {"y": ("x",)}, "splits": {"half": "x>0.5"}}
    data = FactorImages("own", toy.pixels, toy.factor_list, **known)
    data.known = True
    known["known"] = True
    again = put_together(*take_apart(data))
    assert {name: getattr(again, name) for name in known} == known


def test_no_attribute_of_a_set_is_forgotten(toy):
    """Whoever gives data sets a new attribute must say how it goes along."""
    assert set(vars(toy)) == {
        *("name", "pixels", "factor_list", "partitions", "columns", "row_numbers", "note"),
        *("graph", "splits", "held_out", "weights", "inverse_weights", "_table", "known"),
    }
