"""The evidence bound of the VAE."""

import math

import pytest
import torch
from torch import nn

from unweave.batches import Batch
from unweave.methods.vae import VAE
from unweave.networks import Networks
from unweave.probability.gaussian import DiagonalGaussian


class FixedPosterior(nn.Module):
    """The exact posterior of a linear-Gaussian model."""

    def __init__(self, weights: torch.Tensor, noise: float):
        super().__init__()
        self.weights, self.noise = weights, noise

    def forward(self, images: torch.Tensor) -> DiagonalGaussian:
        precision = 1 + (self.weights**2).sum(0) / self.noise**2
        flat = (images.flatten(1) - 0.5) @ self.weights / self.noise**2
        return DiagonalGaussian(flat / precision, (-precision.log()).expand_as(flat))


class LinearLogits(nn.Module):
    """A decoder whose sigmoid is linear in z: the mean image is ½ + Wz."""

    def __init__(self, weights: torch.Tensor, shape: tuple[int, ...]):
        super().__init__()
        self.weights, self.shape = weights, shape

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        mean = (0.5 + z @ self.weights.T).clamp(1e-6, 1 - 1e-6)
        return mean.logit().reshape(len(z), *self.shape)


def test_the_bound_is_tight_at_the_exact_posterior_of_a_linear_gaussian_model():
    torch.manual_seed(0)
    noise = 0.05
    # Orthogonal columns keep the exact posterior diagonal.
    weights = torch.linalg.qr(torch.randn(16, 2))[0] * 0.05
    z = torch.randn(4, 2) * 0.5
    images = (0.5 + z @ weights.T + noise * torch.randn(4, 16)).reshape(4, 1, 4, 4)

    method = VAE(latent_dim=2, likelihood="gaussian", pixel_scale=noise)
    nets = Networks()
    nets.encoder = FixedPosterior(weights, noise)
    nets.decoder = LinearLogits(weights, (1, 4, 4))
    draws = [method.loss(nets, Batch(images, population=4), 0).total for _ in range(4000)]

    covariance = weights @ weights.T + noise**2 * torch.eye(16)
    evidence = torch.distributions.MultivariateNormal(torch.full((16,), 0.5), covariance)
    exact = -evidence.log_prob(images.flatten(1)).mean()
    assert torch.stack(draws).mean().item() == pytest.approx(exact.item(), abs=0.05)


def test_kl_is_zero_only_at_the_prior():
    at_prior = DiagonalGaussian(torch.zeros(1, 3), torch.zeros(1, 3))
    assert at_prior.kl_to_prior().abs().max() == 0
    moved = DiagonalGaussian(torch.full((1, 3), 1e-2), torch.zeros(1, 3))
    assert (moved.kl_to_prior() > 0).all()
    wider = DiagonalGaussian(torch.zeros(1, 3), torch.full((1, 3), 1e-2))
    assert (wider.kl_to_prior() > 0).all()


def test_terms_are_summed_over_pixels_and_latents_and_averaged_over_the_batch():
    """A blank network on black images: every pixel costs log 2, every latent nothing."""
    method = VAE(latent_dim=3)
    nets = Networks()
    nets.encoder = FixedPosterior(torch.zeros(64, 3), 1.0)
    nets.decoder = nn.Linear(3, 64)
    nn.init.zeros_(nets.decoder.weight)
    nn.init.zeros_(nets.decoder.bias)
    images = torch.zeros(5, 64)
    loss = method.loss(nets, Batch(images, population=5), 0)
    assert loss.terms["reconstruction"].item() == pytest.approx(64 * math.log(2), rel=1e-5)
    assert loss.terms["kl"].item() == pytest.approx(0, abs=1e-6)
