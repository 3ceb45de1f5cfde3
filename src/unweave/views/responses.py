"""How each latent responds to the factors: the figure of Chen et al., for any data set.

R. T. Q. Chen et al., NeurIPS 2018, arXiv:1802.04942, figures 6 and 7 show, for dSprites,
the mean of each latent by position, and against scale and orientation by shape.
Here: a map over two position-like factors, if the set has such a pair, and a line
against every other ordered factor, split by the categorical one.

On a full grid the other factors run through the same random settings for every
cell, so that cells differ by the cell's own factors alone. Otherwise means are
taken over the rows there are.
"""

import re
from dataclasses import dataclass

import numpy as np

from unweave.data import Factor, FactorImages
from unweave.errors import DataError
from unweave.runs.model import Model
from unweave.views.code_sample import CodeSample, encode_rows, sample_codes
from unweave.views.latents import categorical_factor, value_labels
from unweave.views.view import View

SETTINGS = 16  # settings of the other factors that a cell averages over
MAP_SIDE = 16  # cells along a side of the map
LINE_POINTS = 40
BINS = 12  # of a continuous factor
PAIRS = (("x", "y"), ("horizontal", "vertical"))


@dataclass(frozen=True)
class PositionMap(View):
    """Mean code by two factors."""

    across: str
    down: str
    across_values: np.ndarray
    down_values: np.ndarray
    means: np.ndarray
    """(latent, down, across); not a number where there is no row."""


@dataclass(frozen=True)
class ResponseLines(View):
    """Mean code against one factor, a line per class."""

    factor: str
    values: np.ndarray
    value_labels: list[str] | None
    classes: list[str]
    """Names of the lines; [""] where there is nothing to split by."""
    means: np.ndarray
    """(latent, class, value); not a number where there is no row."""
    spread: np.ndarray
    """Standard deviation over the rows averaged, same shape."""


@dataclass(frozen=True)
class LatentResponse(View):
    """All latents against all ordered factors."""

    labels: list[str]
    split_by: str | None
    position: PositionMap | None
    lines: list[ResponseLines]


def latent_response(
    model: Model, codes: CodeSample | None = None, *, settings: int = SETTINGS, seed: int = 0
) -> LatentResponse:
    """Average each latent over all factors but those of a cell."""
    data = model.data
    if not data.factor_list:
        raise DataError(f"{data.name} has no factors that latents could respond to")
    if not data.is_grid and codes is None:
        codes = sample_codes(model)
    table = None if data.is_grid else codes
    by = categorical_factor(data)
    pair = position_pair(data)
    position = None
    if pair is not None:
        x, y = pair
        (columns, lines), means, _ = _cells(model, table, [x, y], settings, seed, MAP_SIDE)
        names = data.factor_names
        position = PositionMap(
            names[x], names[y], columns, lines, np.ascontiguousarray(means.transpose(2, 1, 0))
        )
    lines_of = []
    for index, factor in enumerate(data.factor_list):
        if factor.categorical or index in (pair or ()) or factor.size == 1:
            continue
        lines_of.append(_lines(model, table, index, by, settings, seed))
    if not lines_of and position is None:
        # Only categories: their order means nothing, but there is nothing else to show.
        lines_of = [
            _lines(model, table, index, None, settings, seed)
            for index, factor in enumerate(data.factor_list)
            if factor.size != 1
        ]
    split_by = None if by is None else data.factor_names[by]
    return LatentResponse(model.latent_labels(), split_by, position, lines_of)


def position_pair(data: FactorImages) -> tuple[int, int] | None:
    """Find two ordered factors whose names differ only in x and y, or the like."""
    words = [_words(name) for name in data.factor_names]
    ordered = [not f.categorical and f.size != 1 for f in data.factor_list]
    for first, second in PAIRS:
        for i, name in enumerate(words):
            if not ordered[i] or first not in name:
                continue
            partner = [second if word == first else word for word in name]
            for j, other in enumerate(words):
                if ordered[j] and other == partner:
                    return i, j
    return None


def _words(name: str) -> list[str]:
    """Split position_x, posX and 'x position' into small words."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.split(r"[\s_\-.]+", spaced) if word]


def _lines(
    model: Model,
    table: CodeSample | None,
    index: int,
    by: int | None,
    settings: int,
    seed: int,
) -> ResponseLines:
    factor = model.data.factor_list[index]
    chosen = [index] if by is None or by == index else [index, by]
    values, means, spread = _cells(model, table, chosen, settings, seed, LINE_POINTS)
    if len(chosen) == 1:
        means, spread = means[:, None], spread[:, None]  # (value, class, latent)
        classes = [""]
    else:
        classes = value_labels(model.data.factor_list[chosen[1]])
    labels = None
    if factor.labels is not None:
        labels = [factor.labels[int(value)] for value in values[0]]
    return ResponseLines(
        factor.name,
        values[0],
        labels,
        classes,
        np.ascontiguousarray(means.transpose(2, 1, 0)),
        np.ascontiguousarray(spread.transpose(2, 1, 0)),
    )


def _cells(
    model: Model,
    table: CodeSample | None,
    chosen: list[int],
    settings: int,
    seed: int,
    most: int,
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Return the values of the chosen factors, and means and spreads of codes by cell."""
    if table is None:
        return _cells_of_grid(model, chosen, settings, seed, most)
    return _cells_of_table(model.data, table, chosen)


def _cells_of_grid(
    model: Model, chosen: list[int], settings: int, seed: int, most: int
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    data = model.data
    values = [
        np.unique(np.linspace(0, data.factor_sizes[i] - 1, min(data.factor_sizes[i], most)).round())
        for i in chosen
    ]
    values = [value.astype(np.int64) for value in values]
    rng = np.random.default_rng((seed, 0x2E5))
    others = rng.integers(np.array(data.factor_sizes), size=(settings, len(data.factor_list)))
    cells = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1)
    shape = cells.shape[:-1]
    wanted = np.tile(others, (int(np.prod(shape)), 1))
    wanted[:, chosen] = np.repeat(cells.reshape(-1, len(chosen)), settings, axis=0)
    codes, _ = encode_rows(model, data.rows_of(wanted))
    codes = codes.reshape(*shape, settings, -1).astype(np.float64)
    return values, codes.mean(axis=-2), codes.std(axis=-2)


def _cells_of_table(
    data: FactorImages, table: CodeSample, chosen: list[int]
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    values, places = [], []
    for index in chosen:
        value, place = _binned(table.factors[:, index], data.factor_list[index])
        values.append(value)
        places.append(place)
    shape = tuple(len(value) for value in values)
    cell = np.ravel_multi_index(tuple(places), shape)
    total = int(np.prod(shape))
    count = np.bincount(cell, minlength=total)[:, None].astype(np.float64)
    codes = table.codes.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.stack([np.bincount(cell, c, total) for c in codes.T], axis=1) / count
        squares = np.stack([np.bincount(cell, c**2, total) for c in codes.T], axis=1) / count
        spread = np.sqrt(np.maximum(squares - means**2, 0))
    return values, means.reshape(*shape, -1), spread.reshape(*shape, -1)


def _binned(column: np.ndarray, factor: Factor) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a factor, or the middles of its bins, and each row's place."""
    if not factor.continuous:
        return np.arange(factor.size), column.astype(np.int64)
    edges = np.linspace(column.min(), column.max(), BINS + 1)
    place = np.clip(np.searchsorted(edges, column, side="right") - 1, 0, BINS - 1)
    return (edges[:-1] + edges[1:]) / 2, place
