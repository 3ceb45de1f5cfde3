"""SAP: how much better the best single code predicts each factor than the second best.

A. Kumar, P. Sattigeri, A. Balakrishnan, ICLR 2018, arXiv:1711.00848:

    1/K Σ_k [S_best,k - S_second,k]

S is the squared correlation for continuous factors and, for discrete ones, the
accuracy of a linear support vector machine on that code alone. The machine
cannot cut a line into many classes, so perfect codes of many-valued factors get
low scores: 0.25 for the five factors of dSprites. It is penalised, so the unit of the
codes matters: the default scales them to deviation 1 first, `locatello2019` does not.

`lin2020` is the table of InfoGAN-CR (arXiv:1906.06034), whose 0.5 to 0.65 are the same kind of
model that scores 0.05 to 0.08 in the study: every factor but the shape is an amount and
scored by correlation, and machines are judged on the rows they were fitted to.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics import _protocol
from unweave.metrics._information import top_two
from unweave.metrics._score import Score
from unweave.metrics._svm import SortedInputs
from unweave.tables import Continuous, standardize, varying_codes

PROTOCOLS = {
    "locatello2019_standardized": "codes scaled to deviation 1, then as locatello2019",
    "locatello2019": "support vector machines with C=0.01 for discrete factors, correlation else",
    "kumar2018": "squared correlation for every factor, which takes class numbers as amounts",
    "lin2020": "squared correlation for every factor but shapes, all rows, judged on the same",
}
ALL_ROWS = ("lin2020",)
"""Protocols that look at every row there is."""
MOST_NUMBERS = 500_000
"""Inputs that are sorted at a time; each takes some hundred bytes."""
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def sap(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "locatello2019_standardized",
    train_rows: int = 10_000,
    test_rows: int = 5_000,
    unordered: Sequence[str] = ("shape",),
    continuous: Continuous = None,
) -> Score:
    """Score the gap between the two codes that predict each factor best.

    `unordered` names the factors that lin2020 takes as classes; it takes all others as amounts.
    """
    _protocol.choose(protocol, PROTOCOLS, "sap")
    table, known = _protocol.read(
        codes, factors, continuous=continuous, least_codes=2, missing="mask", metric="sap"
    )
    rng = np.random.default_rng(seed)
    scaled = protocol == "locatello2019_standardized"
    train, test = _protocol.split_rows(len(table), train_rows, test_rows, rng)
    if protocol == "lin2020":
        train = test = np.arange(len(table))
    if scaled:
        table = standardize(table, table[train])
    regression = np.array(known.continuous) | (protocol == "kumar2018")
    if protocol == "lin2020":
        regression |= ~np.isin(known.names, tuple(unordered))
    scores = np.zeros((table.shape[1], len(known.sizes)))
    correlations = np.zeros(scores.shape)
    for factor in np.flatnonzero(regression).tolist():
        rows = known.known_rows(factor, train)
        of_factor = _squared_correlations(table[rows], known.values[rows, factor, None])
        correlations[:, factor] = of_factor[:, 0]
    fitted = [known.known_rows(factor, train) for factor in range(len(known.sizes))]
    judged = [known.known_rows(factor, test) for factor in range(len(known.sizes))]
    scores[:, regression] = correlations[:, regression]
    at_once = max(MOST_NUMBERS // len(train), 1)
    for first in range(0, table.shape[1], at_once):
        some = slice(first, first + at_once)
        part = table[:, some].astype(np.float64)
        inputs: SortedInputs | None = None
        sorted_rows: NDArray[np.int64] | None = None
        for factor in np.flatnonzero(~regression).tolist():
            rows, labels = fitted[factor], known.labels[:, factor]
            if inputs is None or sorted_rows is None or not np.array_equal(rows, sorted_rows):
                inputs, sorted_rows = SortedInputs(part[rows]), rows
            machines = inputs.fit(labels[rows], known.sizes[factor])
            for place, machine in enumerate(machines):
                of_classes = part[judged[factor], place, None] * machine[:, 0] + machine[:, 1]
                predicted = of_classes.argmax(axis=1)
                scores[first + place, factor] = (predicted == labels[judged[factor]]).mean()
    best, second = top_two(scores, axis=0)
    return Score(
        "sap",
        (best - second).mean(),
        protocol,
        {
            **_protocol.named(known),
            "gap_per_factor": best - second,
            "best_code": scores.argmax(axis=0),
            "scores": scores,
            "by_regression": regression,
        },
        notes=known.notes,
        made=_protocol.made(
            table, known, seed=seed, standardized=scaled, train_rows=len(train), test_rows=len(test)
        ),
    )


def _squared_correlations(codes: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return squared correlations, (code, factor); constants have none."""
    scaled = []
    for columns in (codes, values):
        varies = varying_codes(columns)
        centred = columns.astype(np.float64) - columns.mean(axis=0, dtype=np.float64)
        length = np.sqrt((centred**2).sum(axis=0))
        usable = varies & (length > 0)
        scaled.append(np.where(usable, centred / np.where(usable, length, 1.0), 0.0))
    return np.minimum((scaled[0].T @ scaled[1]) ** 2, 1.0)
