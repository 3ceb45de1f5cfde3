"""Unfairness: how far predictions of one factor change with another one.

F. Locatello et al., NeurIPS 2019, arXiv:1905.13662. A predictor of target factor i
is trained on the codes. With p_c its predictions when sensitive factor j is set
to c, and p̄ their mean:

    unfairness_ij = mean_c ½ Σ |p_c - p̄|

averaged over all pairs i ≠ j; lower is better.

From a model and a full grid, factor j is set while the others stay, as in the
paper. A table that holds such rows is used in the same way. Any other table
compares the rows that have v_j = c; the distance that chance alone gives, from
shuffled values of v_j, is then subtracted.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics import _protocol
from unweave.metrics._sampling import EncodedRows, Encoder, Grid, GridSampler
from unweave.metrics._score import Made, Score
from unweave.metrics._trees import boost, boost_each
from unweave.tables import Continuous, FactorTable

PROTOCOLS = {"locatello2019_lightgbm": "boosted trees grown by LightGBM, 100 rows per value"}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = False
TAKES_A_MODEL = True
RANGE = "0 to 1"

SHUFFLES = 5


def unfairness(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2019_lightgbm",
    train_rows: int = 10_000,
    test_rows: int = 5_000,
    interventions: int = 100,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score how far a predictor of one factor depends on the value of another.

    `codes` may be a function from images to codes, and `factors` a data set with a full grid:
    then images are drawn as in the paper.
    """
    _protocol.choose(protocol, PROTOCOLS, "unfairness")
    if callable(codes):
        return _of_model(codes, factors, seed, protocol, train_rows, interventions)
    table, known = _protocol.read(
        codes, factors, continuous=continuous, bins=bins, least_factors=2, metric="unfairness"
    )
    rng = np.random.default_rng(seed)
    inputs = table.astype(np.float64)
    grid = _grid_rows(known)
    train, test = _protocol.split_rows(len(inputs), train_rows, test_rows, rng)
    if grid is not None:
        test = np.arange(len(inputs))
    count = len(known.sizes)
    distance = np.zeros((count, count))
    trees = boost_each(inputs[train], known.labels[train], known.sizes, inputs[test], seed=seed)
    for target, size in enumerate(known.sizes):
        predicted = trees[target].prediction
        for sensitive in range(count):
            if sensitive == target:
                continue
            if grid is None:
                groups = known.labels[test, sensitive]
                distance[target, sensitive] = _above_chance(predicted, groups, size, rng)
            else:
                base = rng.integers(len(inputs), size=interventions)
                rows = _intervene(known.labels[base], sensitive, known.sizes, grid)
                distance[target, sensitive] = _distance(predicted[rows], size)
    source = "rows of the table" if grid is None else "interventions within the table"
    made = _protocol.made(
        inputs, known, seed=seed, bins=bins, train_rows=len(train), test_rows=len(test)
    )
    return _result(distance, known.names, protocol, source, made, known.notes)


def _of_model(
    encode: Encoder, data: Grid, seed: int, protocol: str, train_rows: int, interventions: int
) -> Score:
    """Score a function from images to codes with the paper's interventions on a full grid."""
    rng = np.random.default_rng(seed)
    sampler, codes_of = GridSampler(data), EncodedRows(encode, data)
    factors = sampler.draw(train_rows, rng)
    codes = codes_of(sampler.look_up(factors)).T
    count = len(sampler.sizes)
    distance = np.zeros((count, count))
    for target, size in enumerate(sampler.sizes):
        # One prediction for all sensitive factors: their rows are joined.
        sensitive = [j for j in range(count) if j != target]
        rows = [_changed(sampler.draw(interventions, rng), j, sampler.sizes[j]) for j in sensitive]
        inputs = [codes_of(sampler.look_up(r.reshape(-1, count))).T for r in rows]
        trees = boost(codes, factors[:, target], np.concatenate(inputs), seed=seed)
        ends = np.cumsum([len(part) for part in inputs])[:-1]
        for j, part in zip(sensitive, np.split(trees.prediction, ends), strict=True):
            distance[target, j] = _distance(part.reshape(sampler.sizes[j], interventions), size)
    made = Made(
        len(data), codes.shape[1], seed, {"train_rows": train_rows, "interventions": interventions}
    )
    return _result(distance, sampler.names, protocol, "full grid", made)


def _result(
    distance: NDArray[np.float64],
    names: tuple[str, ...],
    protocol: str,
    source: str,
    made: Made,
    notes: tuple[str, ...] = (),
) -> Score:
    pairs = ~np.eye(len(distance), dtype=bool)
    return Score(
        "unfairness",
        float(distance[pairs].mean()),
        protocol,
        {
            "factor_names": names,
            "distance": distance,
            "worst": float(distance[pairs].max()),
            "sampled_from": source,
        },
        higher_is_better=False,
        made=made,
        notes=notes,
    )


def _changed(base: NDArray[np.int64], factor: int, size: int) -> NDArray[np.int64]:
    """Set one factor to each of its values in turn, (value, row, factor)."""
    changed = np.repeat(base[None], size, axis=0)
    changed[:, :, factor] = np.arange(size)[:, None]
    return changed


def _grid_rows(factors: FactorTable) -> NDArray[np.int64] | None:
    """Return the row of every combination of values, or None unless all are there."""
    cells = int(np.prod(factors.sizes, dtype=np.float64))
    if cells > len(factors):
        return None
    rows = np.full(cells, -1, dtype=np.int64)
    rows[np.ravel_multi_index(tuple(factors.labels.T), factors.sizes)] = np.arange(len(factors))
    return None if (rows < 0).any() else rows


def _intervene(
    base: NDArray[np.int64], factor: int, sizes: tuple[int, ...], grid: NDArray[np.int64]
) -> NDArray[np.int64]:
    changed = _changed(base, factor, sizes[factor])
    return grid[np.ravel_multi_index(tuple(np.moveaxis(changed, 2, 0)), sizes)]


def _distance(predictions: NDArray[np.int64], classes: int) -> float:
    """Return the mean total variation between predictions per value and all of them.

    Predictions are (value, row).
    """
    each = np.stack([np.bincount(row, minlength=classes) / len(row) for row in predictions])
    return float(0.5 * np.abs(each - each.mean(axis=0)).sum(axis=1).mean())


def _above_chance(
    predictions: NDArray[np.int64],
    groups: NDArray[np.int64],
    classes: int,
    rng: np.random.Generator,
) -> float:
    def distance(values: NDArray[np.int64]) -> float:
        size = values.max() + 1
        counts = np.bincount(values * classes + predictions, minlength=size * classes)
        counts = counts.reshape(size, classes)
        weight = counts.sum(axis=1)
        each = counts / np.maximum(weight, 1)[:, None]
        overall = counts.sum(axis=0) / counts.sum()
        variation = 0.5 * np.abs(each - overall).sum(axis=1)
        return float((variation * weight).sum() / weight.sum())

    chance = np.mean([distance(rng.permutation(groups)) for _ in range(SHUFFLES)])
    return max(distance(groups) - float(chance), 0.0)
