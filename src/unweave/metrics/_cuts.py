"""The best cut of every node of many trees at once, as good as trying every threshold.

A node of a regression tree is cut where it removes most squared error. Over the n rows of a
node, sorted by a code, let S_i be the sum of the first i residuals: a cut after row i removes

    (S_i - i S_n / n)² n / (i (n - i))

Trees of several classes share the codes and differ in residuals and in rows. So the sorted rows
of each code are parted into blocks once. The sums of residuals over blocks, of all classes and
nodes, come from one pass over the rows; they tell S at the ends of every block. Only rows of the
class itself have positive residuals. If these sum to P within a block, and the others to -N, S
lies between the values that follow when all positive or all negative ones come first or last,
which bounds what a cut inside the block can remove. Only blocks whose bound exceeds the best cut
at an edge are looked at row by row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.row_sums import RowSums, running_along

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

ROWS_PER_BLOCK = 40
"""Fewer make more blocks to sum, more make longer blocks to look through."""

BLOCKS = 70
"""Blocks of a code that small tables have, whose blocks hold fewer rows."""

LEAST_ROWS_PER_BLOCK = 16

MOST_SUMS = 32_768
"""Blocks of all codes together; the blocks of hundreds of codes hold more rows."""

EVERY_CODE = 48
"""Up to so many codes, each is looked at row by row."""

CODES_LOOKED_INTO = 8
"""Of more codes, those that are: the best by the ends of their blocks."""

NO_BETTER = np.float32(1.00005)
"""Blocks that may only hold cuts which remove so little more are not looked into."""

NUMBERS_TOGETHER = 16_384
"""Sums of nodes that are looked at at a time: more do not stay in the cache."""

SMALLEST = 1e-9
"""A cut that removes less is none."""


class SortedCodes:
    """Codes over training rows, sorted once and parted into blocks; other rows placed among them.

    Rows are numbered: first the training rows, then one that stands for no row, then the others.
    """

    def __init__(self, x: NDArray[np.float64], others: NDArray[np.float64]) -> None:
        self.rows, self.codes = x.shape
        self.nothing = self.rows
        some = self.codes > EVERY_CODE  # the ends of blocks decide which
        rows_per_block = min(max(self.rows // BLOCKS, LEAST_ROWS_PER_BLOCK), ROWS_PER_BLOCK)
        if some:
            rows_per_block = ROWS_PER_BLOCK // 4
        wished = max(min(self.rows // rows_per_block, MOST_SUMS // self.codes), 16)
        columns = [_sorted_column(x[:, code], wished) for code in range(self.codes)]
        self.blocks = max(len(column.edges) - 1 for column in columns)
        widest = max(column.widths.max() for column in columns)
        shape = (self.codes, self.blocks)
        self.ranks = np.full((self.codes, self.rows + 1 + len(others)), -1, dtype=_whole(self.rows))
        """Each row's place among the distinct values of a code, (code, row)."""
        windows = np.full((*shape, widest), self.nothing)
        cuttable = np.zeros((*shape, widest), dtype=bool)
        sizes = np.zeros(shape, dtype=np.int64)
        order = np.empty((self.codes, self.rows), dtype=np.int32)
        for code, column in enumerate(columns):
            order[code] = column.order
            self.ranks[code, column.order] = column.rank
            self.ranks[code, self.rows + 1 :] = column.rank_of(others[:, code])
            count = len(column.edges) - 1
            sizes[code, :count] = np.diff(column.edges)
            place = column.edges[1:, None] + np.arange(-widest, 0)
            inside = place >= (column.edges[1:] - column.widths)[:, None]
            place = np.maximum(place, 0)
            windows[code, :count] = np.where(inside, column.order[place], self.nothing)
            cuttable[code, :count] = inside & column.ends_value[place]
        self.windows = windows.reshape(-1, widest)
        """The rows of each block, right-aligned; of a block of one value the last row only."""
        self.cuttable = cuttable.reshape(-1, widest)
        """Whether another value follows."""
        self.several_values: NDArray[np.bool_] = np.any(self.cuttable[:, :-1], axis=1)
        """Whether a block can be cut within."""
        self._sums = RowSums(order.ravel(), sizes)

    def sums(self, table: Floats) -> Floats:
        """Sum a table of (row, ...) over blocks: (..., code and block)."""
        return self._sums.of(table)


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
    most: Floats
    """No residual of a node's tree is larger; above zero."""
    least: Floats
    """No residual of a node's tree is smaller; below zero."""


