"""Two views of one content: the view differs, nothing else does."""

import numpy as np
import pytest

from unweave.batches.views import Views
from unweave.data import from_arrays, load_data
from unweave.errors import DataError


def own(count: int = 24, **columns):
    return from_arrays(np.zeros((count, 8, 8), dtype=np.uint8), columns)


def drawn(views: Views, data, count: int = 300):
    first, second = views.draw_pair_rows(data, count, np.random.default_rng(0))
    return data.factors(first), data.factors(second)


def test_the_named_factors_differ_and_all_others_are_the_same(toy):
    one, two = drawn(Views(("y",)), toy)
    assert (one[:, 1] != two[:, 1]).all()
    np.testing.assert_array_equal(one[:, [0, 2]], two[:, [0, 2]])


def test_of_several_factors_at_least_one_differs(toy):
    one, two = drawn(Views(("x", "side")), toy, 3000)
    np.testing.assert_array_equal(one[:, 1], two[:, 1])
    differs = one != two
    assert (differs[:, 0] | differs[:, 2]).all()
    # Of 16 × 4 combinations all others are as likely: 15 of 63 keep the side, 3 of 63 keep x.
    assert (~differs[:, 2]).mean() == pytest.approx(15 / 63, abs=0.03)
    assert (~differs[:, 0]).mean() == pytest.approx(3 / 63, abs=0.02)


def test_the_view_is_what_is_called_so_else_the_first_factor_with_an_order(toy):
    assert Views().names(toy) == ("x",)
    assert Views().names(load_data("toy_shapes"))[0] != "shape"
    rows = np.arange(24)
    factors = {"kind": rows % 3, "Camera": rows // 3 % 2, "step": rows // 6}
    assert Views().names(own(**factors)) == ("Camera",)


def test_images_with_one_id_are_views_of_one_content():
    rows = np.arange(24)
    data = own(pair=rows // 4, place=rows % 4)
    assert Views().names(data) == ()
    first, second = Views().draw_pair_rows(data, 200, np.random.default_rng(0))
    np.testing.assert_array_equal(first // 4, second // 4)
    assert (first != second).all()
    assert len(np.unique(second[first == first[0]])) > 1, "any other view, not always the same"
    one, two = drawn(Views(("place",)), own(kind=rows // 4, place=rows % 4))
    np.testing.assert_array_equal(one[:, 0], two[:, 0])


def test_contents_without_a_second_view_are_passed_over():
    data = own(4, kind=np.array([0, 0, 1, 2]), view=np.array([0, 1, 0, 1]))
    one, two = drawn(Views(), data, 50)
    assert set(one[:, 0]) == {0}
    np.testing.assert_array_equal(np.sort([one[:, 1], two[:, 1]], axis=0), [[0] * 50, [1] * 50])


def test_data_without_views_are_refused_with_lines_of_a_table():
    for data in (own(), own(same=np.zeros(24, dtype=np.int64))):
        with pytest.raises(DataError, match=r"[^\n]*\n    file,pair\n    left.png,7"):
            Views().check(data)
    with pytest.raises(ValueError, match="Did you mean 'place'"):
        Views(("plac",)).check(own(place=np.arange(24) % 4))
