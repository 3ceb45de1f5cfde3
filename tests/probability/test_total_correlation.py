"""The split of the KL term and its estimators."""

import math

import pytest
import torch

from unweave.code_prior import GAUSSIAN
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.total_correlation import (
    log_batch_weights,
    pairwise_log_density,
    permute_dimensions,
    smoothed,
    split_kl,
    total_correlation,
)

ESTIMATORS = ("stratified", "weighted")


def random_posteriors(count: int, latents: int = 3) -> DiagonalGaussian:
    torch.manual_seed(count)
    return DiagonalGaussian(torch.randn(count, latents), torch.randn(count, latents) - 1)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_parts_sum_to_the_sampled_kl(estimator):
    q = random_posteriors(64)
    z = q.sample()
    parts = split_kl(z, q, population=1000, estimator=estimator)
    sampled = (q.log_density(z) - GAUSSIAN.log_density(z)).sum(1).mean()
    assert sum(parts).item() == pytest.approx(sampled.item(), abs=1e-4)


def test_stratified_weights_sum_to_one_with_the_image_itself_at_one_in_n():
    weights = log_batch_weights(16, 1000, "stratified", torch.zeros(1)).exp()
    torch.testing.assert_close(weights.sum(1), torch.ones(16))
    torch.testing.assert_close(weights.diagonal(), torch.full((16,), 1 / 1000))


def test_identical_posteriors_carry_no_information_and_no_correlation():
    q = DiagonalGaussian(torch.zeros(32, 4), torch.zeros(32, 4))
    parts = split_kl(q.sample(), q, population=500)
    assert parts.mutual_information.item() == pytest.approx(0, abs=1e-4)
    assert parts.total_correlation.item() == pytest.approx(0, abs=1e-4)


def test_weighted_estimate_of_identical_posteriors_is_off_by_its_constants():
    population, size, latents = 500, 32, 4
    q = DiagonalGaussian(torch.zeros(size, latents), torch.zeros(size, latents))
    parts = split_kl(q.sample(), q, population, "weighted")
    # log Σ_j 1/(N·B) = −log N for the joint and for each of the marginals.
    assert parts.mutual_information.item() == pytest.approx(math.log(population), abs=1e-3)
    assert parts.total_correlation.item() == pytest.approx(
        (latents - 1) * math.log(population), abs=1e-3
    )


def test_stratified_estimate_of_q_z_is_unbiased():
    """Averaged over batches that contain the image, Σ_j w_ij q(z_i|x_j) is q(z_i)."""
    torch.manual_seed(0)
    population, size = 60, 8
    q = random_posteriors(population)
    z = q.sample()
    densities = pairwise_log_density(z, q).sum(2).exp()  # (sample, posterior)
    exact = densities.mean(1)
    weights = log_batch_weights(size, population, "stratified", z).exp()
    estimates, draws = torch.zeros(population), 4000
    for image in range(population):
        others = torch.stack([torch.randperm(population - 1)[: size - 1] for _ in range(draws)])
        others = others + (others >= image)
        estimates[image] = (
            weights[0, 0] * densities[image, image]
            + (weights[0, 1] * densities[image][others]).sum(1).mean()
        )
    torch.testing.assert_close(estimates, exact, rtol=0.08, atol=1e-4)


def test_a_batch_of_everything_gives_the_exact_split():
    q = random_posteriors(40)
    z = q.sample()
    parts = split_kl(z, q, population=40)
    log_pairs = pairwise_log_density(z, q)
    log_q_z = log_pairs.sum(2).logsumexp(1) - math.log(40)
    exact = (q.log_density(z).sum(1) - log_q_z).mean()
    assert parts.mutual_information.item() == pytest.approx(exact.item(), abs=1e-5)


def test_permuting_keeps_each_dimension_and_breaks_their_tie():
    torch.manual_seed(0)
    column = torch.randn(512, 1)
    z = column.expand(512, 3).clone()
    permuted = permute_dimensions(z)
    torch.testing.assert_close(permuted.sort(0).values, z.sort(0).values)
    correlations = torch.corrcoef(permuted.T)
    assert correlations.fill_diagonal_(0).abs().max() < 0.2


def test_total_correlation_alone_is_that_of_the_split():
    q = random_posteriors(64)
    z = q.sample()
    expected = split_kl(z, q, population=1000).total_correlation
    torch.testing.assert_close(total_correlation(z, q, 1000), expected)


def test_a_bank_of_the_whole_data_set_gives_the_total_correlation_itself():
    """Of codes (a, a + noise) of Gaussian a the total correlation is −½ log(1 − ρ²)."""
    torch.manual_seed(0)
    first = torch.randn(4096, 1)
    mean = torch.cat([first, 0.8 * first + 0.6 * torch.randn(4096, 1)], 1)
    every = DiagonalGaussian(mean, torch.full_like(mean, 2 * math.log(0.3)))
    rho = 0.8 / (1 + 0.3**2)
    few, rest = (
        DiagonalGaussian(every.mean[part], every.logvar[part])
        for part in (slice(0, 64), slice(64, None))
    )
    drawn = [few.sample() for _ in range(20)]
    by_bank = torch.stack([total_correlation(z, few, 4096, rest) for z in drawn])
    alone = torch.stack([total_correlation(z, few, 4096) for z in drawn])
    truth = -0.5 * math.log(1 - rho**2)
    assert by_bank.mean().item() == pytest.approx(truth, abs=0.06)
    assert abs(alone.mean().item() - truth) > 2 * abs(by_bank.mean().item() - truth)


def test_smoothing_takes_away_what_the_width_of_posteriors_adds():
    """Independent codes: the estimate of a batch is nats too low, of smoothed codes near 0."""
    torch.manual_seed(0)
    mean = 3.2 * torch.rand(128, 4) - 1.6
    narrow = DiagonalGaussian(mean, torch.full((128, 4), 2 * math.log(0.1)))
    raw = total_correlation(narrow.sample(), narrow, 700_000)
    wide = smoothed(narrow, 0.4)
    assert raw.item() < -3
    assert abs(total_correlation(wide.sample(), wide, 700_000).item()) < 0.5
    torch.testing.assert_close(wide.variance, torch.full((128, 4), 0.1**2 + 0.4**2))
    assert smoothed(narrow, 0.0) is narrow
