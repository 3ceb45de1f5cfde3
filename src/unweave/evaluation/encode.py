"""From a run to the tables that metrics score."""

from dataclasses import dataclass

import numpy as np

from unweave.data import FactorImages
from unweave.evaluation.known_factors import known_factors
from unweave.runs.model import in_parts
from unweave.runs.run import Run
from unweave.tables import Continuous

ROWS = 15_000  # 10,000 to fit on and 5,000 to test on, as in the large studies


@dataclass(frozen=True)
class Encoded:
    """Codes and factors of the same rows."""

    codes: np.ndarray
    """(row, code)."""
    factors: np.ndarray
    """(row, factor)."""
    factor_names: tuple[str, ...]
    posterior: tuple[np.ndarray, np.ndarray] | None
    """Mean and log-variance of q(z|x), each (row, code), if the method has it."""
    terms: dict[str, float]
    """The method's own figures on these rows, such as the terms of the evidence bound."""


def scored_rows(
    data: FactorImages, rows: int = ROWS, rng: np.random.Generator | None = None
) -> np.ndarray:
    """Draw the rows that a run is scored on, without repetition.

    They are in random order: metrics split them into a part to fit and a part to test on.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    chosen = np.sort(rng.choice(len(data), size=min(rows, len(data)), replace=False))
    return rng.permutation(chosen)


def encode_run(
    run: Run,
    rows: int = ROWS,
    seed: int = 0,
    part: str = "all",
    *,
    continuous: Continuous = None,
    missing: str = "refuse",
) -> Encoded:
    """Encode rows of the run's data set, or of a part of it, drawn at random without repetition.

    `FactorImages.part` says what parts there are; those held out of training, for instance.
    `continuous` and `missing` say how `known_factors` reads the factors.
    """
    run.code.require_codes(run.kind)
    data = run.data.part(part)
    rng = np.random.default_rng(seed)
    chosen = scored_rows(data, rows, rng)
    codes, means, logvars = [], [], []
    of_images = run.code.source == "images"
    terms: dict[str, float] = {}
    for some in in_parts(chosen):
        images = data.images(some, rng)
        posterior = run.posterior(images)
        if posterior is not None:
            means.append(posterior[0])
            logvars.append(posterior[1])
        codes.append(run.encode(images) if of_images else run.encode_rows(some, data))
        for name, value in run.terms(images, seed).items():
            terms[name] = terms.get(name, 0.0) + value * len(some) / len(chosen)
    known = known_factors(data, chosen, continuous=continuous, missing=missing)
    return Encoded(
        codes=np.concatenate(codes),
        factors=data.factors(chosen) if known.values is None else known.values,
        factor_names=known.names,
        posterior=(np.concatenate(means), np.concatenate(logvars)) if means else None,
        terms=terms,
    )
