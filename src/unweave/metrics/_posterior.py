"""Gaussian posteriors q(z|x) given by tables of means and log-variances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from unweave.errors import DataError
from unweave.metrics._information import Information, entropy
from unweave.tables import FactorTable, code_table

LOG_TWO_PI = float(np.log(2 * np.pi))
CHUNK = 1 << 16
"""Densities held at once: half a megabyte stays in the cache."""


def posterior_tables(mean: Any, logvar: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read means and log-variances; log-variances are kept within ±30."""
    means = code_table(mean, "means").astype(np.float64)
    logvars = code_table(logvar, "log-variances").astype(np.float64)
    if means.shape != logvars.shape:
        raise DataError(f"means have shape {means.shape}, log-variances {logvars.shape}.")
    return means, np.clip(logvars, -30.0, 30.0)


def sample(
    mean: NDArray[np.float64], logvar: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw one latent per row."""
    return mean + np.exp(0.5 * logvar) * rng.standard_normal(mean.shape)


def log_mixture(
    z: NDArray[np.float64], mean: NDArray[np.float64], logvar: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return log 1/N Σ_n q(z|x_n) of one dimension for every entry of z."""
    inverse = np.exp(-logvar)
    result = np.empty(len(z))
    step = max(CHUNK // len(mean), 1)
    for start in range(0, len(z), step):
        piece = z[start : start + step, None]
        exponents = -0.5 * ((piece - mean) ** 2 * inverse + logvar)
        largest = exponents.max(axis=1)
        result[start : start + step] = largest + np.log(
            np.exp(exponents - largest[:, None]).mean(axis=1)
        )
    return result - 0.5 * LOG_TWO_PI


def binned_information(
    mean: NDArray[np.float64],
    logvar: NDArray[np.float64],
    factors: FactorTable,
    bins: int,
    limit: float,
) -> Information:
    """Measure information through each posterior's density at the centres of bins over ±limit.

    Densities are normalised over the bins, as the authors do; a posterior that
    lies beyond the limit falls into the outermost bin.
    """
    centres = (np.arange(bins) + 0.5) * (2 * limit / bins) - limit
    shape = mean.shape[1], len(factors.sizes)
    joint_entropy, code_entropy = np.zeros(shape), np.zeros(shape[0])
    factor_entropy = np.array([entropy(np.bincount(column)) for column in factors.labels.T])
    members = [np.eye(size)[factors.labels[:, index]].T for index, size in enumerate(factors.sizes)]
    for code in range(shape[0]):
        spread = np.exp(0.5 * logvar[:, code])[:, None]
        mass = softmax(-0.5 * ((centres - mean[:, code, None]) / spread) ** 2, axis=1)
        code_entropy[code] = entropy(mass.sum(axis=0))
        for factor, member in enumerate(members):
            joint_entropy[code, factor] = entropy((member @ mass).ravel())
    mutual = np.maximum(code_entropy[:, None] + factor_entropy - joint_entropy, 0.0)
    return Information(mutual, joint_entropy, code_entropy, factor_entropy)
