"""Strong generalisation gap: what a predictor loses on values of another factor it never saw.

F. Locatello et al., ICML 2020, arXiv:2002.02886, section on strong generalisation: a classifier
of factor k is trained on rows whose factor j lies in one part of its values and judged on rows of
the other part. Codes that keep j apart from k lose nothing. The gap is the accuracy on new rows of
the part that was seen minus that on the part that was not, averaged over pairs k ≠ j.

Differs from the paper: a logistic regression takes the place of boosted trees, which would be
fitted for every pair, and the parts are the lower and the upper half of a factor's values. A gap
of 0 is also that of codes which know nothing: read the accuracies beside it.
"""

from typing import Any

import numpy as np

from unweave.metrics import _protocol
from unweave.metrics._logistic import fit_one_vs_rest
from unweave.metrics._score import Score
from unweave.tables import Continuous, standardize

PROTOCOLS = {"locatello2020_logistic": "logistic regression, lower half of values to upper half"}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = False
RANGE = "-1 to 1; 0 where unseen values change nothing"


def generalization_gap(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2020_logistic",
    train_rows: int = 10_000,
    test_rows: int = 5_000,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score how much accuracy is lost on unseen values of another factor."""
    _protocol.choose(protocol, PROTOCOLS, "generalization_gap")
    table, known = _protocol.read(
        codes,
        factors,
        continuous=continuous,
        bins=bins,
        least_factors=2,
        metric="generalization_gap",
    )
    rng = np.random.default_rng(seed)
    train, test = _protocol.split_rows(len(table), train_rows, test_rows, rng)
    inputs = standardize(table, table[train])
    count = len(known.sizes)
    seen, unseen = np.zeros((2, count, count))
    usable = np.zeros((count, count), dtype=bool)
    for other, size in enumerate(known.sizes):
        low = known.labels[:, other] < (size + 1) // 2
        fitted, inside, outside = train[low[train]], test[low[test]], test[~low[test]]
        if min(len(fitted), len(inside), len(outside)) < 2:
            continue
        for target in range(count):
            labels = known.labels[:, target]
            if target == other or len(np.unique(labels[fitted])) < 2:
                continue
            model = fit_one_vs_rest(inputs[fitted], labels[fitted], known.sizes[target])
            seen[target, other] = (model.predict(inputs[inside]) == labels[inside]).mean()
            unseen[target, other] = (model.predict(inputs[outside]) == labels[outside]).mean()
            usable[target, other] = True
    pairs = max(int(usable.sum()), 1)
    parts = {"seen": float(seen.sum() / pairs), "unseen": float(unseen.sum() / pairs)}
    return Score(
        "generalization_gap",
        parts["seen"] - parts["unseen"],
        protocol,
        {
            **_protocol.named(known),
            "gap": seen - unseen,
            "accuracy_on_seen": seen,
            "accuracy_on_unseen": unseen,
        },
        higher_is_better=False,
        parts=parts,
        notes=known.notes,
        made=_protocol.made(
            table,
            known,
            seed=seed,
            bins=bins,
            standardized=True,
            train_rows=len(train),
            test_rows=len(test),
        ),
    )
