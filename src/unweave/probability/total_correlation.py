"""The KL to the prior split into information, total correlation and the rest.

R. T. Q. Chen et al., NeurIPS 2018, arXiv:1802.04942. In expectation over images,

    KL(q(z|x) ‖ p(z)) = I(x; z) + TC(z) + Σ_j KL(q(z_j) ‖ p(z_j)),

where q(z) is the average of q(z|x) over the N images of the data set. It is
estimated from a batch of B: log q(z) ≈ log Σ_j w_ij q(z | x_j).
"""

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from unweave.code_prior import GAUSSIAN, LOG_TWO_PI, CodePrior
from unweave.probability.gaussian import DiagonalGaussian
from unweave.tensors import Latents, Scalar

Estimator = Literal["stratified", "weighted"]


class KLParts(NamedTuple):
    """The three parts, averaged over the batch, in nats."""

    mutual_information: Scalar
    total_correlation: Scalar
    dimension_kl: Scalar


def split_kl(
    z: Latents,
    q: DiagonalGaussian,
    population: int,
    estimator: Estimator = "stratified",
    prior: CodePrior = GAUSSIAN,
) -> KLParts:
    """Split the sampled KL of a batch; the parts sum to log q(z|x) − log p(z) exactly."""
    log_pairs = pairwise_log_density(z, q)  # (sample, posterior, latent)
    log_weights = log_batch_weights(len(z), population, estimator, z)  # (sample, posterior)

    log_q_z_given_x = q.log_density(z).sum(1)  # (sample,), as are the next three
    # The weight of a pair counts once: after the sum over latents for the joint,
    # before the sum over posteriors for each marginal.
    log_q_z = (log_pairs.sum(2) + log_weights).logsumexp(1)
    log_q_z_product = (log_pairs + log_weights[:, :, None]).logsumexp(1).sum(1)
    log_p_z = prior.log_density(z).sum(1)

    return KLParts(
        (log_q_z_given_x - log_q_z).mean(),
        (log_q_z - log_q_z_product).mean(),
        (log_q_z_product - log_p_z).mean(),
    )


def total_correlation(
    z: Latents, q: DiagonalGaussian, population: int, bank: DiagonalGaussian | None = None
) -> Scalar:
    """Estimate TC(z) alone from a batch, with stratified weights, in nats.

    `bank` holds posteriors of further images, such as those of the steps before: q(z) is
    then an average over more of them. With 128 images and narrow posteriors the estimate
    is off by nats, of independent codes as well, and a loss would lower it by changing
    widths alone. Wider posteriors, see `smoothed`, or more of them bring it near the truth.
    """
    if bank is not None:
        mean, logvar = torch.cat([q.mean, bank.mean]), torch.cat([q.logvar, bank.logvar])
        q = DiagonalGaussian(mean, logvar)
    # (latent, sample, posterior): sums over posteriors run along memory.
    apart = (z.t()[:, :, None] - q.mean.t()[:, None]).square() * (-q.logvar).exp().t()[:, None]
    log_pairs = -0.5 * (apart + (q.logvar + LOG_TWO_PI).t()[:, None])
    weights = log_batch_weights(len(q.mean), population, "stratified", z)[: len(z)]
    joint = (log_pairs.sum(0) + weights).logsumexp(1)
    product = (log_pairs + weights).logsumexp(2).sum(0)
    return (joint - product).mean()


def smoothed(q: DiagonalGaussian, width: float) -> DiagonalGaussian:
    """Return the posterior of a code to which Gaussian noise of this width is added."""
    return DiagonalGaussian(q.mean, (q.variance + width**2).log()) if width else q


def pairwise_log_density(z: Latents, q: DiagonalGaussian) -> Tensor:
    """Return log q(z_i | x_j) per latent, (sample i, posterior j, latent)."""
    posteriors = DiagonalGaussian(q.mean[None], q.logvar[None])
    return posteriors.log_density(z[:, None])


def log_batch_weights(size: int, population: int, estimator: Estimator, like: Tensor) -> Tensor:
    """Return log w_ij, the weight of posterior j in the estimate of q(z_i).

    `weighted`: 1/(N·B) for all pairs; biased. `stratified`: 1/N for the image
    itself, and the rest shared evenly by the others, (N−1)/(N(B−1)); each row
    sums to 1 and the estimate of q(z) is unbiased for batches without repetition.
    It is the published stratified matrix averaged over which column is special.
    """
    if estimator == "weighted":
        return like.new_full((size, size), -math.log(population * size))
    if size == 1 or population <= size:
        return like.new_full((size, size), -math.log(size))
    log_weights = like.new_full(
        (size, size), math.log((population - 1) / (population * (size - 1)))
    )
    return log_weights.fill_diagonal_(-math.log(population))


def permute_dimensions(z: Latents) -> Latents:
    """Permute each latent across the batch on its own: samples of Π_j q(z_j)."""
    order = torch.rand_like(z).argsort(0)
    return z.gather(0, order)
