"""Rows that share a factor's value, or differ in one factor alone; from a table or a full grid.

A table offers only the rows it has: batches are drawn, with replacement, from
the rows that share a value. A data set with a full grid offers the papers' own
sampler: every other factor is drawn afresh, and the rows are looked up.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.metrics._score import Made
from unweave.row_groups import RowGroups, Rows
from unweave.tables import FactorTable, code_table, to_numpy, varying_codes

REFERENCE_ROWS = 10_000
"""Rows that the deviation of a code is measured on."""

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
    """Draws rows that agree in one factor, or in all others."""

    sizes: tuple[int, ...]
    names: tuple[str, ...]

    def alike(self, factor: int, batches: int, size: int, rng: np.random.Generator) -> Rows:
        """Draw batches of rows, (batch, row); each batch shares one value of the factor."""
        ...

    def pairs(self, factor: int, count: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Draw pairs of rows that share a value of the factor."""
        ...

    def apart(self, factor: int, batches: int, size: int, rng: np.random.Generator) -> Rows:
        """Draw batches of rows, (batch, row); each batch shares all factors but this one."""
        ...

    def traversals(self, factor: int, count: int, rng: np.random.Generator) -> Rows:
        """Draw traversals, (traversal, value): all values of a factor in turn, the rest fixed."""
        ...

    def any_rows(self, count: int, rng: np.random.Generator) -> Rows:
        """Draw rows without condition."""
        ...

    def labels_of(self, rows: Rows) -> Rows:
        """Return the factors of rows of any shape, (…, factor)."""
        ...


