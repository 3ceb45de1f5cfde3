"""Sums over groups of rows."""

import numpy as np

from unweave.row_sums import RowSums


def test_running_sums_are_those_of_each_group_of_rows():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((40, 30)).astype(np.float32)  # more columns than are summed at once
    sizes = np.array([[10, 0, 20], [7, 22, 1]])
    index = np.concatenate([rng.permutation(30), rng.permutation(30)]).astype(np.int32)
    found = RowSums(index, sizes).running([table.T, 2 * table.T])
    assert found.shape == (2, 40, 2, 4)
    for code, order in enumerate((index[:30], index[30:])):
        ends = np.concatenate([[0], np.cumsum(sizes[code])])
        expected = np.stack([table[:, order[:end]].sum(axis=1) for end in ends], axis=1)
        np.testing.assert_allclose(found[0, :, code], expected, atol=1e-5)
        np.testing.assert_allclose(found[1, :, code], 2 * expected, atol=1e-5)
