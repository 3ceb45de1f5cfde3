"""Tables of codes and factors: rows are samples, columns are codes or factors.

Anything array-like is accepted: numpy arrays, torch tensors, pandas and polars
frames. `code_table` returns finite floats; `factor_table` returns a
`FactorTable` that holds each factor twice, as numbers and as class labels.

A factor is continuous when it is declared so, or when it is a column of floats
with values that are not integers and more than `MOST_CLASSES` distinct values.
Continuous factors get labels by cutting their range into bins of equal width. Integers with
more than `MOST_CLASSES` values are classes too, but the table notes that they may be amounts.

NaN, None, NaT and the words of `MISSING_WORDS` are missing values, in every kind of column.
They are refused, or, with `missing="mask"`, marked by the label -1: a metric then looks, for
each factor, at the rows that have one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import ConfigError, DataError

MOST_CLASSES = 64
"""A column of floats with more distinct values than this is a continuous factor."""

MISSING_WORDS = frozenset(
    ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "NaT", "<NA>")
)
"""What a file writes for a value that is not there; "none" may well be the name of a class."""

LARGEST_CLASSES = 5_000
"""A factor of more classes is left out: tables of rows by classes would fill any memory, and
with a class for every few rows no score says anything."""

WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)
"""How a whole number is written."""

UNKNOWN = -1
"""The label of a value that is missing."""

LARGEST = 1e30
"""Fourth powers of larger numbers, which some fits need, would leave the range of floats."""

Continuous = bool | Sequence[bool] | Sequence[int] | Sequence[str] | None


@dataclass(frozen=True)
class FactorTable:
    """Factors that vary over the rows; a factor with a single value is left out."""

    values: NDArray[np.float64]
    """Numbers, (row, factor); the labels themselves when a factor is not numeric."""

    labels: NDArray[np.int64]
    """Class indices 0…size-1, (row, factor); bins of continuous factors; -1 where missing."""

    sizes: tuple[int, ...]
    """How many classes each factor has."""

    names: tuple[str, ...]
    continuous: tuple[bool, ...]
    left_out: tuple[str, ...]
    """Names of factors that have a single value, hence no information, or too many classes."""

    notes: tuple[str, ...] = ()
    """What a reader of a score of these factors must know: counts of missing values, amounts
    that may have been taken for classes."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def has_missing(self) -> bool:
        """Say whether any value is missing."""
        return bool((self.labels == UNKNOWN).any())

    def known_rows(self, factor: int, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return the rows, all or of those given, that have a value of the factor."""
        if rows is None:
            rows = np.arange(len(self.labels))
        return rows[self.labels[rows, factor] != UNKNOWN]

    def complete_rows(self) -> NDArray[np.int64]:
        """Return the rows that have a value of every factor."""
        return np.flatnonzero((self.labels != UNKNOWN).all(axis=1))

    def only(self, factor: int) -> "FactorTable":
        """Take one factor, and of its rows those that have a value."""
        rows = self.known_rows(factor)
        return FactorTable(
            self.values[rows, factor, None],
            self.labels[rows, factor, None],
            self.sizes[factor : factor + 1],
            self.names[factor : factor + 1],
            self.continuous[factor : factor + 1],
            (),
        )

    def rows(self, rows: NDArray[np.int64]) -> "FactorTable":
        """Take some rows; sizes and names stay those of the whole table."""
        return replace(self, values=self.values[rows], labels=self.labels[rows])


def to_numpy(table: Any) -> NDArray[Any]:
    """Turn a numpy array, torch tensor, pandas or polars frame into an array."""
    if hasattr(table, "detach"):  # a torch tensor; torch itself is not needed here
        table = table.detach().cpu()
    if hasattr(table, "to_numpy"):
        return np.asarray(table.to_numpy())
    try:
        return np.asarray(table)
    except ValueError as error:
        raise DataError(f"expected a rectangular table, found ragged rows: {error}") from error


def column_names(table: Any, count: int, kind: str) -> tuple[str, ...]:
    """Return a frame's column names, or `kind_0`, `kind_1`… for plain arrays."""
    columns = getattr(table, "columns", None)
    if columns is not None and len(columns) == count:
        return tuple(str(column) for column in columns)
    return tuple(f"{kind}_{index}" for index in range(count))


def code_table(codes: Any, name: str = "codes") -> NDArray[Any]:
    """Return finite floats, (row, code), sharing memory with the input where possible."""
    table = to_numpy(codes)
    if table.ndim != 2:
        raise DataError(
            f"{name} must be a table (row, code); found {table.ndim} dimensions of shape "
            f"{table.shape}. Reshape a single code to (rows, 1)."
        )
    if table.shape[0] < 2 or table.shape[1] < 1:
        raise DataError(f"{name} need at least 2 rows and 1 column; found shape {table.shape}.")
    if table.dtype not in (np.float32, np.float64):
        table = _as_float(table, name)
    _refuse_unusable(table, name)
    return table


def factor_table(
    factors: Any,
    *,
    continuous: Continuous = None,
    bins: int = 20,
    names: Sequence[str] | None = None,
    missing: str = "refuse",
) -> FactorTable:
    """Label the classes of each factor; see the module for when a factor is continuous.

    `missing` is "refuse", or "mask" to mark missing values factor by factor.
    """
    if missing not in ("refuse", "mask"):
        raise ConfigError(f'missing values are to "refuse" or to "mask"; found {missing!r}.')
    if bins < 2:
        raise DataError(f"bins must be at least 2; found {bins}.")
    columns = _columns(factors)
    if len(columns) == 0 or len(columns[0]) < 2:
        raise DataError("factors need at least 2 rows and 1 column.")
    if names is None:
        names = column_names(factors, len(columns), "factor")
    if len(names) != len(columns):
        raise DataError(f"{len(names)} factor names for {len(columns)} factors.")
    declared = _declared(continuous, names)
    values, labels, sizes, kept, is_continuous, left_out = [], [], [], [], [], []
    notes: list[str] = []
    for column, name, choice in zip(columns, names, declared, strict=True):
        absent = is_missing(column)
        if absent.any() and missing == "refuse":
            raise DataError(
                f"values of factor {name!r} must be finite and known; {int(absent.sum())} of "
                f"{len(column)} are missing, the first ({column[absent.argmax()]!s}) in row "
                f'{int(absent.argmax())}. Leave such rows out, or pass missing="mask" to score '
                "each factor on the rows that have it."
            )
        numbers, classes, real = _label_known(column, absent, str(name), choice, bins)
        if absent.any():
            notes.append(f"{name} is known in {int((~absent).sum()):,} of {len(column):,} rows")
        if classes.max() <= 0:
            left_out.append(str(name))
            continue
        if classes.max() >= LARGEST_CLASSES:
            left_out.append(str(name))
            notes.append(
                f"{name} has {classes.max() + 1:,} classes and is left out, as at most "
                f"{LARGEST_CLASSES:,} are scored; if they are amounts, declare it: "
                f"continuous=[{str(name)!r}]"
            )
            continue
        values.append(numbers)
        labels.append(classes)
        sizes.append(int(classes.max()) + 1)
        kept.append(str(name))
        is_continuous.append(real)
        if choice is None and not real and sizes[-1] > MOST_CLASSES and _are_numbers(column):
            notes.append(
                f"{name} is {sizes[-1]} whole numbers, taken as classes; if they are amounts, "
                f"declare it: continuous=[{str(name)!r}]"
            )
    if not kept and notes:
        raise DataError(f"there is no factor to score: {notes[0]}.")
    if not kept:
        raise DataError("every factor has a single value, so no code can tell anything about them.")
    return FactorTable(
        np.stack(values, axis=1),
        np.stack(labels, axis=1),
        tuple(sizes),
        tuple(kept),
        tuple(is_continuous),
        tuple(left_out),
        tuple(notes),
    )


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the entries of a column that are no value: NaN, None, NaT, and the usual words."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind in "mM":
        return np.isnat(column)
    if column.dtype.kind in "OUS":
        words = [
            entry.decode(errors="replace") if isinstance(entry, bytes) else str(entry)
            for entry in column
        ]
        return np.array([word.strip() in MISSING_WORDS for word in words], dtype=bool)
    return np.zeros(len(column), dtype=bool)


def as_numbers(words: NDArray[np.str_]) -> NDArray[np.float64] | None:
    """Return words as numbers; None if one is none, or if two that differ would become one.

    Whole numbers beyond 2⁵³, such as keys of a data base, have no number of their own each.
    """
    try:
        values = words.astype(np.float64)
    except ValueError:
        return None
    large = np.abs(values) >= 2**53
    if large.any():
        whole = {word for word in map(str, words[large]) if WHOLE.fullmatch(word.strip())}
        if len({float(word) for word in whole}) < len({_digits(word) for word in whole}):
            return None
    return values


def _digits(word: str) -> str:
    """Return a whole number in one way of writing it, however long it is."""
    word = word.strip()
    return ("-" if word.startswith("-") else "") + word.lstrip("+-0")


def _are_numbers(column: NDArray[Any]) -> bool:
    return column.dtype.kind in "iuf" or (
        column.dtype.kind == "O" and isinstance(column[0], int | float | np.number)
    )


def _label_known(
    column: NDArray[Any],
    absent: NDArray[np.bool_],
    name: str,
    continuous: bool | None,
    bins: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64], bool]:
    """Label the values that are there; the others get NaN and the label of the unknown."""
    if not absent.any():
        return _label(column, name, continuous, bins)
    numbers = np.full(len(column), np.nan)
    classes = np.full(len(column), UNKNOWN)
    if absent.all():
        return numbers, classes, False
    numbers[~absent], classes[~absent], real = _label(column[~absent], name, continuous, bins)
    return numbers, classes, real


