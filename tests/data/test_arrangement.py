"""Splits hold combinations out; correlations draw some more often, by either definition."""

import numpy as np
import pytest

from unweave.data import DataOptions, from_arrays, load_data
from unweave.data._arrangement import line_table
from unweave.errors import ConfigError


@pytest.fixture(scope="module")
def shapes():
    return load_data("toy_shapes")  # shape 3, side 9 to 13, x 13, y 13


def split(name, rule):
    return load_data(name, DataOptions(split=rule))


def test_a_rule_holds_out_the_rows_it_speaks_of(shapes):
    data = split("toy_shapes", "shape=square,x>0.5")
    shape, _, x, _ = shapes.factors().T
    np.testing.assert_array_equal(data.held_out, (shape == 0) & (x > 6))
    train, held_out = data.part("train"), data.part("held_out")
    assert len(train) + len(held_out) == len(data)
    assert set(map(tuple, train.factors())).isdisjoint(map(tuple, held_out.factors()))
    np.testing.assert_array_equal(held_out.row_numbers, np.flatnonzero(data.held_out))
    rows = [0, 5]
    np.testing.assert_array_equal(held_out.images(rows), data.images(held_out.row_numbers[rows]))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("side>11", lambda f: f[:, 1] > 2),  # by the number a label is
        ("side>=11", lambda f: f[:, 1] >= 2),
        ("side=11", lambda f: f[:, 1] == 2),
        ("side!=11", lambda f: f[:, 1] != 2),
        ("x<=0.5", lambda f: f[:, 2] <= 6),  # by the share of its range
        ("x < 0.5", lambda f: f[:, 2] < 6),
        ("shape!=cross", lambda f: f[:, 0] != 2),
        ("x>0.2,x<0.5", lambda f: (f[:, 2] > 2) & (f[:, 2] < 6)),
        (
            "shape=disc,x=0;shape=cross,y=1",
            lambda f: ((f[:, 0] == 1) & (f[:, 2] == 0)) | ((f[:, 0] == 2) & (f[:, 3] == 12)),
        ),
    ],
)
def test_comparisons_mean_what_they_say(shapes, rule, expected):
    np.testing.assert_array_equal(split("toy_shapes", rule).held_out, expected(shapes.factors()))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("form=square", "no factor or column of the data named 'form'"),
        ("shape=star", "shape has no value 'star'; expected square, disc, cross"),
        ("shape>square", "shape has no value 'square'|have no order"),
        ("shape>1", "have no order"),
        ("x>2", "holds no image out"),
        ("x>=0", "holds every image out"),
        ("x>0.5,", "expected a condition"),
        ("elements", "no split is called 'elements'; write a rule"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_explained(rule, message):
    with pytest.raises(ConfigError, match=message):
        split("toy_shapes", rule)


def test_the_published_splits_of_dsprites():
    plain = load_data("dsprites")
    shape, scale, angle, x, y = plain.factors().T
    degrees = 360 * angle / 39
    element = (
        (shape == 1)
        & (0.5 + 0.1 * scale > 0.6 + 1e-9)
        & (degrees > 120)
        & (degrees < 240)
        & (x / 31 > 0.66)
        & (y / 31 > 0.66)
    )
    for name, expected in (
        ("element", element),
        ("range", (shape == 0) & (x > 15)),
        ("extrapolation", x > 15),
    ):
        np.testing.assert_array_equal(split("dsprites", name).held_out, expected)
    with pytest.raises(ConfigError, match="Did you mean 'element'"):
        split("dsprites", "elements")


def test_the_published_splits_of_shapes3d():
    data = split("shapes3d", "element")
    held_out = data.factors(np.flatnonzero(data.held_out))
    assert [len(np.unique(column)) for column in held_out.T] == [2, 2, 2, 3, 1, 3]
    assert held_out.min(axis=0).tolist() == [8, 8, 8, 5, 1, 12]
    assert split("shapes3d", "range").held_out.mean() == pytest.approx(1 / 4 * 1 / 2)
    assert split("shapes3d", "extrapolation").held_out.mean() == pytest.approx(1 / 2)


def test_columns_and_continuous_factors_can_be_split_by():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 90, 40)
    data = from_arrays(
        rng.random((40, 4, 4)).astype(np.float32),
        {"angle": angle, "label": np.array(["a", "", "b", "a"] * 10)},
    )
    np.testing.assert_array_equal(data.arranged("angle>45").held_out, angle > 45)
    expected = np.tile([False, False, True, False], 10)
    np.testing.assert_array_equal(data.arranged("label!=a").held_out, expected)


def pair_table(data, weights, first, second):
    """Add the weights up over all other factors."""
    names = data.factor_names
    sizes = [data.factor_sizes[names.index(name)] for name in (first, second)]
    table = np.zeros(sizes)
    np.add.at(table, (data.column(first), data.column(second)), weights)
    return table


