"""The best cut of every node of many trees at once, as good as trying every threshold.

A node of a regression tree is cut where it removes most squared error. Over the n rows of a
node, sorted by a code, let S_i be the sum of the first i residuals: a cut after row i removes

    (S_i - i S_n / n)² n / (i (n - i))

Trees of several classes share the codes and differ in residuals and in rows. So the sorted rows
of each code are parted into blocks once. The sums of residuals over blocks, of all classes and
nodes, come from one pass over the rows; they tell S at the ends of every block. Only rows of the
class itself have positive residuals. If they sum to P within a block, S lies between the values
that follow when they come first and when they come last, which bounds what a cut inside the
block can remove. Only blocks whose bound exceeds the best cut found are looked at row by row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.row_sums import RowSums

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

ROWS_PER_BLOCK = 40
"""Fewer make more blocks to sum, more make longer blocks to look through."""

MOST_SUMS = 32_768
"""Blocks of all codes together; the blocks of hundreds of codes hold more rows."""

CODES_LOOKED_INTO = 48
"""Of many codes, those that are looked at row by row: the best by the ends of their blocks."""

LOOKS = 3
"""How often the most promising block of each code is looked into, before all that remain."""

SMALLEST = 1e-9
"""A cut that removes less is none."""


class SortedCodes:
    """Codes over training rows, sorted once and parted into blocks; other rows placed among them.

    Rows are numbered: first the training rows, then one that stands for no row, then the others.
    """

    def __init__(self, x: NDArray[np.float64], others: NDArray[np.float64]) -> None:
        self.rows, self.codes = x.shape
        self.nothing = self.rows
        some = self.codes > CODES_LOOKED_INTO  # the ends of blocks decide which
        rows_per_block = ROWS_PER_BLOCK // 4 if some else ROWS_PER_BLOCK
        wished = max(min(self.rows // rows_per_block, MOST_SUMS // self.codes), 16)
        columns = [_sorted_column(x[:, code], wished) for code in range(self.codes)]
        self.blocks = max(len(column.edges) - 1 for column in columns)
        widest = max(column.widths.max() for column in columns)
        shape = (self.codes, self.blocks)
        self.ranks = np.full((self.codes, self.rows + 1 + len(others)), -1, dtype=_whole(self.rows))
        """Each row's place among the distinct values of a code, (code, row)."""
        self.cell = np.empty((self.rows, self.codes), dtype=np.int64)
        """Code and block of each training row in one number, (row, code)."""
        self.windows = np.full((*shape, widest), self.nothing, dtype=np.int32)
        """The rows of each block, right-aligned; of a block of one value the last row only."""
        self.cuttable = np.zeros((*shape, widest), dtype=bool)
        """Whether another value follows."""
        sizes = np.zeros(shape, dtype=np.int64)
        order = np.empty((self.codes, self.rows), dtype=np.int32)
        for code, column in enumerate(columns):
            order[code] = column.order
            self.ranks[code, column.order] = column.rank
            self.ranks[code, self.rows + 1 :] = column.rank_of(others[:, code])
            count = len(column.edges) - 1
            sizes[code, :count] = np.diff(column.edges)
            block = np.repeat(np.arange(count), sizes[code, :count])
            self.cell[column.order, code] = code * self.blocks + block
            place = column.edges[1:, None] + np.arange(-widest, 0)
            inside = place >= (column.edges[1:] - column.widths)[:, None]
            place = np.maximum(place, 0)
            self.windows[code, :count] = np.where(inside, column.order[place], self.nothing)
            self.cuttable[code, :count] = inside & column.ends_value[place]
        self.counts = np.zeros((self.codes, self.blocks + 1), dtype=np.float32)
        """Training rows before each edge of blocks, (code, edge)."""
        np.cumsum(sizes, axis=1, out=self.counts[:, 1:])
        self._sums = RowSums(order.ravel(), sizes)

    def sums(self, table: Floats) -> Floats:
        """Sum (column, row) up to each edge of blocks: (column, code, edge)."""
        return self._sums.running(table)


def _whole(rows: int) -> type[np.signedinteger[Any]]:
    """Return the smallest whole numbers that hold the ranks of rows."""
    return np.int16 if rows < np.iinfo(np.int16).max else np.int32


