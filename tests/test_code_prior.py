"""Priors of codes: densities, KL in closed form, samples."""

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from unweave.code_prior import GAUSSIAN, PRIORS
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.priors import sample_code_prior

EVERY = pytest.mark.parametrize("name", PRIORS)


def expectation(name: str, power: int) -> float:
    """Return E zᵏ under a prior, by quadrature."""
    density = PRIORS[name].log_density
    value, _ = quad(lambda z: z**power * np.exp(density(z)), -12, 12, limit=200)
    return value


@EVERY
def test_a_prior_is_a_density_of_mean_0_and_variance_1(name):
    assert expectation(name, 0) == pytest.approx(1)
    assert expectation(name, 1) == pytest.approx(0, abs=1e-9)
    assert expectation(name, 2) == pytest.approx(1)


@EVERY
@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (1.3, 0.2), (-0.7, 0.9), (2.0, 0.05)])
def test_the_closed_kl_is_the_integral(name, mean, std):
    q = norm(mean, std)

    def integrand(z: float) -> float:
        return q.pdf(z) * (q.logpdf(z) - PRIORS[name].log_density(z))

    expected, _ = quad(integrand, mean - 9 * std, mean + 9 * std, limit=200)
    found = PRIORS[name].kl(mean, 2 * np.log(std), std**2)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@EVERY
def test_the_score_is_the_slope_of_the_log_density(name):
    z = torch.linspace(-1.9, 1.9, 9, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(PRIORS[name].log_density(z).sum(), z)
    torch.testing.assert_close(PRIORS[name].score(z).detach(), slope)


@EVERY
def test_no_gaussian_is_nearer_than_the_resting_one(name):
    prior = PRIORS[name]
    best = minimize_scalar(lambda v: prior.kl(0.0, v, np.exp(v)), bounds=(-4, 4), method="bounded")
    assert prior.resting_logvar == pytest.approx(best.x, abs=1e-4)
    assert prior.least_kl == pytest.approx(best.fun, abs=1e-8)
    for mean in (-0.2, 0.1, 0.4):
        assert prior.kl(mean, best.x, np.exp(best.x)) > prior.least_kl
    assert not prior.is_active(prior.least_kl)
    assert prior.is_active(prior.least_kl + 0.02)


@EVERY
def test_samples_have_the_moments_and_tails_of_the_density(name):
    torch.manual_seed(0)
    z = sample_code_prior(PRIORS[name], 200_000, 2).double().numpy()
    assert z.mean(0) == pytest.approx([0, 0], abs=0.01)
    assert (z**2).mean(0) == pytest.approx([1, 1], abs=0.01)
    assert (z**4).mean(0) == pytest.approx([expectation(name, 4)] * 2, rel=0.03)
    assert np.corrcoef(z.T)[0, 1] == pytest.approx(0, abs=0.01)
    within, _ = quad(lambda x: np.exp(PRIORS[name].log_density(x)), -1.5, 1.5)
    assert (np.abs(z) < 1.5).mean() == pytest.approx(within, abs=0.005)


@EVERY
def test_as_much_lies_within_the_reach_as_of_a_gaussian_within_2(name):
    prior = PRIORS[name]
    within, _ = quad(lambda z: np.exp(prior.log_density(z)), -prior.reach, prior.reach)
    assert within == pytest.approx(norm.cdf(2) - norm.cdf(-2), abs=1e-6)
    assert prior.reach <= GAUSSIAN.reach == 2.0


def test_the_gaussian_one_is_what_it_has_always_been_to_the_last_bit():
    torch.manual_seed(0)
    q = DiagonalGaussian(torch.randn(64, 5), torch.randn(64, 5))
    assert torch.equal(GAUSSIAN.kl(q.mean, q.logvar, q.variance), q.kl_to_prior())
    torch.manual_seed(3)
    expected = torch.randn(7, 4)
    torch.manual_seed(3)
    assert torch.equal(sample_code_prior(GAUSSIAN, 7, 4), expected)
    assert GAUSSIAN.least_kl == 0.0


def test_arrays_and_tensors_give_the_same():
    mean, logvar = torch.randn(6, 3).double(), torch.randn(6, 3).double()
    for prior in PRIORS.values():
        tensor = prior.kl(mean, logvar, logvar.exp())
        array = prior.kl(mean.numpy(), logvar.numpy(), np.exp(logvar.numpy()))
        assert array == pytest.approx(tensor.numpy())
