"""Rows that share a factor's value, from a table or from a full grid.

A table offers only the rows it has: batches are drawn, with replacement, from
the rows that share a value. A data set with a full grid offers the papers' own
sampler: every other factor is drawn afresh, and the rows are looked up.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.tables import FactorTable, code_table, to_numpy

Rows = NDArray[np.int64]
Encoder = Callable[[Any], Any]


class Grid(Protocol):
    """The part of a data set that sampling needs."""

    @property
    def factor_names(self) -> Any: ...
    @property
    def factor_sizes(self) -> Any: ...
    def __len__(self) -> int: ...
    def factors(self, rows: Any) -> Any: ...
    def images(self, rows: Any) -> Any: ...
    def rows_of(self, factors: Any) -> Any: ...


class Sampler(Protocol):
    """Draws rows that agree in one factor."""

    sizes: tuple[int, ...]
    names: tuple[str, ...]

    def alike(self, factor: int, batches: int, size: int, rng: np.random.Generator) -> Rows:
        """Draw batches of rows, (batch, row); each batch shares one value of the factor."""
        ...

    def pairs(self, factor: int, count: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Draw pairs of rows that share a value of the factor."""
        ...

    def any_rows(self, count: int, rng: np.random.Generator) -> Rows:
        """Draw rows without condition."""
        ...


class TableSampler:
    """Draws from the rows of a table; values are equally likely."""

    def __init__(self, factors: FactorTable, fewest: int) -> None:
        self.sizes = factors.sizes
        self.names = factors.names
        self.count = len(factors)
        self.order = [np.argsort(column, kind="stable") for column in factors.labels.T]
        self.counts = [
            np.bincount(column, minlength=size)
            for column, size in zip(factors.labels.T, factors.sizes, strict=True)
        ]
        self.starts = [np.concatenate([[0], np.cumsum(counts)[:-1]]) for counts in self.counts]
        self.usable = [np.flatnonzero(counts >= fewest) for counts in self.counts]
        for name, usable, counts in zip(self.names, self.usable, self.counts, strict=True):
            if len(usable) == 0:
                raise DataError(
                    f"too few rows share a value of factor {name!r}: at most {counts.max()} of "
                    f"{self.count} rows agree, and at least {fewest} must. Pass more rows, declare "
                    f"the factor continuous (continuous=[{name!r}]) or use fewer bins."
                )

    def alike(self, factor: int, batches: int, size: int, rng: np.random.Generator) -> Rows:
        """Draw each batch with replacement from the rows that share one value."""
        values = rng.choice(self.usable[factor], batches)
        counts, starts = self.counts[factor][values], self.starts[factor][values]
        within = (rng.random((batches, size)) * counts[:, None]).astype(np.int64)
        return self.order[factor][starts[:, None] + within]

    def pairs(self, factor: int, count: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Draw two different rows that share a value."""
        values = rng.choice(self.usable[factor], count)
        counts, starts = self.counts[factor][values], self.starts[factor][values]
        first = (rng.random(count) * counts).astype(np.int64)
        step = 1 + (rng.random(count) * (counts - 1)).astype(np.int64)
        second = (first + step) % counts
        order = self.order[factor]
        return order[starts + first], order[starts + second]

    def any_rows(self, count: int, rng: np.random.Generator) -> Rows:
        """Draw different rows, all of them when there are no more than asked for."""
        return rng.permutation(self.count)[:count]


class GridSampler:
    """Draws factors independently and uniformly, and looks up their rows."""

    def __init__(self, data: Grid) -> None:
        self.data = data
        self.sizes = tuple(int(size) for size in data.factor_sizes)
        self.names = tuple(str(name) for name in data.factor_names)
        if np.prod(self.sizes, dtype=np.float64) != len(data):
            raise DataError(
                f"the data set has {len(data)} rows but its factor sizes {self.sizes} make "
                "another number, so it is no full grid. Encode its rows and score the table."
            )

    def draw(self, count: int, rng: np.random.Generator) -> Rows:
        """Draw factors, (row, factor)."""
        return np.stack([rng.integers(size, size=count) for size in self.sizes], axis=1)

    def look_up(self, factors: Rows) -> Rows:
        """Return the rows of the grid that have these factors."""
        return np.asarray(to_numpy(self.data.rows_of(factors)), dtype=np.int64)

    def alike(self, factor: int, batches: int, size: int, rng: np.random.Generator) -> Rows:
        """Draw one value per batch and everything else afresh for each row."""
        factors = self.draw(batches * size, rng)
        factors[:, factor] = np.repeat(rng.integers(self.sizes[factor], size=batches), size)
        return self.look_up(factors).reshape(batches, size)

    def pairs(self, factor: int, count: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Draw two rows whose other factors are independent."""
        first, second = self.draw(count, rng), self.draw(count, rng)
        second[:, factor] = first[:, factor]
        return self.look_up(first), self.look_up(second)

    def any_rows(self, count: int, rng: np.random.Generator) -> Rows:
        """Draw rows with replacement."""
        return rng.integers(len(self.data), size=count)


def encode_rows(encode: Encoder, data: Grid, rows: Rows, batch: int = 512) -> NDArray[Any]:
    """Encode rows in batches."""
    pieces = [
        code_table(encode(data.images(rows[start : start + batch])), "codes of the model")
        if len(rows[start : start + batch]) > 1
        else to_numpy(encode(data.images(rows[start : start + batch])))
        for start in range(0, len(rows), batch)
    ]
    for piece, start in zip(pieces, range(0, len(rows), batch), strict=True):
        expected = len(rows[start : start + batch])
        if piece.ndim != 2 or len(piece) != expected:
            raise DataError(
                f"the model turned {expected} images into an array of shape {piece.shape}; "
                "expected one row of codes per image."
            )
    return np.concatenate(pieces)


class EncodedRows:
    """Codes of a data set's rows, each row encoded once, when it is first needed."""

    def __init__(self, encode: Encoder, data: Grid) -> None:
        self.encode, self.data = encode, data
        self.place = np.full(len(data), -1, dtype=np.int64)
        self.columns: NDArray[np.float64] | None = None

    def __call__(self, rows: Rows) -> NDArray[np.float64]:
        """Return codes, (code, …), of rows of any shape."""
        new = np.unique(rows[self.place[rows] < 0])
        if len(new):
            fresh = encode_rows(self.encode, self.data, new).T.astype(np.float64)
            known = 0 if self.columns is None else self.columns.shape[1]
            self.place[new] = known + np.arange(len(new))
            parts = [fresh] if self.columns is None else [self.columns, fresh]
            self.columns = np.concatenate(parts, axis=1)
        assert self.columns is not None
        return np.take(self.columns, self.place[rows], axis=1)


class TableCodes:
    """Codes of a table's rows, kept column by column: one column fits into the cache."""

    def __init__(self, codes: NDArray[Any]) -> None:
        self.columns = np.ascontiguousarray(codes.T, dtype=np.float64)

    def __call__(self, rows: Rows) -> NDArray[np.float64]:
        """Return codes, (code, …), of rows of any shape."""
        return np.take(self.columns, rows, axis=1)
