"""A Gaussian seen by a Laplace distribution."""

import math

import torch

from unweave.probability.laplace import cross_entropy_to_laplace, mean_absolute


def test_the_cross_entropy_is_that_of_many_draws():
    torch.manual_seed(0)
    mean, std = torch.tensor([-1.0, 0.0, 0.3, 2.0]), torch.tensor([0.5, 1.0, 2.0, 0.1])
    z = mean + std * torch.randn(400_000, 4)
    drawn = -torch.distributions.Laplace(0.0, 1 / 6).log_prob(z).mean(0)
    torch.testing.assert_close(
        cross_entropy_to_laplace(mean, std, 6.0), drawn, rtol=0.01, atol=0.02
    )


def test_without_spread_it_is_the_density_at_the_point():
    mean = torch.tensor([-2.0, 0.0, 0.5])
    found = cross_entropy_to_laplace(mean, torch.full((3,), 1e-6), 6.0)
    torch.testing.assert_close(found, -math.log(3) + 6 * mean.abs(), rtol=1e-5, atol=1e-5)


def test_the_sign_of_the_mean_does_not_matter():
    mean, std = torch.linspace(-3, 3, 7), torch.linspace(0.1, 2, 7)
    torch.testing.assert_close(mean_absolute(mean, std), mean_absolute(-mean, std))