class TableSampler:
    """Draws from the rows of a table; values are equally likely."""

    def __init__(self, factors: FactorTable, fewest: int = 1) -> None:
        self.sizes = factors.sizes
        self.names = factors.names
        self.labels = factors.labels
        self.groups = [
            RowGroups.of(column, size)
            for column, size in zip(factors.labels.T, factors.sizes, strict=True)
        ]
        self.usable = [np.flatnonzero(groups.counts >= fewest) for groups in self.groups]
        self.others: dict[int, RowGroups] = {}
        for name, usable, groups in zip(self.names, self.usable, self.groups, strict=True):
            if len(usable) == 0:
                raise DataError(
                    f"too few rows share a value of factor {name!r}: at most "
                    f"{groups.counts.max()} of {len(self.labels)} rows agree, and at least "
                    f"{fewest} must. Pass more rows, declare the factor continuous "
                    f"(continuous=[{name!r}]) or use fewer bins."
                )

    @property
    def smallest(self) -> int:
        """Return how many rows the smallest group has that batches are drawn from."""
        return min(
            int(groups.counts[usable].min())
            for groups, usable in zip(self.groups, self.usable, strict=True)
        )

    def alike(self, factor: int, batches: int, size: int, rng: np.random.Generator) -> Rows:
        """Draw each batch with replacement from the rows that share one value."""
        return self.groups[factor].draw(rng.choice(self.usable[factor], batches), size, rng)

    def pairs(self, factor: int, count: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Draw two different rows that share a value."""
        groups, values = self.groups[factor], rng.choice(self.usable[factor], count)
        counts, starts = groups.counts[values], groups.starts[values]
        first = (rng.random(count) * counts).astype(np.int64)
        step = 1 + (rng.random(count) * (counts - 1)).astype(np.int64)
        second = (first + step) % counts
        return groups.order[starts + first], groups.order[starts + second]

    def apart(self, factor: int, batches: int, size: int, rng: np.random.Generator) -> Rows:
        """Draw each batch with replacement from rows that share all other factors."""
        if factor not in self.others:
            self.others[factor] = RowGroups.of(
                _combinations(np.delete(self.labels, factor, axis=1))
            )
        groups = self.others[factor]
        usable = np.flatnonzero(groups.counts >= 2)
        if len(usable) == 0:
            raise DataError(
                f"no two rows share all factors but {self.names[factor]!r}. "
                "Pass more rows or use fewer bins."
            )
        return groups.draw(rng.choice(usable, batches), size, rng)

    def traversals(self, factor: int, count: int, rng: np.random.Generator) -> Rows:
        """Draw traversals from the combinations of other factors that have every value."""
        size = self.sizes[factor]
        others = _combinations(np.delete(self.labels, factor, axis=1))
        large = np.bincount(others) >= size
        rows = np.flatnonzero(large[others])
        combination = (np.cumsum(large) - 1)[others[rows]]
        groups = combination * size + self.labels[rows, factor]
        cells = RowGroups.of(groups, int(large.sum()) * size)
        whole = np.flatnonzero((cells.counts.reshape(-1, size) > 0).all(axis=1))
        if len(whole) == 0:
            raise DataError(
                f"no rows take all {size} values of factor {self.names[factor]!r} while the "
                "other factors stay. Pass the full grid, or score the model on its data set "
                'with the paper\'s sampler (sampler="paper").'
            )
        wanted = rng.choice(whole, count)[:, None] * size + np.arange(size)
        return rows[cells.draw(wanted.ravel(), 1, rng)].reshape(count, size)

    def any_rows(self, count: int, rng: np.random.Generator) -> Rows:
        """Draw different rows, all of them when there are no more than asked for."""
        return rng.permutation(len(self.labels))[:count]

    def labels_of(self, rows: Rows) -> Rows:
        """Look up the classes of rows."""
        return self.labels[rows]


def _combinations(labels: Rows) -> Rows:
    """Number the combinations of several factors, one number per row."""
    combination = np.zeros(len(labels), dtype=np.int64)
    for column in labels.T:  # renumbered after each factor, so that nothing overflows
        joint = combination * (int(column.max()) + 1) + column
        combination = np.unique(joint, return_inverse=True)[1].astype(np.int64)
    return combination


class GridSampler:
    """Draws factors independently and uniformly, and looks up their rows."""

    def __init__(self, data: Grid) -> None:
        self.data = data
        sizes = tuple(int(size) for size in data.factor_sizes)
        if np.prod(sizes, dtype=np.float64) != len(data):
            raise DataError(
                f"the data set has {len(data)} rows but its factor sizes {sizes} make "
                "another number, so it is no full grid. Encode its rows and score the table."
            )
        # Nothing can be told about a factor with one value, so it is not asked for.
        self.columns = [place for place, size in enumerate(sizes) if size > 1]
        if not self.columns:
            raise DataError("every factor has a single value, so there is nothing to draw.")
        self.all_factors = len(sizes)
        self.sizes = tuple(sizes[place] for place in self.columns)
        names = [str(name) for name in data.factor_names]
        self.names = tuple(names[place] for place in self.columns)
        self.left_out = tuple(n for place, n in enumerate(names) if sizes[place] == 1)

    def draw(self, count: int, rng: np.random.Generator) -> Rows:
        """Draw the factors that vary, (row, factor)."""
        return np.stack([rng.integers(size, size=count) for size in self.sizes], axis=1)

    def look_up(self, factors: Rows) -> Rows:
        """Return the rows of the grid that have these values of the factors that vary."""
        every = np.zeros((len(factors), self.all_factors), dtype=np.int64)
        every[:, self.columns] = factors
        return np.asarray(to_numpy(self.data.rows_of(every)), dtype=np.int64)

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

    def apart(self, factor: int, batches: int, size: int, rng: np.random.Generator) -> Rows:
        """Draw one combination per batch and the factor afresh for each row."""
        factors = np.repeat(self.draw(batches, rng), size, axis=0)
        factors[:, factor] = rng.integers(self.sizes[factor], size=batches * size)
        return self.look_up(factors).reshape(batches, size)

    def traversals(self, factor: int, count: int, rng: np.random.Generator) -> Rows:
        """Draw one combination per traversal and set the factor to each value in turn."""
        size = self.sizes[factor]
        factors = np.repeat(self.draw(count, rng), size, axis=0)
        factors[:, factor] = np.tile(np.arange(size), count)
        return self.look_up(factors).reshape(count, size)

    def any_rows(self, count: int, rng: np.random.Generator) -> Rows:
        """Draw rows with replacement."""
        return rng.integers(len(self.data), size=count)

    def labels_of(self, rows: Rows) -> Rows:
        """Ask the data set for the factors of rows."""
        factors = np.asarray(to_numpy(self.data.factors(rows.ravel())), dtype=np.int64)
        return factors[:, self.columns].reshape(*rows.shape, -1)


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


@dataclass(frozen=True)
class Source:
    """Where a score draws rows from, and their codes."""

    sampler: Sampler
    codes_of: Callable[[Rows], NDArray[np.float64]]
    """Codes, (code, …), of rows of any shape."""

    name: str
    rows: int
    left_out: tuple[str, ...] = ()
    """Factors with a single value, which nothing is drawn for."""
    notes: tuple[str, ...] = ()

    def made(
        self,
        codes: int,
        *,
        seed: int,
        standardized: bool = False,
        active: NDArray[np.bool_] | None = None,
        **sizes: int,
    ) -> Made:
        """Say how a score of so many codes was made of what was drawn from here."""
        return Made(
            rows=self.rows,
            codes=codes,
            seed=seed,
            sizes=sizes,
            standardized=standardized,
            dropped_codes=() if active is None else tuple(np.flatnonzero(~active).tolist()),
            dropped_factors=self.left_out,
        )


def standardized(source: Source, rng: np.random.Generator) -> Source:
    """Scale every code to deviation 1 over rows drawn from the source; constants give 0."""
    reference = source.codes_of(source.sampler.any_rows(REFERENCE_ROWS, rng))
    varies = varying_codes(reference.T)
    scale = np.where(varies, 1 / np.where(varies, reference.std(axis=1), 1.0), 0.0)
    # Centred first, so that codes far from 0 lose no digits where their squares are summed.
    mean = reference.mean(axis=1)

    def codes_of(rows: Rows) -> NDArray[np.float64]:
        shape = (len(scale), *[1] * rows.ndim)
        scaled: NDArray[np.float64] = (source.codes_of(rows) - mean.reshape(shape)) * scale.reshape(
            shape
        )
        return scaled

    return replace(source, codes_of=codes_of)


def from_table(codes: NDArray[Any], factors: FactorTable, fewest: int = 1) -> Source:
    """Draw from the rows of a table; at least `fewest` rows must share a value that is used."""
    return Source(
        TableSampler(factors, fewest),
        TableCodes(codes),
        "rows of the table",
        len(codes),
        factors.left_out,
        factors.notes,
    )


def from_model(encode: Encoder, data: Grid) -> Source:
    """Draw from a full grid as the papers do; a row is encoded when it is first needed."""
    sampler = GridSampler(data)
    return Source(sampler, EncodedRows(encode, data), "full grid", len(data), sampler.left_out)