@dataclass(frozen=True)
class Cuts:
    """For each node a code, the last rank that goes left, and the squared error removed."""

    code: Places
    rank: NDArray[np.signedinteger[Any]]
    gain: NDArray[np.float64]


def best_cuts(codes: SortedCodes, nodes: Nodes, blocks: Floats) -> Cuts:
    """Find the cut of each node that removes most squared error.

    `blocks` are sums over the rows of each node in each block, (3, node, code and block): of
    residuals, of rows and of positive residuals.
    """
    search = _Search(codes, nodes, blocks)
    together = max(NUMBERS_TOGETHER // blocks.shape[2], 1)
    parts = [slice(i, i + together) for i in range(0, blocks.shape[1], together)]
    nodes_left, cells, ends = zip(*map(search.look_at_ends, parts), strict=True)
    search.look_into(
        np.concatenate(nodes_left), np.concatenate(cells), np.concatenate(ends, axis=1)
    )
    gain = search.best * search.rows
    found = gain > SMALLEST
    rank = codes.ranks[search.code, search.row]
    rank[~found] = np.iinfo(rank.dtype).max
    gain *= found
    return Cuts(search.code, rank, gain)


class _Search:
    """What is known of the best cuts so far; gains are over the rows of their node."""

    def __init__(self, codes: SortedCodes, nodes: Nodes, blocks: Floats) -> None:
        self.codes, self.nodes, self.blocks = codes, nodes, blocks
        # Every row is in a block of the first code.
        total, self.rows = blocks[:2, :, : codes.blocks].sum(axis=2)
        self.mean = total / np.maximum(self.rows, 1)
        self.best = np.empty(len(total), dtype=np.float32)
        self.code = np.empty(len(total), dtype=np.int64)
        self.row = np.empty(len(total), dtype=np.int64)

    def look_at_ends(self, part: slice) -> tuple[Places, Places, Floats]:
        """Find the best cuts of some nodes at the ends of blocks.

        Returns nodes and blocks that may hold better ones, and the centred sums and the counts of
        rows at the ends of these.
        """
        codes, blocks = self.codes, self.blocks[:, part]
        mean, rows = self.mean[part, None], self.rows[part, None]
        inside = np.empty((2, *blocks.shape[1:]), dtype=np.float32)
        np.multiply(blocks[1], mean, out=inside[0])
        np.subtract(blocks[0], inside[0], out=inside[0])
        inside[1] = blocks[1]
        ends = running_along(inside.reshape(2, -1, codes.codes, codes.blocks)).reshape(inside.shape)
        gains = _gain(ends[0], ends[1], rows)
        each, cell = np.arange(len(gains)), gains.argmax(axis=1)
        self.best[part] = gains[each, cell]
        self.code[part] = cell // codes.blocks
        self.row[part] = codes.windows[cell, -1]
        cells = np.arange(gains.shape[1])[None]
        if codes.codes > EVERY_CODE:
            cells = self._cells_of_best_codes(gains)
            chosen = (slice(None), each[:, None], cells)
            blocks, ends, inside = blocks[chosen], ends[chosen], inside[chosen]
        most, least = self.nodes.most[part, None], self.nodes.least[part, None]
        bound = _bound(ends, inside, blocks, mean, rows, most, least)
        bound *= inside[1] > 1.5  # one row has no cut within
        bound *= codes.several_values[cells]
        promising = bound > (self.best[part] * NO_BETTER)[:, None]
        node, place = np.divmod(np.flatnonzero(promising), bound.shape[1])
        cell = np.broadcast_to(cells, bound.shape)[node, place]
        return node + part.start, cell, ends[:, node, place]

    def _cells_of_best_codes(self, gains: Floats) -> Places:
        """Return the blocks of the codes that are best at the ends of blocks, (node, block)."""
        by_code = gains.reshape(len(gains), self.codes.codes, -1).max(axis=2)
        beyond = self.codes.codes - CODES_LOOKED_INTO
        best = np.argpartition(by_code, beyond, axis=1)[:, beyond:, None]
        cells: Places = best * self.codes.blocks + np.arange(self.codes.blocks)
        return cells.reshape(len(gains), -1)

    def look_into(self, node: Places, cell: Places, ends: Floats) -> None:
        """Try every cut in blocks of nodes, and keep the best of each node.

        `ends` are the centred sums and the counts at the ends of the blocks.
        """
        if not len(node):
            return
        nodes, codes = self.nodes, self.codes
        rows = codes.windows.take(cell, axis=0)
        place = rows + (nodes.tree[node] * nodes.residual.shape[1])[:, None]
        # Of the block's rows, those of the node: what they add to the sum, and to the count.
        own = np.empty((2, *rows.shape), dtype=np.float32)
        np.equal(nodes.leaf_of.ravel().take(place), nodes.leaf[node, None], out=own[1])
        np.subtract(nodes.residual.ravel().take(place), self.mean[node, None], out=own[0])
        own[0] *= own[1]
        before = running_along(own)
        before += (ends - before[..., -1])[..., None]
        gains = _gain(before[0], before[1], self.rows[node, None])
        gains *= codes.cuttable.take(cell, axis=0)
        best = gains.argmax(axis=1)
        gain = gains[np.arange(len(node)), best]
        # Best last, so that it is what stays of a node.
        order = np.flatnonzero(gain > self.best[node])
        order = order[gain[order].argsort(kind="stable")]
        node, cell = node[order], cell[order]
        self.best[node] = gain[order]
        self.code[node] = cell // codes.blocks
        self.row[node] = rows[order, best[order]]


def _bound(
    ends: Floats,
    inside: Floats,
    blocks: Floats,
    mean: Floats,
    rows: Floats,
    most: Floats,
    least: Floats,
) -> Floats:
    """Bound what cuts in each block remove, (node, code and block).

    `ends` are centred sums and counts of rows up to the end of each block, `inside` those within.

    The sum of residuals rises furthest where the positive ones come first, or the negative ones
    last; it falls furthest where the negative ones come first, or the positive ones last. As no
    residual is above `most` or below `least`, so many rows are needed for it. What a cut removes
    is convex in sum and count: no order of rows removes more than one of these four, or an edge.
    """
    begins = ends - inside
    positive = blocks[2]
    negative = blocks[0] - positive
    np.minimum(negative, 0.0, out=negative)
    extremes = np.empty((2, 4, *positive.shape), dtype=np.float32)
    change = np.empty_like(begins)
    for first, part, furthest in ((0, positive, most), (1, negative, least)):
        np.multiply(part, 1 - mean / furthest, out=change[0])
        np.multiply(part, 1 / furthest, out=change[1])
        np.add(begins, change, out=extremes[:, first])
        np.subtract(ends, change, out=extremes[:, first + 2])
    return _gain(extremes[0], extremes[1], rows).max(axis=0)


def _gain(centred: Floats, count: Floats, rows: Floats) -> Floats:
    """Return what a cut with these sums and counts on its left removes, over the node's rows."""
    spread = rows - count
    spread *= count
    np.maximum(spread, 0.5, out=spread)  # where a side is empty nothing is removed
    gain = centred * centred
    gain /= spread
    return gain
