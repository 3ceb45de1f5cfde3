"""Sums over groups of rows."""

import numpy as np

from unweave.row_sums import RowSums, running_along


def test_sums_are_those_of_each_group_of_rows():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((30, 2, 20)).astype(np.float32)
    sizes = np.array([[10, 0, 20], [7, 22, 1]])
    index = np.concatenate([rng.permutation(30), rng.permutation(30)]).astype(np.int32)
    found = RowSums(index, sizes).of(table)
    assert found.shape == (2, 20, 6)
    ends = np.cumsum(sizes.ravel())
    for group, (end, size) in enumerate(zip(ends, sizes.ravel(), strict=True)):
        expected = table[index[end - size : end]].sum(axis=0)
        np.testing.assert_allclose(found[..., group], expected, atol=1e-5)


def test_running_sums_add_up_along_the_last_axis():
    table = np.arange(12, dtype=np.float32).reshape(2, 6)
    np.testing.assert_array_equal(running_along(table), np.cumsum(table, axis=1))