def test_gaussian_weights_are_the_published_formula(shapes):
    data = load_data("toy_shapes", DataOptions(correlate="x~y:0.1"))
    x, y = shapes.column("x") / 12, shapes.column("y") / 12
    expected = np.exp(-((x - y) ** 2) / (2 * 0.1**2))
    np.testing.assert_allclose(data.weights, expected / expected.sum())
    inverse = np.exp(-((x - (1 - y)) ** 2) / (2 * 0.1**2))
    np.testing.assert_allclose(data.inverse_weights, inverse / inverse.sum())
    named = load_data("toy_shapes", DataOptions(correlate="x~y:gauss:0.1"))
    np.testing.assert_array_equal(data.weights, named.weights)
    turned = load_data("toy_shapes", DataOptions(correlate="x~-y:0.1"))
    np.testing.assert_array_equal(turned.weights, data.inverse_weights)


def test_a_correlation_leaves_what_each_factor_does_alone_nearly_even(shapes):
    data = load_data("toy_shapes", DataOptions(correlate="x~y:0.2"))
    table = pair_table(data, data.weights, "x", "y")
    assert table.sum(axis=1)[3:-3].std() / table.mean() < 1
    np.testing.assert_allclose(np.bincount(shapes.column("shape"), data.weights), 1 / 3)


def test_several_pairs_multiply_and_one_factor_can_go_with_all(shapes):
    both = load_data("toy_shapes", DataOptions(correlate="x~y:0.1, side~x:0.2"))
    single = [
        load_data("toy_shapes", DataOptions(correlate=text)).weights
        for text in ("x~y:0.1", "side~x:0.2")
    ]
    product = single[0] * single[1]
    np.testing.assert_allclose(both.weights, product / product.sum())
    confounder = load_data("toy_shapes", DataOptions(correlate="side~all:0.2"))
    same = load_data("toy_shapes", DataOptions(correlate="side~shape:0.2,side~x:0.2,side~y:0.2"))
    np.testing.assert_allclose(confounder.weights, same.weights)


def test_a_line_is_thick_blurred_and_even_along_its_length():
    table = line_table(40, 32, 0.2)
    assert table.shape == (40, 32)
    np.testing.assert_allclose(table, table[::-1, ::-1], atol=1e-12)
    assert table[0, -1] == table[-1, 0] == 0
    along = table[np.arange(8, 32), (np.arange(8, 32) * 31 / 39).round().astype(int)]
    assert np.ptp(along) / along.mean() < 0.35
    assert (table > 0).mean() > (line_table(40, 32, 0.02) > 0).mean()
    np.testing.assert_array_equal(line_table(40, 32, 10), 1)  # a line wider than all


def test_a_line_in_the_data_is_that_table(shapes):
    data = load_data("toy_shapes", DataOptions(correlate="side~x:line:0.4"))
    expected = line_table(5, 13, 0.4)
    table = pair_table(data, data.weights, "side", "x")
    np.testing.assert_allclose(table, expected / expected.sum())
    turned = pair_table(data, data.inverse_weights, "side", "x")
    np.testing.assert_allclose(turned, table[:, ::-1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x~z:0.1", "no factor or column of the data named 'z'"),
        ("x-y:0.1", "expected a correlation such as"),
        ("x~y:wide", "must be a number above 0"),
        ("x~y:-1", "must be a number above 0"),
        ("x~y:curve:1", "definition of correlation"),
        ("x~x:1", "with itself"),
    ],
)
def test_a_correlation_that_cannot_be_read_is_explained(text, message):
    with pytest.raises(ConfigError, match=message):
        load_data("toy_shapes", DataOptions(correlate=text))


def test_rows_are_drawn_by_their_weights():
    data = load_data("toy_shapes", DataOptions(correlate="x~y:0.1"))
    rows = data.draw_rows(60_000, np.random.default_rng(0))
    found = np.bincount(rows, minlength=len(data)) / len(rows)
    table = pair_table(data, found, "x", "y")
    np.testing.assert_allclose(table, pair_table(data, data.weights, "x", "y"), atol=0.004)


def test_parts_of_a_correlated_set_follow_it_or_turn_it_around():
    data = load_data("toy_xys", DataOptions(correlate="x~y:0.1"))

    def correlation(part):
        return np.corrcoef(part.column("x"), part.column("y"))[0, 1]

    assert abs(correlation(data.part("all"))) < 0.01
    assert correlation(data.part("correlated")) > 0.8
    assert correlation(data.part("inverse")) < -0.8
    assert len(data.part("inverse")) == len(data)


def test_a_part_that_there_is_not_is_explained():
    data = load_data("toy_xys", DataOptions(split="x>0.5"))
    with pytest.raises(ConfigError, match="part of toy_xys"):
        data.part("inverse")
    with pytest.raises(ConfigError, match="part of toy_xys"):
        load_data("toy_xys").part("held_out")


def test_a_part_to_train_on_keeps_its_weights():
    data = load_data("toy_xys", DataOptions(split="side=5", correlate="x~y:0.1"))
    train = data.part("train")
    assert train.weights.sum() == pytest.approx(1)
    rows = train.draw_rows(2000, np.random.default_rng(0))
    assert np.corrcoef(train.column("x", rows), train.column("y", rows))[0, 1] > 0.8
    assert (train.column("side", rows) != 0).all()
    for part in train.split(0.3, seed=0):
        assert part.weights.sum() == pytest.approx(1)
