"""Sums over many groups of a table's rows, for all columns at once.

The scores work on plain tables; torch, which sums rows of a table many times faster than
numpy, is met here alone, and loaded when a sum is asked for.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray


class RowSums:
    """Groups of rows: `index` lists the rows of all groups, one group after the other."""

    def __init__(self, index: NDArray[np.int32], sizes: NDArray[np.int64]) -> None:
        import torch

        starts = np.concatenate([[0], np.cumsum(sizes.ravel())[:-1]])
        self._index = torch.from_numpy(index)
        self._starts = torch.from_numpy(starts.astype(np.int32))

    def of(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        """Sum a table of (row, ...) over groups: (..., group)."""
        import torch

        flat = torch.from_numpy(table.reshape(len(table), -1))
        sums = torch.embedding_bag(flat, self._index, self._starts)[0].numpy()
        return np.ascontiguousarray(sums.T).reshape(*table.shape[1:], -1)


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
