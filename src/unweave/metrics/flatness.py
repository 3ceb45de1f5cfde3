"""Flatness: whether codes walk straight along one axis while a factor runs through its values.

N. J. Michlo's library disent, 2021; it has no arXiv paper of its own. Let factor k take
each value in turn while the others stay. With p the norm of the distances between
codes, width_p is the largest distance between two points of the traversal, and length_p
the sum of its steps, the step from the last value back to the first included, without
the longest one:

    mean_k width_2 / length_1

Both are means over traversals. The 2-norm of a diagonal step is shorter than its
1-norm, so a straight line scores 1 only along one code. Which code it is, and whether
two factors share it, is not asked. A factor that moves no code scores 0.

From a table, traversals are rows that it has: it must hold every value of a factor for
some combination of the others. Of a function they are taken from a full grid.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics import _protocol
from unweave.metrics._sampling import (
    Source,
    from_model,
    from_table,
)
from unweave.metrics._score import Score
from unweave.tables import Continuous

PROTOCOLS = {"michlo2021": "1,024 traversals of each factor, as in the library disent"}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
TAKES_A_MODEL = True
RANGE = "0 to 1"

CHUNK = 1 << 20
"""Differences of codes held at once."""


def flatness(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "michlo2021",
    traversals: int = 1_024,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score how straight, and how much along one code, the codes move with each factor.

    `codes` may be a function from images to codes, and `factors` a data set with a full grid:
    then images are drawn as in the paper.
    """
    _protocol.choose(protocol, PROTOCOLS, "flatness")
    if callable(codes):
        source = from_model(codes, factors)
    else:
        table, known = _protocol.read(
            codes, factors, continuous=continuous, bins=bins, metric="flatness"
        )
        source = from_table(table, known)
    return _score(source, seed, protocol, traversals)


def _score(source: Source, seed: int, protocol: str, traversals: int) -> Score:
    rng = np.random.default_rng(seed)
    moving = range(len(source.sampler.sizes))
    widths, lengths = [], []
    for factor in moving:
        codes = source.codes_of(source.sampler.traversals(factor, traversals, rng))
        widths.append([_width(codes, p) for p in (1, 2)])
        lengths.append([_length(codes, p) for p in (1, 2)])
    width_1, width_2 = np.array(widths).T
    length_1, length_2 = np.array(lengths).T
    per_factor = _ratio(width_2, length_1)
    return Score(
        "flatness",
        per_factor.mean(),
        protocol,
        {
            "factor_names": tuple(source.sampler.names[factor] for factor in moving),
            "flatness_per_factor": per_factor,
            "flatness_l1_per_factor": _ratio(width_1, length_1),
            "flatness_l2_per_factor": _ratio(width_2, length_2),
            "width_l1_per_factor": width_1,
            "width_l2_per_factor": width_2,
            "length_l1_per_factor": length_1,
            "length_l2_per_factor": length_2,
            "sampled_from": source.name,
        },
        notes=source.notes,
        made=source.made(len(codes), seed=seed, traversals=traversals),
    )


def _norm(differences: NDArray[np.float64], p: int) -> NDArray[np.float64]:
    """Return the p-norm over codes, the first axis."""
    if p == 1:
        return np.abs(differences).sum(axis=0)
    return np.sqrt((differences**2).sum(axis=0))


def _width(codes: NDArray[np.float64], p: int) -> float:
    """Return the mean of the largest distances within traversals, (code, traversal, value)."""
    _, count, size = codes.shape
    step = max(CHUNK // (len(codes) * size * size), 1)
    total = 0.0
    for start in range(0, count, step):
        part = codes[:, start : start + step]
        between = _norm(part[:, :, :, None] - part[:, :, None, :], p)
        total += float(between.max(axis=(1, 2)).sum())
    return total / count


def _length(codes: NDArray[np.float64], p: int) -> float:
    """Return the mean sum of steps; the longest is where a factor that is no circle closes."""
    steps = _norm(np.roll(codes, -1, axis=2) - codes, p)
    return float((steps.sum(axis=1) - steps.max(axis=1)).mean())


def _ratio(widths: NDArray[np.float64], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    moved = lengths > 0
    return np.where(moved, widths / np.where(moved, lengths, 1.0), 0.0)
