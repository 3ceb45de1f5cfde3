"""Codes and factors of a sample of rows, encoded once and looked at in many ways."""

from dataclasses import dataclass

import numpy as np

from unweave.code_prior import GAUSSIAN, CodePrior
from unweave.data import FactorImages
from unweave.runs.model import Model, in_parts

ROWS = 5_000


@dataclass(frozen=True)
class CodeSample:
    """Codes and factors of the same rows."""

    rows: np.ndarray
    codes: np.ndarray
    """(row, code)."""
    factors: np.ndarray
    """(row, factor)."""
    posterior: tuple[np.ndarray, np.ndarray] | None
    """Mean and log-variance of q(z|x), each (row, code), if the model has one."""
    prior: CodePrior = GAUSSIAN
    """What posteriors are compared with."""

    def kl(self) -> np.ndarray | None:
        """Return the mean KL of each dimension to the prior in nats, if there is a posterior."""
        if self.posterior is None:
            return None
        mean, logvar = (part.astype(np.float64) for part in self.posterior)
        kl: np.ndarray = self.prior.kl(mean, logvar, np.exp(logvar)).mean(axis=0)
        return kl

    def drawn(self, seed: int = 0) -> np.ndarray:
        """Return codes drawn from q(z|x), or the codes where there is no posterior."""
        if self.posterior is None:
            return self.codes
        mean, logvar = self.posterior
        noise = np.random.default_rng((seed, 0xD2A)).standard_normal(mean.shape)
        drawn: np.ndarray = mean + np.exp(0.5 * logvar) * noise
        return drawn


def sample_codes(model: Model, count: int = ROWS, seed: int = 0) -> CodeSample:
    """Encode rows of the model's data set drawn at random without repetition."""
    model.code.require_codes(model.kind)
    rows = sample_rows(model.data, count, seed)
    codes, posterior = encode_rows(model, rows)
    return CodeSample(rows, codes, model.data.factors(rows), posterior, model.code_prior)


def sample_rows(data: FactorImages, count: int = ROWS, seed: int = 0) -> np.ndarray:
    """Draw rows at random without repetition, in their order."""
    rng = np.random.default_rng((seed, 0xC0DE))
    return np.sort(rng.choice(len(data), size=min(count, len(data)), replace=False))


def encode_rows(
    model: Model, rows: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray] | None]:
    """Return the codes of rows and, where there is one, their posterior."""
    if model.code.source != "images":
        return model.encode_rows(rows), None
    codes, means, logvars = [], [], []
    for part in in_parts(rows):
        images = model.data.images(part)
        codes.append(model.encode(images))
        posterior = model.posterior(images)
        if posterior is not None:
            means.append(posterior[0])
            logvars.append(posterior[1])
    both = (np.concatenate(means), np.concatenate(logvars)) if means else None
    return np.concatenate(codes), both


def images_of_each_class(data: FactorImages, column: str, count: int, seed: int) -> np.ndarray:
    """Return images drawn at random, as many of one class as of any other, in their order."""
    rng = np.random.default_rng((seed, 0xF16))
    values = data.column(column)
    rows = rng.permutation(np.flatnonzero(values >= 0))
    by_class = rows[np.argsort(values[rows], kind="stable")]
    _, first, sizes = np.unique(values[by_class], return_index=True, return_counts=True)
    turn = np.arange(len(rows)) - np.repeat(first, sizes)  # 0 for one row of each class, 1, …
    classes = rng.permutation(len(first))  # which go first where there are more than `count`
    chosen = np.lexsort((np.repeat(classes, sizes), turn))[:count]
    return data.images(by_class[np.sort(chosen)], rng)


def some_images(data: FactorImages, count: int, seed: int) -> np.ndarray:
    """Return images drawn at random, the same for the same seed."""
    rng = np.random.default_rng((seed, 0xF16))
    return data.images(data.sample_rows(count, rng), rng)
