"""Sums over many groups of a table's rows, for all columns at once.

The scores work on plain tables; torch, which sums rows of a table many times faster than
numpy, is met here alone, and loaded when a sum is asked for.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

COLUMNS = 32
"""Columns summed at once; the rows of more do not stay in the cache."""


class RowSums:
    """Groups of rows: `index` lists the rows of all groups, one group after the other."""

    def __init__(self, index: NDArray[np.int32], sizes: NDArray[np.int64]) -> None:
        import torch

        starts = np.concatenate([[0], np.cumsum(sizes.ravel())[:-1]])
        self._index = torch.from_numpy(index)
        self._starts = torch.from_numpy(starts.astype(np.int32))
        self._shape = sizes.shape

    def running(self, tables: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        """Sum tables of (row, column) over groups and add up along the last axis of `sizes`.

        Returns (table, column, …, 1 + groups), beginning with zero.
        """
        import torch
        from torch.nn.functional import embedding_bag

        *before, groups = self._shape
        columns = tables[0].shape[1]
        found = np.zeros((len(tables), columns, *before, groups + 1), dtype=np.float32)
        for table, result in zip(tables, found, strict=True):
            for first in range(0, columns, COLUMNS):
                part = np.ascontiguousarray(table[:, first : first + COLUMNS])
                sums = embedding_bag(self._index, torch.from_numpy(part), self._starts, mode="sum")
                running = sums.reshape(*self._shape, -1).cumsum(-2).numpy()
                result[first : first + COLUMNS, ..., 1:] = np.moveaxis(running, -1, 0)
        return found


def running_along(tables: NDArray[np.float32]) -> NDArray[np.float32]:
    """Add up along the last axis."""
    import torch

    found: NDArray[np.float32] = torch.from_numpy(tables).cumsum(-1).numpy()
    return found


@contextmanager
def threads_left_alone() -> Iterator[None]:
    """Give torch back the threads it had, whatever threads of ours set within."""
    import torch

    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def sum_in_one_thread() -> None:
    """Let torch use no threads of its own in this thread."""
    import torch

    torch.set_num_threads(1)
