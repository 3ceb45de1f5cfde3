"""Explicitness: can a linear classifier read every value of a factor off the codes?

K. Ridgeway and M. Mozer, NeurIPS 2018, arXiv:1802.05312: the area under the ROC
curve of each class against the rest, by logistic regression on all codes,
averaged over classes and then over factors. Chance is 0.5.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._logistic import (
    area_under_curve,
    fit_one_vs_rest,
    fit_softmax,
    softmax_probabilities,
)
from unweave.metrics._score import Score
from unweave.tables import Continuous, standardize, varying_codes

PROTOCOLS = {
    "locatello2019": "one against the rest, C=1, standardised codes, new rows (arXiv:1811.12359)",
    "locatello2019_softmax": "the same with softmax regression, as scikit-learn ≥ 0.22 makes it",
    "ridgeway2018": "one against the rest, hardly penalised, judged on its own rows",
    "carbonneau2022": "codes scaled to [0, 1], balanced classes, own rows, rescaled to chance 0",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0.5 to 1 (carbonneau2022: 0 to 1)"


def explicitness(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2019",
    train_rows: int = 10_000,
    test_rows: int = 5_000,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score how well logistic regression ranks the rows of each class."""
    _protocol.choose(protocol, PROTOCOLS, "explicitness")
    table, known = _protocol.read(
        codes, factors, continuous=continuous, bins=bins, missing="mask", metric="explicitness"
    )
    rng = np.random.default_rng(seed)
    train, test = _protocol.split_rows(len(table), train_rows, test_rows, rng)
    if protocol in ("ridgeway2018", "carbonneau2022"):
        train = test = np.arange(len(table))
        if len(table) > train_rows:
            train = test = rng.permutation(len(table))[:train_rows]
    inputs = _scaled(table, train, protocol)
    per_factor, on_train = [], []
    for index, size in enumerate(known.sizes):
        labels = known.labels[:, index]
        fitted, judged = known.known_rows(index, train), known.known_rows(index, test)
        if len(np.unique(labels[fitted])) < 2:
            raise DataError(
                f"all training rows have the same value of {known.names[index]!r}; pass more rows."
            )
        scores = _fit(inputs[fitted], labels[fitted], size, protocol)
        areas, present = area_under_curve(scores(inputs[judged]), labels[judged])
        if len(present) == 0:
            raise DataError(
                f"all test rows have the same value of {known.names[index]!r}; pass more rows."
            )
        per_factor.append(areas.mean())
        on_train.append(area_under_curve(scores(inputs[fitted]), labels[fitted])[0].mean())
    value = float(np.mean(per_factor))
    return Score(
        "explicitness",
        2 * value - 1 if protocol == "carbonneau2022" else value,
        protocol,
        {
            **_protocol.named(known),
            "area_per_factor": np.array(per_factor),
            "train_area_per_factor": np.array(on_train),
            "train_area": float(np.mean(on_train)),
        },
        chance=0.0 if protocol == "carbonneau2022" else 0.5,
        notes=known.notes,
        made=_protocol.made(
            table,
            known,
            seed=seed,
            bins=bins,
            standardized=protocol != "carbonneau2022",
            train_rows=len(train),
            test_rows=len(test),
        ),
    )


def _scaled(table: NDArray[Any], train: NDArray[np.int64], protocol: str) -> NDArray[np.float64]:
    if protocol != "carbonneau2022":
        return standardize(table, table[train])
    low = table[train].min(axis=0).astype(np.float64)
    span = np.where(varying_codes(table[train]), table[train].max(axis=0) - low, 1.0)
    return (table - low) / span


def _fit(
    inputs: NDArray[np.float64], labels: NDArray[np.int64], classes: int, protocol: str
) -> Any:
    """Return a function from inputs to class scores, (row, class)."""
    if protocol == "locatello2019_softmax":
        model = fit_softmax(inputs, labels, C=1.0)
        return lambda x: softmax_probabilities(model, x, classes)
    penalty = 1e10 if protocol == "ridgeway2018" else 1.0
    scikit = protocol == "carbonneau2022"  # its solver leaves the intercept unpenalised
    return fit_one_vs_rest(
        inputs, labels, classes, C=penalty, balanced=scikit, free_intercept=scikit
    ).probabilities
