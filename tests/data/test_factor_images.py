"""The interface of a data set: rows and factors, sampling, splitting."""

import numpy as np
import pytest

from unweave.data import Factor, FactorImages, from_arrays
from unweave.data._pixels import BitPixels, BytePixels, FloatPixels, SelectedPixels
from unweave.errors import ConfigError, DataError

SIZES = (2, 3, 4)


def numbered(count: int) -> BytePixels:
    """Images of 2 × 2 whose first pixel is their row."""
    images = np.zeros((count, 2, 2), dtype=np.uint8)
    images[:, 0, 0] = np.arange(count)
    return BytePixels(images)


@pytest.fixture
def grid():
    factors = [Factor(name, size) for name, size in zip("abc", SIZES, strict=True)]
    return FactorImages("grid", numbered(24), factors)


@pytest.fixture
def table():
    """Three combinations of two factors, the last of them three times."""
    rows = np.array([[5, 0], [5, 1], [7, 1], [7, 1], [7, 1]])
    return FactorImages("table", numbered(5), [Factor("a", 8), Factor("b", 2)], rows)


def row_numbers(data, rows):
    return np.rint(data.images(rows)[:, 0, 0, 0] * 255).astype(int).tolist()


def test_the_last_factor_of_a_grid_varies_fastest(grid):
    assert grid.is_grid
    assert grid.factors([0, 1, 4, 12]).tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    np.testing.assert_array_equal(grid.rows_of(grid.factors()), np.arange(24))


@pytest.mark.parametrize("wrong", [[[0, 3, 0]], [[-1, 0, 0]], [[0, 0, 4]]])
def test_factors_outside_a_grid_are_refused(grid, wrong):
    with pytest.raises(DataError, match=r"has values 0 to \d, found"):
        grid.rows_of(wrong)


@pytest.mark.parametrize(
    "wrong", [[[0, 0.5, 0]], [[0, np.nan, 0]], [["0", "0", "0"]], [[0, 0]], [0, 0, 0]]
)
def test_what_cannot_be_factors_is_refused(grid, wrong):
    with pytest.raises(DataError, match=r"whole|finite|expected factors"):
        grid.rows_of(wrong)


def test_rows_of_a_table_are_found(table):
    assert not table.is_grid
    assert table.rows_of([[7, 1], [5, 1], [5, 0]]).tolist() == [2, 1, 0]


def test_rows_with_the_same_factors_are_drawn_evenly(table, rng):
    rows = table.rows_of(np.tile([[7, 1]], (3000, 1)), rng)
    counts = np.bincount(rows, minlength=5)
    assert counts[:2].tolist() == [0, 0]
    assert (abs(counts[2:] - 1000) < 150).all()


def test_factors_missing_from_a_table_are_named(table):
    with pytest.raises(DataError, match="table holds no image with a=7, b=0"):
        table.rows_of([[5, 0], [7, 0]])
    with pytest.raises(DataError, match="a=7, b=0"):
        table.sample_rows(3, np.random.default_rng(0), {"a": 7, "b": 0})


def test_rows_of_continuous_factors_are_found():
    data = from_arrays(np.zeros((3, 2, 2), np.uint8), {"angle": [0.25, 0.5, 0.125]})
    assert data.rows_of([[0.125], [0.25]]).tolist() == [2, 0]


def test_a_set_without_factors_says_so():
    data = FactorImages("plain", numbered(3))
    assert data.factors().shape == (3, 0)
    assert not data.is_grid
    assert "no factors" in repr(data)
    with pytest.raises(DataError, match="no factors"):
        data.rows_of(np.zeros((1, 0)))
    with pytest.raises(ConfigError, match="no factor of plain named 'x'"):
        data.sample_rows(1, np.random.default_rng(0), {"x": 1})


def test_sampling_covers_exactly_the_rows_that_match(grid, table, rng):
    assert set(grid.sample_rows(2000, rng).tolist()) == set(range(24))
    fixed = set(grid.sample_rows(500, rng, {"b": 2, "c": 1}).tolist())
    assert fixed == {9, 21}
    assert set(table.sample_rows(500, rng, {"a": 7}).tolist()) == {2, 3, 4}
    assert set(table.sample_rows(500, rng, {"b": 1}).tolist()) == {1, 2, 3, 4}


