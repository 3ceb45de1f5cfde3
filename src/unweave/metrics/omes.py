"""OMES: does changing one factor move one code, and that code for no other factor?

J. Dapueto, N. Noceti, F. Odone, NeurIPS 2024, arXiv:2409.18017. Over pairs (z, z') that differ in
factor k alone, the strength with which code d answers to it is

    m_dk = 1 - |corr(z_d, z'_d)|

Overlap asks whether a code answers to this factor only, multiple encoding whether only this code
does:

    o_dk = 1 - mean_k' |1[k' = k] - m_dk'|,   e_dk = 1 - mean_d' |1[d' = d] - m_d'k|
    score_k = α max_d m_dk o_dk + (1 - α) max_d m_dk e_dk

and the score is the mean over factors, with α = ½. Nothing is fitted.

Differs from the authors: they leave out codes with a deviation below 0.05, here only constant
ones are, whatever the unit. Pairs are drawn from the seed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._sampling import REFERENCE_ROWS, from_model, from_table
from unweave.metrics._score import Score
from unweave.tables import Continuous, varying_codes

PROTOCOLS = {
    "dapueto2024": "the code that does best for each factor",
    "dapueto2024_all": "all codes, weighted by how strongly they answer",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
TAKES_A_MODEL = True
RANGE = "0 to 1"


def omes(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "dapueto2024",
    pairs: int = 10_000,
    alpha: float = 0.5,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score how exclusively codes answer to changes of single factors.

    `codes` may be a function from images to codes, and `factors` a data set with a full grid.
    """
    _protocol.choose(protocol, PROTOCOLS, "omes")
    if callable(codes):
        source = from_model(codes, factors)
    else:
        table, known = _protocol.read(
            codes, factors, continuous=continuous, bins=bins, least_factors=2, metric="omes"
        )
        source = from_table(table, known)
    rng = np.random.default_rng(seed)
    reference = source.codes_of(source.sampler.any_rows(REFERENCE_ROWS, rng))
    active = varying_codes(reference.T)
    if not active.any():
        raise DataError("omes needs a code that varies; all are constant.")
    strength = np.zeros((int(active.sum()), len(source.sampler.sizes)))
    for factor in range(strength.shape[1]):
        rows = source.sampler.apart(factor, pairs, 2, rng)
        labels = source.sampler.labels_of(rows)[..., factor]
        rows = rows[labels[:, 0] != labels[:, 1]]
        if len(rows) < 2:
            name = source.sampler.names[factor]
            raise DataError(f"fewer than 2 pairs of rows differ in factor {name!r} alone.")
        strength[:, factor] = 1 - np.abs(_correlation(source.codes_of(rows)[active]))
    overlap = 1 - np.abs(np.eye(strength.shape[1])[None] - strength[:, None, :]).mean(axis=2)
    encoding = 1 - np.abs(np.eye(len(strength))[:, :, None] - strength[None]).mean(axis=1)
    each = [_joined(strength, part, protocol) for part in (overlap, encoding)]
    per_factor = alpha * each[0] + (1 - alpha) * each[1]
    return Score(
        "omes",
        float(per_factor.mean()),
        protocol,
        {
            "factor_names": source.sampler.names,
            "score_per_factor": per_factor,
            "strength": strength,
            "active_codes": active,
            "sampled_from": source.name,
        },
        parts={"overlap": float(each[0].mean()), "encoding": float(each[1].mean())},
        notes=source.notes,
        made=source.made(len(active), seed=seed, active=active, pairs=pairs),
    )


def _correlation(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each code's correlation over pairs, (code, pair, 2); what stands still has 1."""
    centred = codes - codes.mean(axis=1, keepdims=True)
    lengths = np.sqrt((centred**2).sum(axis=1))
    product = lengths.prod(axis=1)
    moves = product > 1e-12 * np.maximum((codes**2).sum(axis=(1, 2)), 1e-300)
    shared = (centred[..., 0] * centred[..., 1]).sum(axis=1)
    return np.where(moves, shared / np.where(moves, product, 1.0), 1.0)


def _joined(
    strength: NDArray[np.float64], part: NDArray[np.float64], protocol: str
) -> NDArray[np.float64]:
    """Join the codes' scores of each factor."""
    weighted = strength * part
    if protocol == "dapueto2024":
        return np.asarray(weighted.max(axis=0))
    total = strength.sum(axis=0)
    return np.asarray((weighted * strength).sum(axis=0) / np.where(total > 0, total, 1.0))
