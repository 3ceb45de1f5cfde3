"""The best cut of every node of many trees at once, as good as trying every threshold.

A node of a regression tree is cut where it removes most squared error. Over the n rows of a
node, sorted by a code, let C_i be the sum of the first i residuals, less i times their mean: a
cut after row i removes

    C_i² n / (i (n - i))

Trees of several classes share the codes and differ in residuals and in rows. So the sorted rows
of each code are parted into blocks once. The sums of residuals over blocks, of all classes and
nodes, come from one pass over the rows; they tell C at the ends of every block. Only rows of the
class itself have positive residuals, whose sum tells how far C can rise or fall within a block:
this bounds what a cut inside can remove. Only blocks whose bound exceeds the best cut at an edge
are looked at row by row.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unweave.row_sums import RowSums, run_along

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

NUMBERS_TOGETHER = 32_768
"""Sums of nodes that are looked at at a time: more do not stay in the cache."""

ROWS_TOGETHER = 65_536
"""Rows of blocks that are looked at at a time."""

EMPTY_SIDE = 0.5
"""Stands for i (n - i) where one side of a cut has no rows. Nothing is removed there, though what
rounding leaves of the centred sum, over this, could seem to."""

SMALLEST = 1e-9
"""A cut that removes less is none."""


class Scratch:
    """Memory that every round uses anew: to ask the system for it each time takes longer."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> Any:
        """Return an array of whatever is in memory of this name."""
        size = math.prod(shape)
        flat = self._arrays.get(name)
        if flat is None or flat.size < size:
            flat = self._arrays[name] = np.empty(size, dtype=dtype)
        return flat[:size].reshape(shape)


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
        last = np.full(shape, self.nothing)
        sizes = np.zeros(shape, dtype=np.int64)
        order = np.empty((self.codes, self.rows), dtype=np.int32)
        for code, column in enumerate(columns):
            order[code] = column.order
            self.ranks[code, column.order] = column.rank
            self.ranks[code, self.rows + 1 :] = column.rank_of(others[:, code])
            count = len(column.edges) - 1
            sizes[code, :count] = np.diff(column.edges)
            place = (column.edges[1:] - column.widths)[:, None] + np.arange(widest)
            inside = place < column.edges[1:, None]
            place = np.minimum(place, self.rows - 1)
            last[code, :count] = column.order[column.edges[1:] - 1]
            windows[code, :count] = np.where(inside, column.order[place], self.nothing)
            cuttable[code, :count] = inside & column.ends_value[place]
        self.windows = windows.reshape(-1, widest)
        """The rows of each block; of a block of one value the last row only."""
        self.last = last.ravel()
        """The last row of each block."""
        self.cuttable = cuttable.reshape(-1, widest)
        """Whether another value follows."""
        self.several_values: NDArray[np.bool_] = np.any(self.windows[:, 1:] != self.nothing, axis=1)
        """Whether a block can be cut within."""
        self.repeated = any(len(column.values) < self.rows for column in columns)
        """Whether some value has several rows, between which there is no cut."""
        self._sums = RowSums(order.ravel(), sizes)

    def sums(self, table: Floats, out: Floats) -> None:
        """Sum positive residuals, rows and residuals of trees, (row, 3, tree), over blocks.

        Found are (4, tree, code and block): positive residuals and rows of a block, and residuals
        and rows up to its end.
        """
        self._sums.of(table, out[:3])
        self._run(out)

    def sums_of_children(self, parents: Floats, tables: Floats, out: Floats) -> None:
        """Sum tables of the rows that go left, and tell what they leave for the right children.

        Tables are (row, 3 or 6, tree): of the left one of two parents, then of both.
        """
        left = out[:, : parents.shape[1]]
        by_parent = left[:3].reshape(3, -1, tables.shape[2], left.shape[2]).swapaxes(0, 1)
        self._sums.of(tables, by_parent)
        if len(by_parent) > 1:
            by_parent[1] -= by_parent[0]
        self._run(left)
        np.subtract(parents, left, out=out[:, parents.shape[1] :])

    def _run(self, sums: Floats) -> None:
        """Add up rows and residuals of blocks to those up to their ends."""
        along = (-1, self.codes, self.blocks)
        run_along(sums[1].reshape(along), sums[3].reshape(along))
        run_along(sums[2].reshape(along), sums[2].reshape(along))


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