@pytest.mark.parametrize("value", [3, -1, 0.5])
def test_sampling_refuses_values_outside_a_grid(grid, rng, value):
    with pytest.raises(DataError, match="b has values 0 to 2"):
        grid.sample_rows(4, rng, {"b": value})


def test_sampling_refuses_unknown_factors(grid, rng):
    with pytest.raises(ConfigError, match="no factor of grid named 'q'"):
        grid.sample_rows(4, rng, {"q": 0})


def test_a_split_is_disjoint_and_covers_everything(grid):
    train, held_out = grid.split(0.25, seed=3)
    rows = row_numbers(train, np.arange(18)) + row_numbers(held_out, np.arange(6))
    assert sorted(rows) == list(range(24))
    again = grid.split(0.25, seed=3)[1]
    other = grid.split(0.25, seed=4)[1]
    assert row_numbers(again, np.arange(6)) == row_numbers(held_out, np.arange(6))
    assert row_numbers(other, np.arange(6)) != row_numbers(held_out, np.arange(6))


@pytest.mark.parametrize("share", [0, 1, -0.5, 0.001, 0.999])
def test_a_split_with_an_empty_part_is_refused(grid, share):
    with pytest.raises(DataError, match="share"):
        grid.split(share)


def test_a_subset_keeps_images_and_factors_together(grid):
    part = grid.subset([20, 3, 3, 7])
    assert len(part) == 4
    assert row_numbers(part, [0, 1, 2, 3]) == [20, 3, 3, 7]
    np.testing.assert_array_equal(part.factors(), grid.factors([20, 3, 3, 7]))
    assert part.rows_of(grid.factors([7])).tolist() == [3]


def test_a_subset_of_a_subset_reads_the_images_directly(grid):
    part = grid.subset(np.arange(10, 20)).subset([9, 0])
    assert row_numbers(part, [0, 1]) == [19, 10]
    assert isinstance(part.pixels, SelectedPixels)
    assert part.pixels.pixels is grid.pixels


@pytest.mark.parametrize("rows", [[24], [-1], [0.5], [[0]], 3])
def test_rows_that_do_not_exist_are_refused(grid, rows):
    with pytest.raises(DataError, match="row"):
        grid.images(rows)
    with pytest.raises(DataError, match="row"):
        grid.factors(rows)


def test_a_set_must_match_its_factors():
    with pytest.raises(DataError, match=r"5 images, but its factors .* have 6 combinations"):
        FactorImages("bad", numbered(5), [Factor("a", 2), Factor("b", 3)])
    with pytest.raises(DataError, match="found a table of shape"):
        FactorImages("bad", numbered(5), [Factor("a", 2)], np.zeros((4, 1), dtype=int))
    with pytest.raises(DataError, match="no image"):
        FactorImages("bad", numbered(0))


def test_bits_and_bytes_give_the_same_images(rng):
    images = rng.integers(0, 2, (7, 5, 64)).astype(np.uint8)
    words = np.packbits(images, axis=-1, bitorder="little").view("<u8")[..., 0]
    rows = np.array([6, 0, 3, 3])
    np.testing.assert_array_equal(
        BitPixels(words).gather(rows, rng), BytePixels(images, white=1).gather(rows, rng)
    )


def test_channels_first_and_last_give_the_same_images(rng):
    images = rng.integers(0, 256, (7, 5, 6, 3)).astype(np.uint8)
    rows = np.array([6, 0])
    last = BytePixels(images)
    first = BytePixels(images.transpose(0, 3, 1, 2), channels_first=True)
    assert last.shape == first.shape == (3, 5, 6)
    np.testing.assert_array_equal(last.gather(rows, rng), first.gather(rows, rng))
    np.testing.assert_allclose(last.gather(rows, rng)[0, 2], images[6, :, :, 2] / 255, atol=1e-7)


def test_real_numbers_are_handed_out_as_float32(rng):
    images = rng.random((4, 1, 2, 2))
    pixels = FloatPixels(images).gather(np.array([1]), rng)
    assert pixels.dtype == np.float32
    np.testing.assert_allclose(pixels[0], images[1], atol=1e-7)


def test_arrays_that_cannot_be_pixels_are_refused():
    with pytest.raises(DataError, match="uint8"):
        BytePixels(np.zeros((3, 4, 4)))
    with pytest.raises(DataError, match="uint64"):
        BitPixels(np.zeros((3, 4), dtype=np.int64))