@dataclass(frozen=True)
class _SortedColumn:
    order: NDArray[np.int64]
    rank: NDArray[np.int64]
    """Among distinct values, in sorted order."""
    values: NDArray[np.float64]
    ends_value: NDArray[np.bool_]
    edges: NDArray[np.int64]
    """Where blocks begin, and the end."""
    widths: NDArray[np.int64]
    """Rows of each block that are to be looked at."""

    def rank_of(self, column: NDArray[np.float64]) -> NDArray[np.int64]:
        """Place other values among the distinct ones, halfway between neighbours."""
        return np.searchsorted((self.values[1:] + self.values[:-1]) / 2, column, side="left")


def _sorted_column(column: NDArray[np.float64], wished: int) -> _SortedColumn:
    """Sort a code and part its rows into blocks: one per value, or of equal counts."""
    rows = len(column)
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    rank = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    last = np.append(first[1:], rows)
    if len(first) > wished:
        at = rank[np.arange(wished) * rows // wished]
        # A value of many rows is a block of its own.
        repeated = at[last[at] - first[at] > max(rows // wished // 2, 1)]
        starts = np.unique(np.concatenate([first[at], last[repeated]]))
        starts = starts[starts < rows]
    else:
        starts = first
    edges = np.append(starts, rows)
    single = rank[edges[1:] - 1] == rank[edges[:-1]]
    return _SortedColumn(
        order,
        rank,
        ordered[first],
        np.append(begins[1:], False),
        edges,
        np.where(single, 1, np.diff(edges)),
    )


@dataclass(frozen=True)
class Nodes:
    """Nodes of the trees of some classes, and what is known of their rows."""

    tree: Places
    """The tree that each node belongs to."""
    leaf: NDArray[np.int8]
    """The node's number within its tree."""
    residual: Floats
    """(tree, row); zero for other rows and for no row."""
    leaf_of: NDArray[np.int8]
    """(tree, row); below zero for no row."""
    positive: Places
    """Training rows with a positive residual in one of the trees."""
    of_node: Places
    """The node that each of them lies in, of the tree in which it is positive."""
    size: Floats
    """Their residuals there."""


@dataclass(frozen=True)
class Cuts:
    """For each node a code, the last rank that goes left, and the squared error removed."""

    code: Places
    rank: NDArray[np.signedinteger[Any]]
    gain: NDArray[np.float64]


def best_cuts(codes: SortedCodes, sums: Floats, counts: Floats, nodes: Nodes) -> Cuts:
    """Find the cut of each node that removes most squared error.

    `sums` of residuals and `counts` of rows are (node, code, edge), before each edge of blocks.
    """
    search = _Search(codes, sums, counts, nodes)
    search.look_into(*search.most_promising())
    for _ in range(LOOKS):
        search.look_into(*search.promising_of_codes())
    search.look_into(*search.promising())
    found = search.best > SMALLEST
    rank = codes.ranks[search.code, search.row]
    return Cuts(
        search.code,
        np.where(found, rank, np.iinfo(rank.dtype).max),
        np.where(found, search.best, 0.0),
    )


class _Search:
    """What is known of the best cuts so far."""

    def __init__(self, codes: SortedCodes, sums: Floats, counts: Floats, nodes: Nodes) -> None:
        self.codes, self.nodes = codes, nodes
        nodes_count, total = len(sums), codes.codes
        self.rows = counts[:, 0, -1]
        self.mean = (sums[:, 0, -1] / np.maximum(self.rows, 1)).astype(np.float32)
        # Sums less what as many average rows have: zero at both ends.
        centred: Floats = counts * self.mean[:, None, None]
        np.subtract(sums, centred, out=centred)
        gains = _gain(centred, counts, self.rows[:, None, None])
        if total > CODES_LOOKED_INTO:
            best = np.argpartition(-gains.max(axis=2), CODES_LOOKED_INTO - 1, axis=1)
            self.chosen = best[:, :CODES_LOOKED_INTO]
            place = self.chosen[:, :, None]
            centred = np.take_along_axis(centred, place, axis=1)
            counts = np.take_along_axis(counts, place, axis=1)
            gains = np.take_along_axis(gains, place, axis=1)
        else:
            self.chosen = np.broadcast_to(np.arange(total), (nodes_count, total))
        self.centred, self.counts = centred, counts
        self.bound = self._bounds(gains)
        self.best = np.zeros(nodes_count)
        self.code = np.zeros(nodes_count, dtype=np.int64)
        self.row = np.zeros(nodes_count, dtype=np.int64)

    def _bounds(self, gains: Floats) -> Floats:
        """Bound what cuts in each block remove, (node, code, block)."""
        nodes, codes = self.nodes, self.codes
        count, width, blocks = gains.shape[0], gains.shape[1], codes.blocks
        cell = codes.cell[nodes.positive]
        if width < codes.codes:
            chosen = self.chosen[nodes.of_node]
            cell = np.take_along_axis(cell, chosen, axis=1)
            cell += (np.arange(width) - chosen) * blocks
        cell += (nodes.of_node * (width * blocks))[:, None]
        sizes = np.repeat(nodes.size, width)
        sums = np.bincount(cell.ravel(), sizes, count * width * blocks)
        positive = sums.astype(np.float32).reshape(count, width, blocks)
        bound = np.maximum(gains[..., 1:], gains[..., :-1])
        # A positive residual is at most one, so at least as many rows have them as they sum to.
        rise = positive * (1 - self.mean)[:, None, None]
        rows = self.rows[:, None, None]
        early = _gain(self.centred[..., :-1] + rise, self.counts[..., :-1] + positive, rows)
        np.maximum(bound, early, out=bound)
        late = _gain(self.centred[..., 1:] - rise, self.counts[..., 1:] - positive, rows)
        return np.maximum(bound, late, out=bound)

    def most_promising(self) -> tuple[Places, Places, Places]:
        """Return nodes, codes and the block of largest bound of each node."""
        place = self.bound.reshape(len(self.bound), -1).argmax(axis=1)
        which, block = np.divmod(place, self.bound.shape[2])
        return np.arange(len(self.bound)), which, block

    def promising_of_codes(self) -> tuple[Places, Places, Places]:
        """Return nodes, codes and the blocks of largest bound, where it exceeds the best cut."""
        block = self.bound.argmax(axis=2)
        largest = np.take_along_axis(self.bound, block[:, :, None], axis=2)[:, :, 0]
        node, code = np.nonzero(largest > (self.best + SMALLEST)[:, None])
        return node, code, block[node, code]

    def promising(self) -> tuple[Places, ...]:
        """Return nodes, codes and blocks that may hold a better cut."""
        return np.nonzero(self.bound > (self.best + SMALLEST)[:, None, None])

    def look_into(self, node: Places, which: Places, block: Places) -> None:
        """Try every cut in blocks of nodes, and keep the best of each node."""
        if not len(node):
            return
        nodes, codes = self.nodes, self.codes
        self.bound[node, which, block] = 0.0
        code = self.chosen[node, which]
        flat = code * codes.blocks + block
        rows = codes.windows.reshape(-1, codes.windows.shape[2])[flat]
        cuttable = codes.cuttable.reshape(-1, codes.windows.shape[2])[flat]
        place = rows + (nodes.tree[node] * nodes.residual.shape[1])[:, None]
        inside = nodes.leaf_of.ravel().take(place) == nodes.leaf[node, None]
        centred = nodes.residual.ravel().take(place)
        centred -= self.mean[node, None]
        centred *= inside
        # Sums from the block's end backwards, of the rows that lie behind a cut.
        behind = np.zeros((2, *rows.shape), dtype=np.float32)
        np.cumsum(centred[:, :0:-1], axis=1, out=behind[0, :, -2::-1])
        np.cumsum(inside[:, :0:-1], axis=1, out=behind[1, :, -2::-1])
        np.subtract(self.centred[node, which, block + 1][:, None], behind[0], out=behind[0])
        np.subtract(self.counts[node, which, block + 1][:, None], behind[1], out=behind[1])
        gains = _gain(behind[0], behind[1], self.rows[node, None])
        gains *= cuttable
        best = gains.argmax(axis=1)
        each = np.arange(len(node))
        gain, row = gains[each, best], rows[each, best]
        # Best last, so that it is what stays of a node.
        order = np.flatnonzero(gain > self.best[node])
        order = order[np.argsort(gain[order], kind="stable")]
        self.best[node[order]] = gain[order]
        self.code[node[order]] = code[order]
        self.row[node[order]] = row[order]


def _gain(centred: Floats, count: Floats, rows: Floats) -> Floats:
    """Return the squared error that a cut with these sums and counts on its left removes."""
    spread = rows - count
    spread *= count
    np.maximum(spread, 0.5, out=spread)  # where a side is empty nothing is removed
    gain = centred * centred
    gain *= rows
    gain /= spread
    return gain
