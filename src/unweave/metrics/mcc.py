"""Mean correlation coefficient: codes matched one to one with factors.

A. Hyvärinen and H. Morioka, NeurIPS 2016, arXiv:1605.06336. Absolute
correlations of codes and factors, the assignment that makes their sum largest,
and the mean over factors; a factor left without a code counts 0.
"""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from unweave.correlation import correlations
from unweave.metrics import _protocol
from unweave.metrics._score import Score
from unweave.tables import Continuous

PROTOCOLS = {
    "klindt2021": "Spearman's rank correlation (arXiv:2007.10930)",
    "hyvarinen2016": "Pearson's correlation",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def mcc(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "klindt2021",
    continuous: Continuous = None,
) -> Score:
    """Score the mean correlation of factors with the codes assigned to them.

    Class numbers are taken as amounts: for a factor whose values have no order,
    such as a shape, the correlation means little.
    """
    _protocol.choose(protocol, PROTOCOLS, "mcc")
    table, known = _protocol.read(
        codes, factors, continuous=continuous, missing="mask", metric="mcc"
    )
    ranks = protocol == "klindt2021"
    if known.has_missing:
        where = [known.known_rows(factor) for factor in range(len(known.sizes))]
        columns = [
            correlations(table[rows], known.values[rows, factor, None], ranks=ranks)
            for factor, rows in enumerate(where)
        ]
        correlation = np.abs(np.concatenate(columns, axis=1))
    else:
        correlation = np.abs(correlations(table, known.values, ranks=ranks))
    chosen, assigned = linear_sum_assignment(correlation, maximize=True)
    per_factor = np.zeros(correlation.shape[1])
    per_factor[assigned] = correlation[chosen, assigned]
    code = np.full(correlation.shape[1], -1)
    code[assigned] = chosen
    return Score(
        "mcc",
        per_factor.mean(),
        protocol,
        {
            **_protocol.named(known),
            "correlation_per_factor": per_factor,
            "assigned_code": code,
            "correlation": correlation,
        },
        notes=known.notes,
        made=_protocol.made(table, known, seed=seed),
    )
