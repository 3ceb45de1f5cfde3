"""MED: DCI's disentanglement and completeness with mutual information for importance.

J. Cao et al., NeurIPS 2022, arXiv:2206.04756. With I by histograms, as in MIG,

    R_jk = I(c_j; v_k) / Σ_j I(c_j; v_k)

takes the place of a predictor's importance in DCI's D and C. Nothing is fitted, so that hundreds
of codes can be scored. For such the authors print top-k MED: of each factor's codes, those
that know it best, the k with the most even share of one factor are kept.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics import _protocol
from unweave.metrics._entropic import even_entropy
from unweave.metrics._information import measure_information
from unweave.metrics._score import Score
from unweave.tables import Continuous

PROTOCOLS = {
    "cao2022": "all codes, 20 bins",
    "cao2022_top": "of each factor the `top` codes that are most disentangled",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def med(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "cao2022",
    top: int = 2,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score whether each code knows one factor and each factor is known by one code."""
    _protocol.choose(protocol, PROTOCOLS, "med")
    table, known = _protocol.read(
        codes,
        factors,
        continuous=continuous,
        bins=bins,
        least_codes=2,
        least_factors=2,
        missing="mask",
        metric="med",
    )
    mutual = measure_information(table, known, bins).mutual
    total = mutual.sum(axis=0)
    importance = mutual / np.where(total > 0, total, 1.0)
    kept = np.arange(len(importance))
    if protocol == "cao2022_top":
        kept = _most_disentangled(importance, top)
    chosen = importance[kept]
    weight = chosen.sum(axis=1) / (chosen.sum() or 1.0)
    disentanglement = 1 - even_entropy(chosen, axis=1)
    completeness = 1 - even_entropy(chosen, axis=0) if len(kept) > 1 else np.ones(len(total))
    parts = {"D": float(weight @ disentanglement), "C": float(completeness.mean())}
    active = np.isin(np.arange(len(importance)), kept)
    return Score(
        "med",
        parts["D"],
        protocol,
        {
            **_protocol.named(known),
            "importance": importance,
            "mutual_information": mutual,
            "completeness_per_factor": completeness,
        },
        parts=parts,
        notes=known.notes,
        made=_protocol.made(table, known, seed=seed, bins=bins, active=active),
    )


def _most_disentangled(importance: NDArray[np.float64], top: int) -> NDArray[np.int64]:
    """Return the codes to keep: for each factor the `top` best of those that know it best."""
    disentanglement = 1 - even_entropy(importance, axis=1)
    belongs = importance.argmax(axis=1)
    kept = []
    for factor in range(importance.shape[1]):
        own = np.flatnonzero(belongs == factor)
        kept += own[np.argsort(-disentanglement[own], kind="stable")][:top].tolist()
    return np.array(sorted(kept))