def best_cuts(codes: SortedCodes, nodes: Nodes, sums: Floats, scratch: Scratch) -> Cuts:
    """Find the cut of each node that removes most squared error.

    `sums` are over the rows of each node, (4, node, code and block), see `SortedCodes.sums`.
    """
    search = _Search(codes, nodes, sums, scratch)
    count, cells = sums.shape[1:]
    together = max(NUMBERS_TOGETHER // cells, 1)
    for first in range(0, count, together):
        search.look_at(slice(first, min(first + together, count)))
    gain = search.best * search.rows
    found = gain > SMALLEST
    rank = codes.ranks[search.code, search.row]
    rank[~found] = np.iinfo(rank.dtype).max
    gain *= found
    return Cuts(search.code, rank, gain)


class _Search:
    """What is known of the best cuts so far; gains are over the rows of their node."""

    def __init__(self, codes: SortedCodes, nodes: Nodes, sums: Floats, scratch: Scratch) -> None:
        self.codes, self.nodes, self.sums, self.scratch = codes, nodes, sums, scratch
        # Every row is in a block of the first code.
        total, self.rows = sums[2:, :, codes.blocks - 1]
        self.mean = total / np.maximum(self.rows, 1)
        self.best = np.empty(len(total), dtype=np.float32)
        self.code = np.empty(len(total), dtype=np.int64)
        self.row = np.empty(len(total), dtype=np.int64)

    def look_at(self, part: slice) -> None:
        """Find the best cuts of some nodes: at the ends of blocks, then where these leave hope."""
        codes = self.codes
        positive, inside, total, count = self.sums[:, part]
        mean, rows = self.mean[part, None], self.rows[part, None]
        # Centred sums and spreads are the same before a code's first block and after its last: so
        # what stands before a code's first block, the last of another code, is as good as nothing.
        ends = np.empty((2, positive.size + 1), dtype=np.float32)
        ends[:, 0] = 0.0, EMPTY_SIDE
        centred, spread = ends[:, 1:].reshape(2, *positive.shape)
        np.multiply(count, mean, out=centred)
        np.subtract(total, centred, out=centred)
        np.subtract(rows, count, out=spread)
        spread *= count
        np.maximum(spread, EMPTY_SIDE, out=spread)
        gains = np.square(centred)
        gains /= spread
        gains *= spread > EMPTY_SIDE
        each, cell = np.arange(len(gains)), gains.argmax(axis=1)
        best = gains[each, cell]
        self.best[part], self.code[part] = best, cell // codes.blocks
        self.row[part] = codes.last[cell]
        cells = None
        if codes.codes > EVERY_CODE:
            cells = self._cells_of_best_codes(gains)
            places = each[:, None] * gains.shape[1] + cells
            positive, inside, count = (a.ravel().take(places) for a in (positive, inside, count))
            ends = ends.take(np.append(0, places.ravel() + 1), axis=1)
        nodes, shape = self.nodes, positive.shape
        furthest = np.maximum(nodes.most[part, None] - mean, mean - nodes.least[part, None])
        reach = _reach(ends[0], positive, inside, mean)
        reach *= reach
        needed = _least_spread(ends[1], best[:, None], rows, furthest)
        needed *= (best * NO_BETTER)[:, None]
        promising = reach > needed
        promising &= inside > 1.5  # one row has no cut within
        promising &= codes.several_values if cells is None else codes.several_values[cells]
        found = np.flatnonzero(promising)
        node = found // shape[1]
        cell = found - node * shape[1] if cells is None else cells.ravel().take(found)
        before = np.empty((2, len(found)), dtype=np.float32)
        before[0] = ends[0].take(found)
        before[1] = count.ravel().take(found) - inside.ravel().take(found)
        node += part.start
        together = ROWS_TOGETHER // codes.windows.shape[1]
        for first in range(0, len(node), together):
            some = slice(first, first + together)
            self.look_into(node[some], cell[some], before[:, some])

    def _cells_of_best_codes(self, gains: Floats) -> Places:
        """Return the blocks of the codes that are best at the ends of blocks, (node, block)."""
        by_code = gains.reshape(len(gains), self.codes.codes, -1).max(axis=2)
        beyond = self.codes.codes - CODES_LOOKED_INTO
        best = np.argpartition(by_code, beyond, axis=1)[:, beyond:, None]
        cells: Places = best * self.codes.blocks + np.arange(self.codes.blocks)
        return cells.reshape(len(gains), -1)

    def look_into(self, node: Places, cell: Places, before: Floats) -> None:
        """Try every cut in blocks of nodes, and keep the best of each node.

        `before` are the centred sums and the counts where the blocks begin.
        """
        nodes, codes = self.nodes, self.codes
        place = codes.windows.take(cell, axis=0)
        place += (nodes.tree.take(node) * nodes.residual.shape[1])[:, None]
        # Of the block's rows, those of the node: what they add to the sum, and to the count.
        sums = self.scratch.array("rows of blocks", (2, *place.shape))
        centred, count = sums
        np.equal(nodes.leaf_of.ravel().take(place), nodes.leaf.take(node)[:, None], out=count)
        np.subtract(nodes.residual.ravel().take(place), self.mean.take(node)[:, None], out=centred)
        centred *= count
        sums[:, :, 0] += before
        run_along(sums, sums)
        spread = self.rows.take(node)[:, None] - count
        spread *= count
        np.maximum(spread, EMPTY_SIDE, out=spread)
        gains = np.square(centred, out=centred)
        gains /= spread
        gains *= spread > EMPTY_SIDE
        if codes.repeated:
            gains *= codes.cuttable.take(cell, axis=0)
        better = np.flatnonzero(gains > self.best.take(node)[:, None])
        gain, block = gains.ravel().take(better), better // gains.shape[1]
        np.maximum.at(self.best, node.take(block), gain)
        kept = np.flatnonzero(gain == self.best.take(node.take(block)))[::-1]  # the first stays
        block, better = block[kept], better[kept]
        node, cell = node[block], cell[block]
        self.code[node] = cell // codes.blocks
        self.row[node] = codes.windows[cell, better - block * gains.shape[1]]


def _reach(centred: Floats, positive: Floats, inside: Floats, mean: Floats) -> Floats:
    """Bound how far from zero centred sums can be in each block, (node, code and block).

    `centred` are those at the ends of blocks, after that before the first.

    Within a block they rise by no more than its positive residuals, and what a negative mean adds
    to each row. They are highest where all that rises comes first, and lowest where it comes last.
    """
    rise = np.multiply(inside, np.maximum(-mean, 0.0))
    rise += positive
    furthest = np.negative(centred[1:])
    np.maximum(furthest, centred[:-1], out=furthest)
    rise += furthest.reshape(rise.shape)
    return rise


def _least_spread(spread: Floats, best: Floats, rows: Floats, furthest: Floats) -> Floats:
    """Bound i (n - i) in each block where a cut is better than `best`, (node, code and block).

    `spread` are those at the ends of blocks; between these it is larger than at one of them. As
    no residual is further than `furthest` from the mean, C_i is at most that times i or n - i, so
    few rows on a side do not remove `best`.
    """
    least = np.minimum(spread[:-1], spread[1:]).reshape(len(rows), -1)
    few = best * rows / (furthest * furthest + best)
    return np.maximum(least, few * (rows - few), out=least)
