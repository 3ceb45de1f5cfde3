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

    def of(self, table: NDArray[np.float32], out: NDArray[np.float32]) -> None:
        """Sum a table of (row, ...) over groups: (..., group)."""
        import torch

        flat = torch.from_numpy(table.reshape(len(table), -1))
        sums = torch.embedding_bag(flat, self._index, self._starts)[0].numpy()
        out[...] = sums.T.reshape(out.shape)


def run_along(tables: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Add up along the last axis; `out` may be the tables themselves."""
    import torch

    torch.cumsum(torch.from_numpy(tables), -1, out=torch.from_numpy(out))


def sums_at(
    places: NDArray[np.int64], values: NDArray[np.float32], size: int
) -> NDArray[np.float32]:
    """Sum the values of each row of a table that share a place: (row, place)."""
    import torch

    sums = torch.zeros(len(places), size)
    sums.scatter_add_(1, torch.from_numpy(places), torch.from_numpy(values))
    found: NDArray[np.float32] = sums.numpy()
    return found


def add_at(
    table: NDArray[np.float32], added: NDArray[np.float32], places: NDArray[np.int64]
) -> None:
    """Add to each value of a table that of its row of `added` which stands at its place."""
    import torch

    torch.from_numpy(table).add_(torch.from_numpy(added).gather(1, torch.from_numpy(places)))


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
