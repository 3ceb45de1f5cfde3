"""Rows in groups: those of one group side by side, found at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class RowGroups:
    """Rows sorted by the group they belong to."""

    order: Rows
    """Rows, those of a group side by side."""
    starts: Rows
    """(group,): where each begins in `order`."""
    counts: Rows
    """(group,): how many rows it has."""

    @classmethod
    def of(cls, group_of_row: Rows, groups: int = 0) -> "RowGroups":
        """Sort rows by the numbers of their groups, of which there are at least so many.

        Rows with a negative number belong to none.
        """
        known = group_of_row >= 0
        order = np.argsort(group_of_row, kind="stable")[len(known) - int(known.sum()) :]
        counts = np.bincount(group_of_row[known], minlength=groups)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        return cls(order, starts, counts)

    def __len__(self) -> int:
        return len(self.starts)

    def draw(self, groups: Rows, size: int, rng: np.random.Generator) -> Rows:
        """Draw rows of each group with replacement, (group, row)."""
        within = (rng.random((len(groups), size)) * self.counts[groups, None]).astype(np.int64)
        return self.order[self.starts[groups, None] + within]
