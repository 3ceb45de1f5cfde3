"""DCI-ES: explicitness and size, the two properties that DCI does not look at.

C. Eastwood et al., ICLR 2023, arXiv:2210.00364. How much capacity does a probe need to read a
factor off the codes? With ℓ(κ) the lowest error of probes of capacity up to κ, ℓ* the lowest of
all, and ℓ_b that of a constant guess,

    E = 1 - ∫ (ℓ(κ) - ℓ*) dκ / [½ (κ_max - κ_min) ℓ_b]
    S = K / D

E is 1 where the simplest probe already does as well as any; S says how many factors there are per
code. The value is E.

Probes are ridge regressions on the codes themselves (the lowest capacity) and on more and more
random Fourier features beside them; κ counts their doublings. Errors are squared, relative to the
factor's variance, on new rows. Differs from the authors: their random features lack the codes
themselves, so that no probe is linear; E of the two is not comparable. Class numbers are taken as
amounts.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics import _protocol
from unweave.metrics._score import Score
from unweave.tables import Continuous, standardize

PROTOCOLS = {"eastwood2023_features": "ridge on codes and up to 512 random Fourier features"}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "-1 to 1; 1 where linear probes do as well as any"

FEATURES = (0, 8, 16, 32, 64, 128, 256, 512)
PENALTIES = (1e-3, 1e-1, 10.0, 1000.0)


def dci_es(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "eastwood2023_features",
    train_rows: int = 10_000,
    test_rows: int = 5_000,
    continuous: Continuous = None,
) -> Score:
    """Score how little capacity a probe needs to read factors off the codes."""
    _protocol.choose(protocol, PROTOCOLS, "dci_es")
    table, known = _protocol.read(codes, factors, continuous=continuous, metric="dci_es")
    rng = np.random.default_rng(seed)
    train, test = _protocol.split_rows(len(table), train_rows, test_rows, rng)
    x = standardize(table, table[train])
    y = standardize(known.values, known.values[train])
    errors = _errors(x, y, train, test, rng)
    lowest = np.minimum.accumulate(np.minimum(errors, 1.0), axis=0)
    above = lowest - lowest[-1]
    area = (above[1:] + above[:-1]).sum(axis=0) / 2
    per_factor = 1 - 2 * area / (len(FEATURES) - 1)
    size = len(known.sizes) / table.shape[1]
    return Score(
        "dci_es",
        float(per_factor.mean()),
        protocol,
        {
            **_protocol.named(known),
            "explicitness_per_factor": per_factor,
            "error_by_capacity": lowest,
            "features": np.array(FEATURES),
        },
        parts={"E": float(per_factor.mean()), "S": size},
        notes=known.notes,
        made=_protocol.made(
            table, known, seed=seed, standardized=True, train_rows=len(train), test_rows=len(test)
        ),
    )


def _errors(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return errors on new rows, (capacity, factor).

    The penalty of each is the one that does best on a quarter of the training rows.
    """
    frequencies = rng.standard_normal((x.shape[1], FEATURES[-1])) / np.sqrt(x.shape[1])
    phases = rng.uniform(0, 2 * np.pi, FEATURES[-1])
    features = np.concatenate([np.ones((len(x), 1)), x, np.cos(x @ frequencies + phases)], axis=1)
    fitted, tried = _protocol.rows_to_choose_by(train)
    found = []
    trials = _ridge_errors(features, y, fitted, tried, x.shape[1])
    errors = _ridge_errors(features, y, train, test, x.shape[1])
    for on_trial, on_test in zip(trials, errors, strict=True):  # (penalty, factor) each
        best = on_trial.argmin(axis=0)
        found.append(on_test[best, np.arange(y.shape[1])])
    return np.array(found)


def _ridge_errors(
    features: NDArray[np.float64],
    y: NDArray[np.float64],
    fitted: NDArray[np.int64],
    asked: NDArray[np.int64],
    codes: int,
) -> Iterator[NDArray[np.float64]]:
    """Yield, for each capacity, the errors (penalty, factor) of ridge regressions."""
    gram = features[fitted].T @ features[fitted]
    target = features[fitted].T @ y[fitted]
    for count in FEATURES:
        used = 1 + codes + count
        errors = []
        for penalty in PENALTIES:
            weights = np.linalg.solve(gram[:used, :used] + penalty * np.eye(used), target[:used])
            apart = features[asked, :used] @ weights - y[asked]
            errors.append((apart**2).mean(axis=0))
        yield np.array(errors)
