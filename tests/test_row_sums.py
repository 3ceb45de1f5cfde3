"""Sums over groups of rows."""

import numpy as np

from unweave.row_sums import RowSums, add_at, run_along, sums_at


def test_sums_are_those_of_each_group_of_rows():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((30, 2, 20)).astype(np.float32)
    sizes = np.array([[10, 0, 20], [7, 22, 1]])
    index = np.concatenate([rng.permutation(30), rng.permutation(30)]).astype(np.int32)
    found = np.empty((2, 20, 6), dtype=np.float32)
    RowSums(index, sizes).of(table, found)
    ends = np.cumsum(sizes.ravel())
    for group, (end, size) in enumerate(zip(ends, sizes.ravel(), strict=True)):
        expected = table[index[end - size : end]].sum(axis=0)
        np.testing.assert_allclose(found[..., group], expected, atol=1e-5)


def test_running_sums_add_up_along_the_last_axis():
    table = np.arange(12, dtype=np.float32).reshape(2, 6)
    expected = np.cumsum(table, axis=1)
    found = np.empty_like(table)
    run_along(table, found)
    np.testing.assert_array_equal(found, expected)
    run_along(table, table)  # in place
    np.testing.assert_array_equal(table, expected)


def test_values_are_summed_by_their_place_in_each_row_and_added_there():
    places = np.array([[0, 2, 2, 1], [3, 3, 3, 0]])
    values = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], dtype=np.float32)
    # Wider tables are given in part.
    sums = sums_at(np.repeat(places, 2, axis=1)[:, ::2], values, 4)
    assert sums.tolist() == [[1, 4, 5, 0], [8, 0, 0, 18]]
    table = np.ones((2, 4), dtype=np.float32)
    add_at(table, sums, places)
    assert table.tolist() == [[2, 6, 6, 5], [19, 19, 19, 9]]
