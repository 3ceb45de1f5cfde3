"""Unsupervised disentanglement ranking: do models trained alike agree on their codes?

S. Duan et al., ICLR 2020, arXiv:1905.12614. For two models, R holds how strongly
each code of one predicts each code of the other; agreement is one to one when
every row and column has a single entry:

    UDR_ab = ½ [mean over columns of max² / sum + mean over rows of max² / sum]

A model's score is the median over the others. No factors are needed; codes with
a KL below 0.01 are left out.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.correlation import correlations
from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._score import Score
from unweave.tables import code_table, standardize, varying_codes

PROTOCOLS = {
    "lasso": "sizes of lasso coefficients, alpha 0.1: a model with itself scores 0.9",
    "spearman": "absolute rank correlations",
}
NEEDS = _protocol.SEVERAL_MODELS
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def udr(
    codes: Sequence[Any],
    *,
    seed: int = 0,
    protocol: str = "lasso",
    kls: Sequence[Any] | None = None,
    rows: int = 1_000,
) -> Score:
    """Score how well the codes of several models, for the same inputs, match each other.

    `kls` holds each model's mean KL per code; without it only constant codes are
    left out. At most `rows` rows are compared.
    """
    _protocol.choose(protocol, PROTOCOLS, "udr")
    tables = [code_table(table, f"codes of model {index}") for index, table in enumerate(codes)]
    if len(tables) < 2:
        raise DataError(f"udr compares models and needs at least 2; found {len(tables)}.")
    lengths = sorted({len(table) for table in tables})
    if len(lengths) > 1:
        raise DataError(f"all models must encode the same rows; found {lengths} rows.")
    chosen = np.sort(np.random.default_rng(seed).permutation(lengths[0])[:rows])
    scaled = []
    for index, table in enumerate(tables):
        informative = varying_codes(table[chosen])
        if kls is not None:
            kl = np.asarray(kls[index], dtype=np.float64)
            if kl.shape != (table.shape[1],):
                raise DataError(
                    f"model {index} has {table.shape[1]} codes but KLs of shape {kl.shape}."
                )
            informative &= kl > 0.01
        scaled.append(standardize(table[chosen][:, informative]))
    count = len(scaled)
    agreement = np.zeros((count, count))
    for a in range(count):
        for b in range(count):
            if a != b:
                agreement[a, b] = _agreement(_strength(scaled[a], scaled[b], protocol))
    models = np.array([np.median(np.delete(agreement[:, b], b)) for b in range(count)])
    return Score(
        "udr",
        models.mean(),
        protocol,
        {"score_per_model": models, "agreement": agreement},
        made=_protocol.made(tables[0][chosen], None, seed=seed, models=count),
    )


def _strength(a: NDArray[np.float64], b: NDArray[np.float64], protocol: str) -> NDArray[np.float64]:
    """Return how strongly each code of a speaks for each code of b, (code of a, code of b)."""
    if a.shape[1] == 0 or b.shape[1] == 0:
        return np.zeros((1, 1))
    if protocol == "spearman":
        return np.abs(correlations(a, b, ranks=True))
    from sklearn.linear_model import Lasso

    return np.abs(np.atleast_2d(Lasso(alpha=0.1).fit(a, b).coef_)).T


def _agreement(strength: NDArray[np.float64]) -> float:
    parts = []
    for axis in (0, 1):
        total = strength.sum(axis=axis)
        share = strength.max(axis=axis) ** 2 / np.where(total > 0, total, 1.0)
        parts.append(float(share.mean()))
    return sum(parts) / 2
