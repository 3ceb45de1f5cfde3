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

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.row_sums import RowSums, running_along

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

ROWS_PER_BLOCK = 40
"""Fewer make more blocks to sum, more make longer blocks to look through."""

MOST_SUMS = 32_768
"""Blocks of all codes together; the blocks of hundreds of codes hold more rows."""

EVERY_CODE = 48
"""Up to so many codes, each is looked at row by row."""

CODES_LOOKED_INTO = 8
"""Of more codes, those that are: the best by the ends of their blocks."""

LOOKS = (0, 1, 4, 16, sys.maxsize)
"""Of each node the most promising block is looked into first, then three more, and so on."""

NUMBERS_TOGETHER = 32_768
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
        rows_per_block = ROWS_PER_BLOCK // 4 if some else ROWS_PER_BLOCK
        wished = max(min(self.rows // rows_per_block, MOST_SUMS // self.codes), 16)
        columns = [_sorted_column(x[:, code], wished) for code in range(self.codes)]
        self.blocks = max(len(column.edges) - 1 for column in columns)
        widest = max(column.widths.max() for column in columns)
        shape = (self.codes, self.blocks)
        self.ranks = np.full((self.codes, self.rows + 1 + len(others)), -1, dtype=_whole(self.rows))
        """Each row's place among the distinct values of a code, (code, row)."""
        self.cell = np.empty((self.rows, self.codes), dtype=np.int32)
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

    def sums(self, tables: Sequence[Floats]) -> Floats:
        """Sum tables of (row, column) up to each edge of blocks: (table, column, code, edge)."""
        return self._sums.running(tables)


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
    node, code, block, bound = search.look_at_edges()
    # The best first: what they find leaves less to look into.
    order = np.lexsort((-bound, node))
    node, code, block, bound = node[order], code[order], block[order], bound[order]
    turn = np.arange(len(node)) - np.searchsorted(node, node)
    for begin, end in pairwise(LOOKS):
        now = (begin <= turn) & (turn < end) & (bound > search.best[node])
        search.look_into(node[now], code[now], block[now])
    gain = search.best * search.rows
    found = gain > SMALLEST
    rank = codes.ranks[search.code, search.row]
    return Cuts(
        search.code,
        np.where(found, rank, np.iinfo(rank.dtype).max),
        np.where(found, gain, 0.0),
    )


class _Search:
    """What is known of the best cuts so far; gains are over the rows of their node."""

    def __init__(self, codes: SortedCodes, sums: Floats, counts: Floats, nodes: Nodes) -> None:
        self.codes, self.nodes, self.sums, self.counts = codes, nodes, sums, counts
        self.rows = counts[:, 0, -1]
        self.mean = (sums[:, 0, -1] / np.maximum(self.rows, 1)).astype(np.float32)
        self.best = np.empty(len(sums), dtype=np.float32)
        self.code = np.empty(len(sums), dtype=np.int64)
        self.row = np.empty(len(sums), dtype=np.int64)
        # No residual of a tree is larger, or smaller; zero where a tree has nothing left to do.
        self._most = np.maximum(nodes.residual.max(axis=1), 1e-6)[nodes.tree]
        self._least = np.minimum(nodes.residual.min(axis=1), -1e-6)[nodes.tree]
        self._chosen: Places | None = None
        if codes.codes > EVERY_CODE:
            self._chosen = np.empty((len(sums), CODES_LOOKED_INTO), dtype=np.int64)

    def look_at_edges(self) -> tuple[Places, Places, Places, Floats]:
        """Find the best cuts at the edges of blocks.

        Returns nodes, codes and blocks that may hold better ones, and what these may remove.
        """
        together = max(NUMBERS_TOGETHER // self.sums[0].size, 1)
        parts = [slice(i, i + together) for i in range(0, len(self.sums), together)]
        for part in parts:
            self._keep_best_edges(part)
        positive = self._positive()
        found = zip(*(self._promising(part, positive[part]) for part in parts), strict=True)
        node, code, block, bound = (np.concatenate(each) for each in found)
        return node, code, block, bound

    def _keep_best_edges(self, part: slice) -> None:
        counts = self.counts[part]
        centred = _centred(self.sums[part], counts, self.mean[part, None, None])
        gains = _gain(centred, counts, self.rows[part, None, None])
        flat = gains.reshape(len(gains), -1)
        place = flat.argmax(axis=1)
        self.best[part] = flat[np.arange(len(flat)), place]
        self.code[part] = code = place // gains.shape[2]
        # The cut is behind the last row before the edge.
        last = np.maximum(place - code * gains.shape[2] - 1, 0)
        self.row[part] = self.codes.windows[code, last, -1]
        if self._chosen is not None:
            beyond = self.codes.codes - CODES_LOOKED_INTO
            most = np.argpartition(gains.max(axis=2), beyond, axis=1)
            self._chosen[part] = most[:, beyond:]

    def _positive(self) -> NDArray[np.float64]:
        """Sum the positive residuals in blocks, (node, code, block), of the codes looked into."""
        codes, nodes = self.codes, self.nodes
        if self._chosen is None:
            width = codes.codes
            cell = codes.cell[nodes.positive]
        else:
            width = CODES_LOOKED_INTO
            chosen = self._chosen[nodes.of_node]
            cell = codes.cell[nodes.positive[:, None], chosen]
            cell -= (chosen - np.arange(width)) * codes.blocks
        shape = (len(self.sums), width, codes.blocks)
        place = cell + (nodes.of_node * (width * codes.blocks))[:, None]
        sizes = np.repeat(nodes.size.astype(np.float64), width)
        found: NDArray[Any] = np.bincount(place.ravel(), sizes, math.prod(shape))
        return found.reshape(shape)

    def _promising(
        self, part: slice, positive: NDArray[np.float64]
    ) -> tuple[Places, Places, Places, Floats]:
        """Return nodes, codes and blocks that may hold better cuts, and what these may remove."""
        sums, counts = self.sums[part], self.counts[part]
        chosen = None if self._chosen is None else self._chosen[part]
        if chosen is not None:
            sums, counts = (
                np.take_along_axis(each, chosen[:, :, None], axis=1) for each in (sums, counts)
            )
        bound = _bound(
            sums,
            counts,
            positive.astype(np.float32),
            self.mean[part, None, None],
            self.rows[part, None, None],
            self._most[part, None, None],
            self._least[part, None, None],
        )
        node, which, block = np.nonzero(bound > self.best[part, None, None])
        code = which if chosen is None else chosen[node, which]
        return node + part.start, code, block, bound[node, which, block]

    def look_into(self, node: Places, code: Places, block: Places) -> None:
        """Try every cut in blocks of nodes, and keep the best of each node."""
        if not len(node):
            return
        nodes, codes = self.nodes, self.codes
        mean = self.mean[node, None]
        flat = code * codes.blocks + block
        rows = codes.windows.reshape(-1, codes.windows.shape[2])[flat]
        cuttable = codes.cuttable.reshape(-1, codes.windows.shape[2])[flat]
        place = rows + (nodes.tree[node] * nodes.residual.shape[1])[:, None]
        # Of the block's rows, those of the node: what they add to the sum, and to the count.
        own = np.empty((2, *rows.shape), dtype=np.float32)
        np.equal(nodes.leaf_of.ravel().take(place), nodes.leaf[node, None], out=own[1])
        np.subtract(nodes.residual.ravel().take(place), mean, out=own[0])
        own[0] *= own[1]
        before = running_along(own)
        count = self.counts[node, code, block + 1]
        at_end = np.stack([self.sums[node, code, block + 1] - count * mean[:, 0], count])
        before += (at_end - before[..., -1])[..., None]
        gains = _gain(before[0], before[1], self.rows[node, None])
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


def _bound(
    sums: Floats,
    counts: Floats,
    positive: Floats,
    mean: Floats,
    rows: Floats,
    most: Floats,
    least: Floats,
) -> Floats:
    """Bound what cuts in each block remove, (node, code, block).

    The sum of residuals rises furthest where the positive ones come first, or the negative ones
    last; it falls furthest where the negative ones come first, or the positive ones last. As no
    residual is above `most` or below `least`, so many rows are needed for it. What a cut removes
    is convex in sum and count: no order of rows removes more than one of these four, or an edge.
    """
    centred = _centred(sums, counts, mean)
    before, after = centred[..., :-1], centred[..., 1:]
    count_before, count_after = counts[..., :-1], counts[..., 1:]
    negative = sums[..., 1:] - sums[..., :-1]
    negative -= positive
    np.minimum(negative, 0.0, out=negative)
    rise, rising = positive * (1 - mean / most), positive / most
    fall, falling = negative * (1 - mean / least), negative / least
    bound = _gain(before + rise, count_before + rising, rows)
    np.maximum(bound, _gain(before + fall, count_before + falling, rows), out=bound)
    np.maximum(bound, _gain(after - rise, count_after - rising, rows), out=bound)
    return np.maximum(bound, _gain(after - fall, count_after - falling, rows), out=bound)


def _centred(sums: Floats, counts: Floats, mean: Floats) -> Floats:
    """Return sums less what as many average rows have: zero at both ends."""
    centred: Floats = counts * mean
    return np.subtract(sums, centred, out=centred)


def _gain(centred: Floats, count: Floats, rows: Floats) -> Floats:
    """Return what a cut with these sums and counts on its left removes, over the node's rows."""
    spread = rows - count
    spread *= count
    np.maximum(spread, 0.5, out=spread)  # where a side is empty nothing is removed
    gain = centred * centred
    gain /= spread
    return gain