def check_same_rows(codes: NDArray[Any], factors: FactorTable) -> None:
    """Raise unless both tables describe the same number of rows."""
    if len(codes) != len(factors):
        raise DataError(
            f"codes have {len(codes)} rows and factors {len(factors)}; "
            "row i of both must describe the same sample."
        )


def bin_equal_width(column: NDArray[Any], bins: int) -> NDArray[np.int64]:
    """Cut a column's range into bins of equal width, numbered from 0.

    The left edge belongs to a bin; the maximum falls into the last one.
    """
    column = np.ascontiguousarray(column, dtype=np.float64)
    low, high = float(column.min()), float(column.max())
    if is_constant(low, high):
        return np.zeros(len(column), dtype=np.int64)
    edges = np.linspace(low, high, bins + 1)
    # A division finds the bin, give or take one; the edges decide. A binary search
    # for every row would take several times as long.
    guess = np.minimum(((column - low) * (bins / (high - low))).astype(np.int64), bins - 1)
    guess -= column < edges[guess]
    guess += (column >= edges[guess + 1]) & (guess < bins - 1)
    return guess


def is_constant(low: float, high: float) -> bool:
    """Say whether a range is no wider than rounding makes it."""
    return high - low <= max(1e-12 * max(abs(low), abs(high)), 1e-150)


