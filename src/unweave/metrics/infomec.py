"""InfoMEC: modularity, compactness and explicitness from information.

K. Hsu et al., NeurIPS 2023, arXiv:2305.18378. With NMI_kj = I(v_k; c_j) / H(v_k)
over the active codes:

    InfoM = (mean_j max_k NMI_kj / Σ_k NMI_kj - 1/K) / (1 - 1/K)
    InfoC = (mean_k max_j NMI_kj / Σ_j NMI_kj - 1/D) / (1 - 1/D)
    InfoE = mean_k 1 - logloss_k / log n_k

logloss is that of an unpenalised softmax regression with balanced classes. The authors print
the three and no mean of them: the value is InfoM, which they name first, and all three stand
beside it.

`hsu2024` (Tripod, arXiv:2404.10282) counts a code as active by its inter-quartile range, not its
range: more than a tenth of the largest, or more than 0.1 for codes quantised on [-1, 1]. Values of
the two papers are not comparable.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._information import entropy
from unweave.metrics._logistic import fit_softmax, softmax_probabilities
from unweave.metrics._neighbours import neighbour_information
from unweave.metrics._score import Score
from unweave.tables import Continuous, FactorTable, standardize, varying_codes

PROTOCOLS = {
    "hsu2023": "continuous codes: information by 10 nearest neighbours",
    "hsu2023_discrete": "quantised codes: information by counting, one-hot inputs",
    "hsu2024": "as hsu2023, codes active by their inter-quartile range",
    "hsu2024_discrete": "as hsu2023_discrete, codes active by their inter-quartile range",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "0 to 1 (InfoE can be negative)"


def infomec(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "hsu2023",
    rows: int = 10_000,
    neighbours: int = 10,
    bins: int = 20,
    continuous: Continuous = None,
) -> Score:
    """Score modularity, compactness and explicitness of at most `rows` rows."""
    _protocol.choose(protocol, PROTOCOLS, "infomec")
    table, known = _protocol.read(
        codes,
        factors,
        continuous=continuous,
        bins=bins,
        least_factors=2,
        missing="mask",
        metric="infomec",
    )
    rng = np.random.default_rng(seed)
    if len(table) > rows:
        chosen = rng.permutation(len(table))[:rows]
        table, known = table[chosen], known.rows(chosen)
    discrete = protocol.endswith("_discrete")
    table = table.astype(np.float64)
    varies = varying_codes(table)
    active = varies & _are_active(table, protocol)
    if active.sum() < 2:
        raise DataError(f"infomec needs at least 2 active codes; found {int(active.sum())}.")
    inputs = _one_hot(table[:, varies]) if discrete else standardize(table)
    shares = _shares(table[:, active], known, discrete, neighbours, rng)
    # A code without information is neither modular nor not; it is left out.
    informed = shares.sum(axis=0) > 0
    modularity = _concentration(shares[:, informed], axis=0) if informed.any() else np.zeros(1)
    compactness = _concentration(shares, axis=1)
    explicitness = np.zeros(len(known.sizes))
    for k, size in enumerate(known.sizes):
        rows_of_factor = known.known_rows(k)
        labels = known.labels[rows_of_factor, k]
        explicitness[k] = _predictability(inputs[rows_of_factor], labels, size)
    parts = float(modularity.mean()), float(compactness.mean()), float(explicitness.mean())
    return Score(
        "infomec",
        parts[0],
        protocol,
        {
            **_protocol.named(known),
            "modularity": parts[0],
            "compactness": parts[1],
            "explicitness": parts[2],
            "normalised_information": shares,
            "active_codes": active,
            "explicitness_per_factor": explicitness,
        },
        parts=dict(zip(("InfoM", "InfoC", "InfoE"), parts, strict=True)),
        notes=known.notes,
        made=_protocol.made(
            table, known, seed=seed, bins=bins, standardized=not discrete, active=active
        ),
    )


def _are_active(codes: NDArray[np.float64], protocol: str) -> NDArray[np.bool_]:
    """Mark the codes that the papers count as used."""
    if protocol == "hsu2023_discrete":
        return np.ones(codes.shape[1], dtype=bool)
    if protocol == "hsu2023":
        span = codes.max(axis=0) - codes.min(axis=0)
        return np.asarray(span > span.max() / 20)
    low, high = np.quantile(codes, [0.25, 0.75], axis=0)
    least = 0.1 if protocol == "hsu2024_discrete" else (high - low).max() / 10
    return np.asarray(high - low > least)


def _shares(
    codes: NDArray[np.float64],
    factors: FactorTable,
    discrete: bool,
    neighbours: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return I(v_k; c_j) / H(v_k), (factor, code)."""
    scaled = standardize(codes)
    shares = np.zeros((len(factors.sizes), codes.shape[1]))
    for k in range(len(factors.sizes)):
        rows = factors.known_rows(k)
        labels = factors.labels[rows, k]
        own = entropy(np.bincount(labels))
        if own == 0:
            continue  # the chosen rows may hold one value of a rare factor
        for j in range(codes.shape[1]):
            if discrete:
                values = np.unique(codes[rows, j], return_inverse=True)[1]
                joint = np.bincount(values * factors.sizes[k] + labels)
                shared = entropy(np.bincount(values)) + own - entropy(joint)
            else:
                shared = neighbour_information(scaled[rows, j], labels, neighbours, rng)
            shares[k, j] = max(shared, 0.0) / own
    return shares


def _concentration(shares: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return how much of a sum its largest entry makes, with an even spread at 0."""
    total = shares.sum(axis=axis)
    even = 1 / shares.shape[axis]
    # Nothing to share counts as spread evenly.
    largest = np.where(total > 0, shares.max(axis=axis) / np.where(total > 0, total, 1.0), even)
    return (largest - even) / (1 - even)


def _predictability(inputs: NDArray[np.float64], labels: NDArray[np.int64], classes: int) -> float:
    present = len(np.unique(labels))
    if present < 2:
        return 0.0
    model = fit_softmax(inputs, labels, C=np.inf, balanced=True)
    probability = softmax_probabilities(model, inputs, classes)[np.arange(len(labels)), labels]
    loss = -np.log(np.maximum(probability, np.finfo(np.float64).eps)).mean()
    # Balanced classes without inputs are predicted evenly, with loss log of their number.
    return float(1 - loss / np.log(present))


def _one_hot(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    columns = []
    for column in codes.T:
        values = np.unique(column, return_inverse=True)[1]
        columns.append(np.eye(values.max() + 1)[values])
    return np.concatenate(columns, axis=1)
