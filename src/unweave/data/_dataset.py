"""A set of images and the factors they were made from."""

import zlib
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.random import Generator

from unweave import catalog
from unweave.data._arrangement import correlations, held_out, row_weights
from unweave.data._drawing import draw_by_weights, draw_evenly
from unweave.data._factor import Factor
from unweave.data._options import DataOptions
from unweave.data._pixels import Pixels, SelectedPixels
from unweave.errors import DataError

GREY_SHARE = 0.1
"""Of black-and-white images fewer pixels than this are grey; MNIST has a tenth less."""


@dataclass(frozen=True)
class Column:
    """A column beside the factors: pair, clip or time, or a label that some rows lack."""

    factor: Factor
    values: np.ndarray
    """One per row; what is missing is -1, or not a number where the column is continuous."""


@dataclass(frozen=True)
class DataSummary:
    """What networks may depend on: sizes, no data."""

    image_shape: tuple[int, int, int]
    rows: int
    column_sizes: Mapping[str, int]
    """How many values each factor and each column beside them takes; 0 if continuous."""


class FactorImages:
    """Images by row, and the factors of each row.

    On a full grid of factors the row number follows from the factors, the last
    one varying fastest. Otherwise a table says the factors of every row; a set
    without any factor is one whose table has no column.
    """

    def __init__(
        self,
        name: str,
        pixels: Pixels,
        factors: Sequence[Factor] = (),
        table: np.ndarray | None = None,
        partitions: Mapping[str, np.ndarray] | None = None,
        columns: Sequence[Column] = (),
        row_numbers: np.ndarray | None = None,
        note: str = "",
        graph: Mapping[str, Sequence[str]] | None = None,
        splits: Mapping[str, str] | None = None,
    ):
        self.name = name
        self.pixels = pixels
        self.factor_list = tuple(factors)
        self.partitions = dict(partitions or {})
        """Rows of the parts the makers of the set named, such as train and test."""
        self.columns = {column.factor.name: column for column in columns}
        """What is known of the rows besides their factors."""
        self.row_numbers = np.arange(len(pixels)) if row_numbers is None else row_numbers
        """What tables of learnt codes call the rows; those of the whole, in a part of a set."""
        self.note = note
        """What one should know of where the images come from; "" if nothing."""
        self.graph = {name: tuple(causes) for name, causes in (graph or {}).items()}
        """The causes of each factor that has any; empty where factors are independent."""
        self.splits = dict(splits or {})
        """Rules of the splits that papers have named, by name."""
        self.known = False
        """Whether it is a set with a name, on which others have published; not one's own."""
        self.held_out: np.ndarray | None = None
        """Whether each row is held out of training, if there is a split."""
        self.weights: np.ndarray | None = None
        """How often each row is drawn in training, summing to 1, if not all alike."""
        self.inverse_weights: np.ndarray | None = None
        """The same with every correlation turned around."""
        if len(pixels) == 0:
            raise DataError(f"{name} holds no image")
        if table is None and factors:
            expected = prod(factor.size for factor in factors)
            if expected != len(pixels):
                sizes = " × ".join(f"{f.name} {f.size}" for f in factors)
                raise DataError(
                    f"{name} holds {len(pixels)} images, but its factors ({sizes}) "
                    f"have {expected} combinations"
                )
        elif table is not None and table.shape != (len(pixels), len(self.factor_list)):
            raise DataError(
                f"{name}: expected factors for {len(pixels)} images × {len(self.factor_list)} "
                f"columns, found a table of shape {table.shape}"
            )
        self._table = table

    def __len__(self) -> int:
        return len(self.pixels)

    def __repr__(self) -> str:
        channels, height, width = self.image_shape
        factors = ", ".join(f"{f.name} {f.size or 'continuous'}" for f in self.factor_list)
        size = f"{channels}×{height}×{width}"
        return f"<{self.name}: {len(self):,} images of {size}; {factors or 'no factors'}>"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Channels, height, width."""
        return self.pixels.shape

    @property
    def factor_names(self) -> tuple[str, ...]:
        return tuple(factor.name for factor in self.factor_list)

    @property
    def factor_sizes(self) -> tuple[int, ...]:
        """How many values each factor takes; 0 for a continuous one."""
        return tuple(factor.size for factor in self.factor_list)

    @property
    def is_grid(self) -> bool:
        """Whether every combination of factors is there once, in order."""
        return bool(self.factor_list) and self._table is None

    @property
    def is_black_and_white(self) -> bool:
        """Whether nearly all pixels are, but for grey edges; judged by up to 256 images."""
        rows = np.unique(np.linspace(0, len(self) - 1, min(len(self), 256)).astype(np.int64))
        images = self.images(rows)
        return bool(((images > 0.1) & (images < 0.9)).mean() < GREY_SHARE)

    def images(self, rows: np.ndarray | Sequence[int], rng: Generator | None = None) -> np.ndarray:
        """Return float32 images (row, channel, height, width) in [0, 1].

        Images with a random part draw it from `rng`; without one, from a
        generator seeded by the rows, so that the same call gives the same images.
        """
        rows = self._checked(rows)
        if rng is None:
            rng = np.random.default_rng(zlib.crc32(rows.tobytes()))
        return self.pixels.gather(rows, rng)

    def factors(self, rows: np.ndarray | Sequence[int] | None = None) -> np.ndarray:
        """Return the factors (row, factor): integers, or floats if any is continuous."""
        rows = np.arange(len(self)) if rows is None else self._checked(rows)
        if self._table is not None:
            return self._table[rows]
        if not self.factor_list:
            return np.zeros((len(rows), 0), dtype=np.int64)
        return np.stack(np.unravel_index(rows, self.factor_sizes), axis=1).astype(np.int64)

    @property
    def summary(self) -> DataSummary:
        """Return the sizes networks may depend on."""
        beside = {name: column.factor.size for name, column in self.columns.items()}
        sizes = dict(zip(self.factor_names, self.factor_sizes, strict=True))
        return DataSummary(self.image_shape, len(self), sizes | beside)

    def column(self, name: str, rows: np.ndarray | Sequence[int] | None = None) -> np.ndarray:
        """Return one factor, or one column beside them, of some rows or of all."""
        if name in self.columns:
            values = self.columns[name].values
            return values if rows is None else values[self._checked(rows)]
        catalog.check_name(name, (*self.factor_names, *self.columns), f"column of {self.name}")
        return self.factors(rows)[:, self.factor_names.index(name)]

    def rows_of(
        self, factors: np.ndarray | Sequence[Sequence[int]], rng: Generator | None = None
    ) -> np.ndarray:
        """Return a row for each line of factors (line, factor).

        Where several rows have the same factors one is drawn by `rng`, or the
        first is taken if there is none.
        """
        if not self.factor_list:
            raise DataError(f"{self.name} has no factors by which to find rows")
        wanted = np.asarray(factors)
        if wanted.ndim != 2 or wanted.shape[1] != len(self.factor_list):
            raise DataError(
                f"expected factors (line, {len(self.factor_list)}) for {self.name}, "
                f"found shape {wanted.shape}"
            )
        if wanted.dtype.kind not in "biuf" or not np.isfinite(wanted).all():
            raise DataError(f"factors must be finite numbers, found {wanted.dtype}")
        kind = self.factors([0]).dtype
        if kind == np.int64 and (wanted != np.rint(wanted)).any():
            raise DataError(f"the factors of {self.name} are whole numbers, found a fraction")
        wanted = wanted.astype(kind)
        if self.is_grid:
            outside = (wanted < 0) | (wanted >= np.array(self.factor_sizes))
            if outside.any():
                line, column = np.argwhere(outside)[0]
                factor = self.factor_list[column]
                raise DataError(
                    f"{factor.name} has values 0 to {factor.size - 1}, found {wanted[line, column]}"
                )
        rows = self.find_rows(wanted, rng)
        if (rows < 0).any():
            line = wanted[int(np.argmin(rows))]
            named = ", ".join(f"{n}={v}" for n, v in zip(self.factor_names, line, strict=True))
            raise DataError(f"{self.name} holds no image with {named}")
        return rows

    def find_rows(self, factors: np.ndarray, rng: Generator | None = None) -> np.ndarray:
        """Return a row for each line of factors as `rows_of` does, and -1 where there is none."""
        if self.is_grid:
            inside = ((factors >= 0) & (factors < np.array(self.factor_sizes))).all(axis=1)
            rows = np.full(len(factors), -1, dtype=np.int64)
            rows[inside] = np.ravel_multi_index(tuple(factors[inside].T), self.factor_sizes)
            return rows
        order, keys = self._rows_by_factors
        sought = _as_keys(np.ascontiguousarray(factors))
        first = np.searchsorted(keys, sought, side="left")
        count = np.searchsorted(keys, sought, side="right") - first
        pick = 0 if rng is None else (rng.random(len(first)) * count).astype(np.int64)
        return np.where(count > 0, order[np.minimum(first + pick, len(order) - 1)], -1)

    def sample_rows(
        self, size: int, rng: Generator, fixed: Mapping[str, int] | None = None
    ) -> np.ndarray:
        """Draw rows with replacement, uniformly among those where `fixed` factors hold."""
        if not fixed:
            return rng.integers(len(self), size=size)
        for name in fixed:
            catalog.check_name(name, self.factor_names, f"factor of {self.name}")
        if self.is_grid:
            drawn = rng.integers(np.array(self.factor_sizes), size=(size, len(self.factor_list)))
            for name, value in fixed.items():
                index = self.factor_names.index(name)
                if value not in range(self.factor_sizes[index]):
                    raise DataError(
                        f"{name} has values 0 to {self.factor_sizes[index] - 1}, found {value}"
                    )
                drawn[:, index] = value
            return self.rows_of(drawn)
        table = self.factors()
        matching = np.ones(len(self), dtype=bool)
        for name, value in fixed.items():
            matching &= table[:, self.factor_names.index(name)] == value
        rows = np.flatnonzero(matching)
        if len(rows) == 0:
            named = ", ".join(f"{n}={v}" for n, v in fixed.items())
            raise DataError(f"{self.name} holds no image with {named}")
        return rows[rng.integers(len(rows), size=size)]

    def arranged(self, split: str = "", correlate: str = "") -> "FactorImages":
        """Return the set with rows held out of training, or drawn more often, by their factors.

        `unweave.data._arrangement` says what can be written. All rows are still there; `part`
        gives those that are trained on, those held out, and the set turned around.
        """
        if not split and not correlate:
            return self
        factors = {f.name: (f, v) for f, v in zip(self.factor_list, self.factors().T, strict=True)}
        changed = copy(self)
        if split:
            beside = {name: (column.factor, column.values) for name, column in self.columns.items()}
            changed.held_out = held_out(split, factors | beside, self.splits)
        if correlate:
            pairs = correlations(correlate, self.factor_names)
            changed.weights = row_weights(pairs, factors)
            turned = [replace(pair, inverse=not pair.inverse) for pair in pairs]
            changed.inverse_weights = row_weights(turned, factors)
            changed.__dict__.pop("_reached", None)  # of weights there were before
        return changed

    def arranged_by(self, options: DataOptions) -> "FactorImages":
        """Return the set as options say, unless it is arranged already."""
        return self.arranged(
            options.split if self.held_out is None else "",
            options.correlate if self.weights is None else "",
        )

    def draw_rows(self, size: int, rng: Generator) -> np.ndarray:
        """Draw rows for training: by their weights; without any, evenly and none twice."""
        if self.weights is None:
            return draw_evenly(len(self), size, rng)
        return draw_by_weights(self._reached, size, rng)

    def part(self, name: str, seed: int = 0) -> "FactorImages":
        """Return a part of a set that is split or correlated.

        `all`; `train` and `held_out` of a split; `correlated` and `inverse`, as many rows drawn
        by the weights of training and by those turned around.
        """
        if name == "all":
            return self
        catalog.check_name(name, self.part_names, f"part of {self.name}")
        if name in ("train", "held_out"):
            assert self.held_out is not None
            rows = np.flatnonzero(self.held_out == (name == "held_out"))
            found = self.subset(rows, keep_numbers=True)
            found.held_out = None
            return found
        weights = self.weights if name == "correlated" else self.inverse_weights
        assert weights is not None
        drawn = draw_by_weights(weights.cumsum(), len(self), np.random.default_rng(seed))
        found = self.subset(drawn, keep_numbers=True)
        found.weights = found.inverse_weights = None
        return found

    @property
    def part_names(self) -> tuple[str, ...]:
        """Return the parts that there are."""
        return (
            "all",
            *(("train", "held_out") if self.held_out is not None else ()),
            *(("correlated", "inverse") if self.weights is not None else ()),
        )

    def split(
        self, validation: float, seed: int = 0, *, keep_numbers: bool = False
    ) -> tuple["FactorImages", "FactorImages"]:
        """Split the rows at random into a set to train on and one to validate on.

        The parts are sets of their own, unless they are to keep the row numbers of this one.
        """
        if not 0 < validation < 1:
            raise DataError(f"the validation share must lie between 0 and 1, found {validation}")
        held_out = round(len(self) * validation)
        if held_out == 0 or held_out == len(self):
            raise DataError(
                f"a validation share of {validation} of {len(self)} images leaves one part empty"
            )
        shuffled = np.random.default_rng(seed).permutation(len(self))
        return (
            self.subset(np.sort(shuffled[held_out:]), keep_numbers=keep_numbers),
            self.subset(np.sort(shuffled[:held_out]), keep_numbers=keep_numbers),
        )

    def subset(
        self, rows: np.ndarray | Sequence[int], *, keep_numbers: bool = False
    ) -> "FactorImages":
        """Return a set of these rows only."""
        rows = self._checked(rows)
        selected = SelectedPixels(self.pixels, rows)
        if isinstance(self.pixels, SelectedPixels):  # no chain of selections
            selected = SelectedPixels(self.pixels.pixels, self.pixels.rows[rows])
        columns = [Column(c.factor, c.values[rows]) for c in self.columns.values()]
        chosen = FactorImages(
            self.name,
            selected,
            self.factor_list,
            self.factors(rows),
            columns=columns,
            row_numbers=self.row_numbers[rows] if keep_numbers else None,
            note=self.note,
            graph=self.graph,
            splits=self.splits,
        )
        chosen.known = self.known
        if self.held_out is not None:
            chosen.held_out = self.held_out[rows]
        if self.weights is not None and self.inverse_weights is not None:
            chosen.weights = self.weights[rows] / self.weights[rows].sum()
            chosen.inverse_weights = self.inverse_weights[rows] / self.inverse_weights[rows].sum()
        return chosen

    def _checked(self, rows: np.ndarray | Sequence[int]) -> np.ndarray:
        rows = np.asarray(rows)
        if rows.ndim != 1 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
            raise DataError(
                f"expected a list of row numbers, found {rows.dtype} of shape {rows.shape}"
            )
        if rows.size and (rows.min() < 0 or rows.max() >= len(self)):
            raise DataError(
                f"{self.name} has rows 0 to {len(self) - 1}, "
                f"found {rows.min() if rows.min() < 0 else rows.max()}"
            )
        return rows.astype(np.int64, copy=False)

    @cached_property
    def _reached(self) -> np.ndarray:
        """The running sum of the weights."""
        assert self.weights is not None
        return self.weights.cumsum()

    @cached_property
    def _rows_by_factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers sorted by their factors, and the sorted factors as comparable keys."""
        keys = _as_keys(np.ascontiguousarray(self.factors()))
        order = np.argsort(keys, kind="stable")
        return order, keys[order]


def _as_keys(factors: np.ndarray) -> np.ndarray:
    """View each line as one value that sorts and compares as a whole."""
    fields = [(f"f{i}", factors.dtype) for i in range(factors.shape[1])]
    return factors.view(fields)[:, 0]