def varying_codes(codes: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the codes that are not constant."""
    low, high = codes.min(axis=0), codes.max(axis=0)
    return np.array([not is_constant(float(a), float(b)) for a, b in zip(low, high, strict=True)])


def standardize(codes: NDArray[Any], reference: NDArray[Any] | None = None) -> NDArray[np.float64]:
    """Shift and scale codes to mean 0 and variance 1 over the reference rows; constants give 0."""
    reference = codes if reference is None else reference
    varies = varying_codes(reference)
    mean = reference.mean(axis=0, dtype=np.float64)
    spread = np.where(varies, reference.std(axis=0, dtype=np.float64), 1.0)
    return (codes.astype(np.float64) - mean) / spread * varies


def _as_float(table: NDArray[Any], name: str) -> NDArray[np.float64]:
    if table.dtype.kind == "c":
        raise DataError(f"{name} are complex; pass real numbers, e.g. both parts as columns.")
    try:
        return table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{name} must be numbers; found {table.dtype} entries ({error})."
        ) from error


def _refuse_unusable(table: NDArray[Any], name: str) -> None:
    # min and max pass NaN on, so no table of booleans is needed for a million rows.
    low, high = table.min(axis=0), table.max(axis=0)
    good = np.isfinite(low) & np.isfinite(high)
    if not good.all():
        column = int(np.flatnonzero(~good)[0])
        row = int(np.flatnonzero(~np.isfinite(table[:, column]))[0])
        raise DataError(
            f"{name} must be finite; found {table[row, column]} in row {row}, column {column}. "
            "Leave such rows out, or find where the model produced them."
        )
    if max(-float(low.min()), float(high.max())) > LARGEST:
        raise DataError(f"{name} have entries beyond {LARGEST:g}; rescale them.")


def _columns(factors: Any) -> list[NDArray[Any]]:
    """Split into columns first, so that frames may mix numbers and words."""
    names = getattr(factors, "columns", None)
    if names is not None and hasattr(factors, "to_numpy"):
        return [np.asarray(factors[name].to_numpy()) for name in names]
    table = to_numpy(factors)
    if table.ndim != 2:
        raise DataError(
            f"factors must be a table (row, factor); found {table.ndim} dimensions of shape "
            f"{table.shape}. Reshape a single factor to (rows, 1)."
        )
    return list(table.T)


def _declared(continuous: Continuous, names: Sequence[str]) -> list[bool | None]:
    if continuous is None or isinstance(continuous, bool):
        return [continuous] * len(names)
    chosen = list(continuous)
    if len(chosen) == len(names) and all(isinstance(c, bool | np.bool_) for c in chosen):
        return [bool(c) for c in chosen]
    return [name in chosen or index in chosen for index, name in _checked(chosen, names)]


def _checked(chosen: list[Any], names: Sequence[str]) -> Iterable[tuple[int, str]]:
    for entry in chosen:
        known = entry in names if isinstance(entry, str) else 0 <= int(entry) < len(names)
        if not known:
            raise DataError(f"no factor {entry!r} to declare continuous; factors: {list(names)}.")
    return enumerate(names)


def _label(
    column: NDArray[Any], name: str, continuous: bool | None, bins: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], bool]:
    """Return a column's numbers, its class labels and whether it is continuous."""
    if column.dtype.kind in "OUSMm":
        return _label_words(column, name, continuous, bins)
    if column.dtype.kind == "c":
        raise DataError(f"factor {name!r} is complex; pass real numbers.")
    numbers = column.astype(np.float64)
    _refuse_unusable(numbers[:, None], f"values of factor {name!r}")
    distinct, classes = _distinct(column, numbers)
    if continuous is None:
        whole = column.dtype.kind in "iub" or bool((distinct == np.round(distinct)).all())
        continuous = not whole and len(distinct) > MOST_CLASSES
    if continuous:
        # Empty bins are closed up, so that every class has rows.
        classes = np.unique(bin_equal_width(numbers, bins), return_inverse=True)[1]
    return numbers, classes.astype(np.int64), continuous


def _distinct(
    column: NDArray[Any], numbers: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct values and each row's place among them, sorted only if need be."""
    if column.dtype.kind in "iu" and numbers.max() - numbers.min() < 4 * len(column) + 64:
        shifted = (numbers - numbers.min()).astype(np.int64)
        present = np.bincount(shifted) > 0
        return np.flatnonzero(present), (np.cumsum(present) - 1)[shifted]
    distinct, classes = np.unique(numbers, return_inverse=True)
    return distinct, classes.astype(np.int64)


def _label_words(
    column: NDArray[Any], name: str, continuous: bool | None, bins: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], bool]:
    words = column.astype(str)
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError):
        numbers = None
    if numbers is not None and column.dtype.kind == "O":
        return _label(numbers, name, continuous, bins)
    if continuous:
        raise DataError(f"factor {name!r} is declared continuous but holds words: {words[0]!r}.")
    classes = np.unique(words, return_inverse=True)[1].astype(np.int64)
    return classes.astype(np.float64), classes, False
