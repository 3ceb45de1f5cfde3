"""DCI: does each code matter for one factor, and does one code hold each factor?

Disentanglement, completeness and informativeness: C. Eastwood and C. Williams,
ICLR 2018. A predictor of each factor k gives code j an importance R_jk ≥ 0. With
P_jk = R_jk / Σ_k R_jk and P̃_jk = R_jk / Σ_j R_jk:

    D = Σ_j ρ_j (1 - H_K(P_j)),   ρ_j = Σ_k R_jk / Σ R,   entropies to base K
    C = Σ_k w_k (1 - H_D(P̃_k)),   entropies to base D

Informativeness is the predictor's accuracy on new rows, or for regressions one
minus its error relative to the factor's deviation. The score's value is D; C
and I are in the details.

`lin2020` is the table of InfoGAN-CR (arXiv:1906.06034): the authors' lasso on all rows, judged on
the same. Its code also has forests whose depths were chosen for dSprites; which of them a
column of the table is, is not said. `hsu2024` is that of Tripod (arXiv:2404.10282).

With `groups`, several codes form one concept, as in VCT or FDAE: a concept's importance is the
sum over its codes, and D and C speak of concepts.
"""

from typing import Any

import numpy as np

from unweave.metrics import _protocol
from unweave.metrics._entropic import even_entropy
from unweave.metrics._groups import Groups, concepts, membership
from unweave.metrics._importance import PREDICTORS, STANDARDIZED
from unweave.metrics._score import Score
from unweave.tables import Continuous

PROTOCOLS = {
    "locatello2019_trees": "the study's boosted trees, every threshold, all classes at once",
    "locatello2019_lightgbm": "the study's boosted trees, cut at 255 quantiles of each code",
    "locatello2019_exact": "the study's boosted trees, cut everywhere: scikit-learn's importances",
    "locatello2019": "scikit-learn's GradientBoostingClassifier (arXiv:1811.12359)",
    "eastwood2018": "the authors' lasso, alpha 0.02 on standardised codes and factors",
    "eastwood2018_forest": "the authors' random forest, 10 regression trees of depth 12",
    "carbonneau2022": "lasso with cross-validated alpha on scaled codes (arXiv:2012.09276)",
    "lin2020": "the authors' lasso, alpha 0.02, on all rows and judged on the same",
    "hsu2024": "random forest of 100 trees by entropy, depth 10, a tenth of the rows for testing",
    "linear": "least squares on standardised codes and factors",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"

ALL_ROWS = ("lin2020",)
"""Protocols that look at every row there is."""


def dci(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2019_trees",
    train_rows: int = 10_000,
    test_rows: int = 5_000,
    bins: int = 20,
    groups: Groups | None = None,
    components: int | None = None,
    continuous: Continuous = None,
) -> Score:
    """Score whether each code matters for one factor and each factor needs one code.

    `groups` are codes that form one concept, each reduced to `components` principal
    components where these are given.
    """
    _protocol.choose(protocol, PROTOCOLS, "dci")
    table, known = _protocol.read(
        codes,
        factors,
        continuous=continuous,
        bins=bins,
        least_codes=2,
        least_factors=2,
        missing="mask" if protocol.startswith("locatello2019") else "drop",
        metric="dci",
    )
    columns = None
    if groups is not None:
        table, columns = concepts(table, groups, components)
    rng = np.random.default_rng(seed)
    if protocol == "lin2020":
        train = test = np.arange(len(table))
    else:
        if protocol == "hsu2024":
            test_rows = max(len(table) // 10, 1)
            train_rows = len(table) - test_rows
        train, test = _protocol.split_rows(len(table), train_rows, test_rows, rng)
    predictor = PREDICTORS[protocol]
    fitted = predictor(table.astype(np.float64), known, train, test, seed)
    importance = fitted.importance
    if columns is not None:
        importance = membership(columns) @ importance
        _protocol.need_codes(importance.T, 2, "dci")
    disentanglement = 1 - even_entropy(importance, axis=1)
    completeness = 1 - even_entropy(importance, axis=0)
    total = importance.sum()
    code_weight = importance.sum(axis=1) / (total or 1.0)
    # The authors average factors alike; tree importances sum to one anyway.
    return Score(
        "dci",
        float(code_weight @ disentanglement),
        protocol,
        {
            **_protocol.named(known),
            "disentanglement": float(code_weight @ disentanglement),
            "completeness": float(completeness.mean()),
            "informativeness": float(fitted.informativeness.mean()),
            "disentanglement_per_code": disentanglement,
            "completeness_per_factor": completeness,
            "informativeness_per_factor": fitted.informativeness,
            "train_informativeness_per_factor": fitted.train_informativeness,
            "code_weight": code_weight,
            "importance": importance,
            "informativeness_is": fitted.meaning,
        },
        notes=known.notes,
        parts={
            "D": float(code_weight @ disentanglement),
            "C": float(completeness.mean()),
            "I": float(fitted.informativeness.mean()),
        },
        made=_protocol.made(
            table,
            known,
            seed=seed,
            bins=bins,
            standardized=protocol in STANDARDIZED,
            train_rows=len(train),
            test_rows=len(test),
        ),
    )
