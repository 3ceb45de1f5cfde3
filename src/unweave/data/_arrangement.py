"""Which combinations of factors are seen in training, and how often.

A split holds combinations out: `shape=square,x>0.5` is every square on the right; a semicolon
joins two such rules. A correlation draws some combinations more often than others, in one of
the two ways that are published and do not compare:

- `A~B:0.1`, or `A~B:gauss:0.1`: the probability of a combination falls with the square of the
  distance between a and b, each from 0 to 1: exp(−(a − b)² / (2 · 0.1²)). K. Roth et al.,
  "Disentanglement of Correlated Factors via Hausdorff Factorized Support", ICLR 2023,
  arXiv:2210.07347; widths 0.04, 0.1, 0.2 and 0.4.
- `A~B:line:0.2`: a line across the table of a and b, of width 0.2 times its shorter side, and
  blurred over a quarter of each side. F. Träuble et al., "On Disentangled Representations
  Learned from Correlated Data", ICML 2021, arXiv:2006.07886; widths 0.2, 0.4 and 0.7.

`A~-B` correlates the other way around, `A~all` one factor with every other, and commas join
several: their probabilities multiply.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import uniform_filter1d

from unweave import catalog
from unweave.data._factor import Factor
from unweave.errors import ConfigError

CONDITION = re.compile(r"\s*([^<>=!]+?)\s*(<=|>=|!=|=|<|>)\s*(.+?)\s*")
COMPARISONS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "=": lambda measured, bound: np.isclose(measured, bound, rtol=0, atol=1e-9),
    "!=": lambda measured, bound: ~np.isclose(measured, bound, rtol=0, atol=1e-9),
    "<": lambda measured, bound: measured < bound - 1e-9,
    ">": lambda measured, bound: measured > bound + 1e-9,
    "<=": lambda measured, bound: measured <= bound + 1e-9,
    ">=": lambda measured, bound: measured >= bound - 1e-9,
}
CORRELATION = re.compile(r"\s*([^~:]+?)\s*~\s*(-?)\s*([^~:]+?)\s*:\s*(?:(\w+)\s*:)?\s*([^:]+?)\s*")
EXAMPLE = "shape=square,x>0.5"
EVERY = "all"

Columns = Mapping[str, tuple[Factor, np.ndarray]]
"""What rules speak of: each factor or column with its values by row."""


def held_out(rule: str, columns: Columns, named: Mapping[str, str]) -> np.ndarray:
    """Return for every row whether the rule, or the split that is called so, holds it out."""
    if CONDITION.fullmatch(rule.partition(",")[0].partition(";")[0]) is None:
        if not named:
            raise ConfigError(f"no split is called {rule!r}; write a rule such as {EXAMPLE}")
        catalog.check_name(rule, named, f"split ({EXAMPLE}, for instance, is a rule)")
        rule = named[rule]
    rows = len(next(iter(columns.values()))[1]) if columns else 0
    out = np.zeros(rows, dtype=bool)
    for alternative in rule.split(";"):
        every = np.ones(rows, dtype=bool)
        for condition in alternative.split(","):
            every &= _holds(condition, columns)
        out |= every
    if out.all() or not out.any():
        share = "every image" if out.all() else "no image"
        raise ConfigError(f"the split {rule} holds {share} out")
    return out


def _holds(condition: str, columns: Columns) -> np.ndarray:
    match = CONDITION.fullmatch(condition)
    if match is None:
        raise ConfigError(f"expected a condition such as x>0.5, found {condition!r}")
    name, comparison, text = match.groups()
    factor, values = _column(name, columns)
    known = np.isfinite(values) if factor.continuous else values >= 0
    if factor.labels and text in factor.labels and comparison in ("=", "!="):
        same = values == factor.labels.index(text)
        return known & (same if comparison == "=" else ~same)
    try:
        bound = float(text)
    except ValueError:
        choices = factor.labels or ("a number",)
        raise ConfigError(f"{name} has no value {text!r}; expected {', '.join(choices)}") from None
    if factor.categorical and comparison not in ("=", "!="):
        raise ConfigError(f"the values of {name} have no order; use {name}=… or {name}!=…")
    return known & COMPARISONS[comparison](measured(factor, values), bound)


def measured(factor: Factor, values: np.ndarray) -> np.ndarray:
    """Return what the values of a column stand for.

    The numbers it has as values or as labels; without any, its index as a share of the last
    one, from 0 to 1, or the plain index where the values have no order.
    """
    if factor.continuous:
        return values
    numbers = factor.values
    if numbers is None and factor.labels and not factor.categorical:
        try:
            numbers = tuple(map(float, factor.labels))
        except ValueError:
            numbers = None
    index = np.maximum(values.astype(np.int64), 0)
    if numbers is not None:
        return np.array(numbers)[index]
    return index.astype(float) if factor.categorical else index / max(factor.size - 1, 1)


@dataclass(frozen=True)
class Correlation:
    """One pair of factors of which some combinations are drawn more often."""

    first: str
    second: str
    definition: str
    width: float
    inverse: bool

    def weights(self, columns: Columns) -> np.ndarray:
        """Return how often each row is drawn, up to a constant."""
        a, b = (_column(name, columns) for name in (self.first, self.second))
        if self.definition == "line":
            return self._line(a, b)
        apart = _from_0_to_1(*a) - self._turned(_from_0_to_1(*b))
        return np.exp(-0.5 * (apart / self.width) ** 2)

    def _turned(self, share: np.ndarray) -> np.ndarray:
        return 1 - share if self.inverse else share

    def _line(self, *pair: tuple[Factor, np.ndarray]) -> np.ndarray:
        sizes = []
        for factor, _ in pair:
            if factor.continuous:
                raise ConfigError(
                    f"a line needs factors with a list of values; {factor.name} is "
                    f"continuous. Write {self.first}~{self.second}:gauss:WIDTH"
                )
            sizes.append(factor.size)
        table = line_table(sizes[0], sizes[1], self.width)
        if self.inverse:
            table = table[:, ::-1]
        index = [values.astype(np.int64) for _, values in pair]
        weights: np.ndarray = table[index[0], index[1]]
        return weights


def line_table(rows: int, columns: int, width: float) -> np.ndarray:
    """Return the weights (row, column) of a blurred line across a table."""
    thick = np.ceil(width * min(rows, columns))
    across = np.arange(columns) / max(columns - 1, 1)
    down = np.arange(rows)[:, None] / max(rows - 1, 1)
    # Distance from the diagonal in cells of the longer side.
    away = abs(down - across) * (max(rows, columns) - 1)
    line = (away <= thick / 2).astype(float)
    for axis, side in enumerate((rows, columns)):
        quarter = 2 * (side // 8) + 1  # an odd number of cells, so that nothing is shifted
        line = uniform_filter1d(line, quarter, axis=axis, mode="nearest")
    return np.where(line > 1e-12, line, 0)  # sums that run along leave dust behind


def correlations(text: str, names: Sequence[str]) -> list[Correlation]:
    """Read what `correlate` says."""
    found = []
    for part in text.split(","):
        match = CORRELATION.fullmatch(part)
        if match is None:
            raise ConfigError(
                f"expected a correlation such as orientation~x:0.1 or orientation~x:line:0.2, "
                f"found {part!r}"
            )
        first, minus, second, definition, number = match.groups()
        catalog.check_name(definition or "gauss", ("gauss", "line"), "definition of correlation")
        try:
            width = float(number)
        except ValueError:
            width = -1.0
        if not 0 < width < np.inf:
            raise ConfigError(f"the width of {part.strip()} must be a number above 0")
        seconds = [name for name in names if name != first] if second == EVERY else [second]
        if first in seconds:
            raise ConfigError(f"{first} cannot be correlated with itself")
        one = Correlation(first, "", definition or "gauss", width, minus == "-")
        found += [replace(one, second=name) for name in seconds]
    return found


def row_weights(pairs: Sequence[Correlation], columns: Columns) -> np.ndarray:
    """Return how often each row is drawn, summing to 1."""
    weights = np.prod([pair.weights(columns) for pair in pairs], axis=0)
    total = weights.sum()
    if not total > 0:
        raise ConfigError("these correlations leave no image to draw; make them wider")
    return weights / total


def _from_0_to_1(factor: Factor, values: np.ndarray) -> np.ndarray:
    if not factor.continuous:
        return values / max(factor.size - 1, 1)
    low, high = np.nanmin(values), np.nanmax(values)
    return (values - low) / ((high - low) or 1.0)


def _column(name: str, columns: Columns) -> tuple[Factor, np.ndarray]:
    catalog.check_name(name, columns, "factor or column of the data")
    return columns[name]
