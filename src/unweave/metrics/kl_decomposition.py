"""The KL term of a Gaussian encoder, split into its three parts.

R. T. Q. Chen et al., NeurIPS 2018, arXiv:1802.04942, in expectation over the data:

    E KL(q(z|x) ‖ p(z)) = I(x; z) + KL(q(z) ‖ Π_j q(z_j)) + Σ_j KL(q(z_j) ‖ p(z_j))
                          information   total correlation      dimension-wise KL

q(z) is the mixture of all posteriors ("exact"), or is estimated from batches, as
training does: "stratified" gives the batch's rows weights that add up to the
data set, "weighted" divides by N·B. The value is the total correlation.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from unweave.catalog import check_name
from unweave.code_prior import PRIORS, PriorName
from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._posterior import LOG_TWO_PI, posterior_tables, sample
from unweave.metrics._score import Score

PROTOCOLS = {"chen2018": "latents drawn from q(z|x), nats"}
ESTIMATORS = {
    "exact": "mixture of all posteriors",
    "stratified": "batches with stratified weights (MSS)",
    "weighted": "batches with equal weights (MWS)",
}
NEEDS = _protocol.POSTERIOR_ALONE
HIGHER_IS_BETTER = False
RANGE = "0 upwards (estimates from batches may be negative)"

CHUNK = 1 << 18
"""Log-densities held at once."""


def kl_decomposition(
    mean: Any,
    logvar: Any,
    *,
    seed: int = 0,
    protocol: str = "chen2018",
    estimator: str = "exact",
    samples: int = 2_000,
    batch: int = 64,
    prior: PriorName = "gaussian",
) -> Score:
    """Measure information, total correlation and dimension-wise KL of a whole data set.

    Means over at most `samples` latents. "exact" compares each of them with every
    row; the others with the rows of a batch.
    """
    _protocol.choose(protocol, PROTOCOLS, "kl_decomposition")
    check_name(estimator, ESTIMATORS, "estimator of kl_decomposition")
    check_name(prior, PRIORS, "prior of kl_decomposition")
    density = PRIORS[prior]
    means, logvars = posterior_tables(mean, logvar)
    rng = np.random.default_rng(seed)
    z = sample(means, logvars, rng)
    if estimator == "exact":
        rows = rng.permutation(len(z))[:samples]
        joint, single = _exact(z[rows], means, logvars)
    else:
        rows, joint, single = _from_batches(z, means, logvars, estimator, samples, batch, rng)
    conditional = _log_density(z[rows], means[rows], logvars[rows]).sum(axis=1)
    log_prior = density.log_density(z[rows])
    total = float((joint - single.sum(axis=1)).mean())
    per_code = density.kl(means, logvars, np.exp(logvars)).mean(axis=0)
    return Score(
        "kl_decomposition",
        total,
        protocol,
        {
            "estimator": estimator,
            "prior": prior,
            "mutual_information": float((conditional - joint).mean()),
            "total_correlation": total,
            "dimension_wise_kl": float((single - log_prior).sum(axis=1).mean()),
            "dimension_wise_kl_per_code": (single - log_prior).mean(axis=0),
            "sampled_kl": float((conditional - log_prior.sum(axis=1)).mean()),
            "kl": float(per_code.sum()),
            "kl_per_code": per_code,
            "active_codes": density.is_active(per_code),
        },
        higher_is_better=False,
        made=_protocol.made(means, None, seed=seed, samples=len(rows)),
        parts={
            "information": float((conditional - joint).mean()),
            "total correlation": total,
            "dimension-wise KL": float((single - log_prior).sum(axis=1).mean()),
        },
    )


def _log_density(
    z: NDArray[np.float64], mean: NDArray[np.float64], logvar: NDArray[np.float64]
) -> NDArray[np.float64]:
    return -0.5 * ((z - mean) ** 2 * np.exp(-logvar) + logvar + LOG_TWO_PI)


def _exact(
    z: NDArray[np.float64], mean: NDArray[np.float64], logvar: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log q(z), (row,), and log q(z_j), (row, code)."""
    joint, single = np.empty(len(z)), np.empty(z.shape)
    step = max(CHUNK // mean.size, 1)
    for start in range(0, len(z), step):
        piece = slice(start, start + step)
        # (latent, row, code)
        densities = _log_density(z[piece, None, :], mean, logvar)
        joint[piece] = logsumexp(densities.sum(axis=2), axis=1)
        single[piece] = logsumexp(densities, axis=1)
    return joint - np.log(len(mean)), single - np.log(len(mean))


def _from_batches(
    z: NDArray[np.float64],
    mean: NDArray[np.float64],
    logvar: NDArray[np.float64],
    estimator: str,
    samples: int,
    batch: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    count = len(z)
    batch = min(batch, count)
    if batch < 2:
        raise DataError(f"batches need at least 2 rows; found {batch}.")
    weights = (
        stratified_log_weights(batch, count)
        if estimator == "stratified"
        else np.full((batch, batch), -np.log(count * batch))
    )
    rows, joint, single = [], [], []
    for _ in range(max(samples // batch, 1)):
        chosen = rng.choice(count, batch, replace=False)
        # (latent, row, code); weights are added once to the joint, not once per code.
        densities = _log_density(z[chosen, None, :], mean[chosen], logvar[chosen])
        joint.append(logsumexp(densities.sum(axis=2) + weights, axis=1))
        single.append(logsumexp(densities + weights[:, :, None], axis=1))
        rows.append(chosen)
    return np.concatenate(rows), np.concatenate(joint), np.concatenate(single)


def stratified_log_weights(batch: int, count: int) -> NDArray[np.float64]:
    """Return log weights, (latent, row), with which a batch of B stands for N rows.

    A latent's own row weighs 1/N, one other row (N-B+1)/(N(B-1)), the rest 1/(B-1);
    each latent's weights add up to one.
    """
    weights = np.full((batch, batch), 1 / (batch - 1))
    own = np.arange(batch)
    weights[own, (own + 1) % batch] = (count - batch + 1) / (count * (batch - 1))
    weights[own, own] = 1 / count
    return np.log(weights)
