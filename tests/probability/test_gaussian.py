"""Diagonal Gaussians against torch's own distributions."""

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from unweave.code_prior import GAUSSIAN
from unweave.probability.gaussian import DiagonalGaussian


@pytest.fixture
def pair():
    torch.manual_seed(0)
    return [DiagonalGaussian(torch.randn(5, 3), torch.randn(5, 3)) for _ in range(2)]


def as_normal(q: DiagonalGaussian) -> Normal:
    return Normal(q.mean, (0.5 * q.logvar).exp())


def test_densities_entropies_and_divergences_match_torch(pair):
    q, p = pair
    z = torch.randn(5, 3)
    torch.testing.assert_close(q.log_density(z), as_normal(q).log_prob(z))
    torch.testing.assert_close(q.entropy(), as_normal(q).entropy())
    torch.testing.assert_close(q.kl_to(p), kl_divergence(as_normal(q), as_normal(p)))
    torch.testing.assert_close(q.kl_to_prior(), kl_divergence(as_normal(q), Normal(0.0, 1.0)))
    torch.testing.assert_close(GAUSSIAN.log_density(z), Normal(0.0, 1.0).log_prob(z))


def test_samples_have_the_mean_and_variance_and_carry_gradients():
    torch.manual_seed(0)
    mean = torch.tensor([[1.0, -2.0]]).expand(20_000, 2).clone().requires_grad_()
    logvar = torch.tensor([[0.0, 2.0]]).expand(20_000, 2).clone().requires_grad_()
    z = DiagonalGaussian(mean, logvar).sample()
    torch.testing.assert_close(z.mean(0), torch.tensor([1.0, -2.0]), atol=0.06, rtol=0)
    torch.testing.assert_close(z.var(0), torch.tensor([0.0, 2.0]).exp(), atol=0.25, rtol=0)
    z.sum().backward()
    assert mean.grad is not None
    assert logvar.grad is not None


def test_wild_outputs_stay_finite():
    q = DiagonalGaussian.from_outputs(torch.tensor([[0.0, 0.0, 1e4, -1e4]]))
    assert torch.isfinite(q.kl_to_prior()).all()
    assert torch.isfinite(q.variance).all()


def test_log_variances_are_free_within_bounds_and_can_come_back_from_beyond():
    logvar = torch.tensor([[-1e3, -20.5, -20.0, -3.25, 0.0, 10.0, 11.0, 1e3]], requires_grad=True)
    q = DiagonalGaussian.from_outputs(torch.cat([torch.zeros(1, 8), logvar], dim=1))
    assert torch.equal(q.logvar, logvar.clamp(-20, 10))
    q.kl_to_prior().sum().backward(retain_graph=True)
    gradient = logvar.grad[0]
    assert (gradient[[0, 1]] == -0.5 * (1 - torch.tensor(-20.0).exp())).all(), "it must grow"
    assert (gradient[[6, 7]] > 1e4).all(), "it must fall"
    logvar.grad = None
    (-q.logvar).sum().backward()
    assert logvar.grad[0].tolist() == [-1, -1, -1, -1, -1, -1, 0, 0], "none may go on outwards"
