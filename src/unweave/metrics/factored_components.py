"""Factored components: how far a factor's changes of the codes are ordered, linear, on one axis.

N. J. Michlo's library disent, 2022; the distances are those of arXiv:2202.13341. Let
factor k take each value in turn while the others stay, and let s_1 ≥ … ≥ s_D be the
variances of the codes along this traversal. With their share scaled so that equal
variances give 0,

    ratio(s) = (s_1 / Σ s - 1/D) / (1 - 1/D)

the axis ratio takes the variances of the codes, the linear ratio those of the principal
components of the codes. Axis alignment is axis / linear ratio. The order is the rank
correlation of distances between values of the factor and distances between codes,
along traversals and between any rows.

Ratios are means over traversals, then geometric means over factors. The value is the
axis ratio: the share of a factor's movement that a single code holds. A traversal that
moves no code has a ratio of 0; a correlation below 0 counts as 0 in a geometric mean.

From a table, traversals are rows that it has: it must hold every value of a factor for
some combination of the others. Of a function they are taken from a full grid.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.correlation import correlations
from unweave.metrics import _protocol
from unweave.metrics._sampling import (
    Source,
    from_model,
    from_table,
)
from unweave.metrics._score import Score
from unweave.tables import Continuous

PROTOCOLS = {"michlo2022": "1,024 traversals of each factor, as in the library disent"}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
TAKES_A_MODEL = True
RANGE = "0 to 1"

PAIRS = 128
"""Pairs of rows compared in each traversal, and in each batch of any rows."""

BATCH = 32
"""Rows of a batch that is no traversal."""


def factored_components(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "michlo2022",
    traversals: int = 1_024,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score how much of each factor's movement falls on one code, is linear and in order.

    `codes` may be a function from images to codes, and `factors` a data set with a full grid:
    then images are drawn as in the paper.
    """
    _protocol.choose(protocol, PROTOCOLS, "factored_components")
    if callable(codes):
        source = from_model(codes, factors)
    else:
        table, known = _protocol.read(
            codes,
            factors,
            continuous=continuous,
            bins=bins,
            least_codes=2,
            metric="factored_components",
        )
        source = from_table(table, known)
    return _score(source, seed, protocol, traversals)


def _score(source: Source, seed: int, protocol: str, traversals: int) -> Score:
    rng = np.random.default_rng(seed)
    parts: dict[str, list[float]] = {"axis": [], "linear": [], "alignment": [], "order": []}
    moving = range(len(source.sampler.sizes))
    for factor in moving:
        rows = source.sampler.traversals(factor, traversals, rng)
        codes = np.moveaxis(source.codes_of(rows), 0, 2)
        codes = codes - codes[:, :1]  # a code that stays is then exactly 0
        axis = _ratio(codes.var(axis=1))
        linear = _ratio(_principal_variances(codes))
        parts["axis"].append(axis.mean())
        parts["linear"].append(linear.mean())
        parts["alignment"].append((axis / np.where(linear > 0, linear, 1.0)).mean())
        values = np.broadcast_to(np.arange(codes.shape[1])[:, None], (*codes.shape[:2], 1))
        parts["order"].append(_order(values, codes, rng))
    pool = source.sampler.any_rows(traversals * BATCH, rng)
    rows = pool[rng.integers(len(pool), size=(traversals, BATCH))]
    codes = np.moveaxis(source.codes_of(rows), 0, 2)
    everywhere = _order(source.sampler.labels_of(rows), codes, rng)
    means = {name: _geometric_mean(np.array(part)) for name, part in parts.items()}
    return Score(
        "factored_components",
        means["axis"],
        protocol,
        {
            "factor_names": tuple(source.sampler.names[factor] for factor in moving),
            "axis_ratio": means["axis"],
            "linear_ratio": means["linear"],
            "axis_alignment": means["alignment"],
            "rank_correlation_along_factors": means["order"],
            "rank_correlation_of_any_rows": everywhere,
            "axis_ratio_per_factor": np.array(parts["axis"]),
            "linear_ratio_per_factor": np.array(parts["linear"]),
            "axis_alignment_per_factor": np.array(parts["alignment"]),
            "rank_correlation_per_factor": np.array(parts["order"]),
            "sampled_from": source.name,
        },
        notes=source.notes,
        made=source.made(codes.shape[2], seed=seed, traversals=traversals),
    )


def _ratio(variances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the largest variance in each row, scaled to 0 … 1."""
    total, even = variances.sum(axis=1), 1 / variances.shape[1]
    share = variances.max(axis=1) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, np.clip((share - even) / (1 - even), 0.0, 1.0), 0.0)


def _principal_variances(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variances of principal components, (traversal, code)."""
    centred = codes - codes.mean(axis=1, keepdims=True)
    covariance = np.einsum("tvi,tvj->tij", centred, centred) / codes.shape[1]
    return np.maximum(np.linalg.eigvalsh(covariance), 0.0)


def _order(
    values: NDArray[np.int64], codes: NDArray[np.float64], rng: np.random.Generator
) -> float:
    """Return the rank correlation of 1-norm distances, over pairs of rows of the same batch.

    Values are (batch, row, factor), codes (batch, row, code).
    """
    batches, size = codes.shape[:2]
    first, second = rng.integers(size, size=(2, batches, PAIRS))
    batch = np.arange(batches)[:, None]
    distances = [
        np.abs(table[batch, first] - table[batch, second]).sum(axis=2).reshape(-1, 1)
        for table in (values, codes)
    ]
    return float(correlations(*distances, ranks=True)[0, 0])


def _geometric_mean(parts: NDArray[np.float64]) -> float:
    if (parts <= 0).any():
        return 0.0
    return float(np.exp(np.log(parts).mean()))
