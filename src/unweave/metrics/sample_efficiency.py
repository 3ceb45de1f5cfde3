"""Sample efficiency: accuracy from few rows relative to accuracy from many.

F. Locatello et al., ICML 2019, arXiv:1811.12359: a classifier predicts each factor
from the codes, trained on 100 and on 10,000 rows; the score is the mean accuracy
of the first divided by that of the second, both on new rows.

The regression does not penalise its intercept, as scikit-learn's does not: with a strong penalty
rare classes would be lost to the intercept and not to the codes.

Useless codes score high, because both accuracies are low: read the accuracies too.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._logistic import fit_one_vs_rest
from unweave.metrics._score import Score
from unweave.metrics._trees import boost_each
from unweave.tables import Continuous, FactorTable

PROTOCOLS = {
    "locatello2019_lightgbm": "boosted trees, grown by LightGBM",
    "locatello2019_logistic": "logistic regression, penalty by 5-fold cross-validation of 10",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 upwards, usually below 1"


def sample_efficiency(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2019_lightgbm",
    few_rows: int = 100,
    train_rows: int = 10_000,
    test_rows: int = 5_000,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score how much accuracy is left when only `few_rows` rows are labelled."""
    _protocol.choose(protocol, PROTOCOLS, "sample_efficiency")
    table, known = _protocol.read(
        codes, factors, continuous=continuous, bins=bins, metric="sample_efficiency"
    )
    rng = np.random.default_rng(seed)
    train, test = _protocol.split_rows(len(table), train_rows, test_rows, rng)
    if not 2 <= few_rows < len(train):
        raise DataError(
            f"sample_efficiency compares {few_rows} rows with all {len(train)} training rows; "
            "few_rows must be at least 2 and smaller."
        )
    inputs = table.astype(np.float64)
    accuracy = np.zeros((2, len(known.sizes)))
    for which, rows in enumerate((train[:few_rows], train)):
        predicted = _predict(inputs, known, rows, test, protocol, seed)
        accuracy[which] = (predicted == known.labels[test]).mean(axis=0)
    few, many = accuracy.mean(axis=1)
    return Score(
        "sample_efficiency",
        float(few / many) if many > 0 else 0.0,
        protocol,
        {
            **_protocol.named(known),
            "few_rows": few_rows,
            "train_rows": len(train),
            "accuracy_from_few": float(few),
            "accuracy_from_all": float(many),
            "accuracy_from_few_per_factor": accuracy[0],
            "accuracy_from_all_per_factor": accuracy[1],
        },
        notes=known.notes,
        made=_protocol.made(
            table,
            known,
            seed=seed,
            bins=bins,
            few_rows=few_rows,
            train_rows=len(train),
            test_rows=len(test),
        ),
    )


def _predict(
    inputs: NDArray[np.float64],
    factors: FactorTable,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    protocol: str,
    seed: int,
) -> NDArray[np.int64]:
    """Predict every factor of the test rows, (row, factor)."""
    if protocol == "locatello2019_lightgbm":
        labels = factors.labels[train]
        fitted = boost_each(inputs[train], labels, factors.sizes, inputs[test], seed=seed)
        return np.stack([trees.prediction for trees in fitted], axis=1)
    columns = [
        _cross_validated(inputs, factors.labels[:, index], size, train, test)
        for index, size in enumerate(factors.sizes)
    ]
    return np.stack(columns, axis=1)


def _cross_validated(
    inputs: NDArray[np.float64],
    labels: NDArray[np.int64],
    classes: int,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> NDArray[np.int64]:
    penalties = np.logspace(-4, 4, 10)
    right = np.zeros(len(penalties))
    for fold in np.array_split(np.arange(len(train)), 5):
        held, kept = train[fold], np.delete(train, fold)
        if len(held) == 0 or len(kept) == 0:
            continue
        for index, C in enumerate(penalties):
            model = fit_one_vs_rest(inputs[kept], labels[kept], classes, C=C, free_intercept=True)
            right[index] += (model.predict(inputs[held]) == labels[held]).sum()
    best = float(penalties[right.argmax()])
    model = fit_one_vs_rest(inputs[train], labels[train], classes, C=best, free_intercept=True)
    return model.predict(inputs[test])
