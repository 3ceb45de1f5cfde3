"""The discriminator of FactorVAE as an estimator, and who is moved by what."""

import math

import pytest
import torch
from torch import nn

from unweave.batches import Batch, TwoBatches
from unweave.methods.factor_vae import FactorVAE
from unweave.methods.vae import VAE
from unweave.networks import Networks
from unweave.networks._discriminator import code_discriminator
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.total_correlation import permute_dimensions
from unweave.runs.config import Train
from unweave.settings.optimizers import Adam
from unweave.training import loop

SMALL = {"discriminator_width": 64, "discriminator_depth": 2}


class Given(nn.Module):
    """An encoder whose codes are the images themselves."""

    def forward(self, images: torch.Tensor) -> DiagonalGaussian:
        codes = images.flatten(1)
        return DiagonalGaussian(codes, torch.full_like(codes, -20))


def estimated_correlation(draw, latents: int) -> float:
    """Train the discriminator's turn alone on codes that `draw` makes."""
    torch.manual_seed(0)
    method = FactorVAE(
        latent_dim=latents, discriminator_optimizer=Adam(2e-3, decay_steps=700), **SMALL
    )
    nets = Networks()
    nets.encoder = Given()
    nets.decoder = nn.Unflatten(1, (latents, 1, 1))
    nets.discriminator = code_discriminator(latents, 64, 2)
    optimizer = loop.PlayerOptimizer(method.players["discriminator"], nets)
    for step in range(700):
        images, others = (draw(512)[:, :, None, None] for _ in range(2))
        batch = TwoBatches(images, 10_000, other_images=others)
        (loss,) = (t.loss for t in method.turns(nets, batch, step) if t.player == "discriminator")
        optimizer.lower(loss, step)
    with torch.no_grad():
        return nets.discriminator(draw(20_000)).mean().item()


def test_alone_it_reaches_the_total_correlation_of_a_gaussian():
    rho = 0.8

    def draw(count: int) -> torch.Tensor:
        first, noise = torch.randn(2, count)
        return torch.stack([first, rho * first + math.sqrt(1 - rho**2) * noise], dim=1)

    exact = -0.5 * math.log(1 - rho**2)
    assert estimated_correlation(draw, 2) == pytest.approx(exact, rel=0.1)


def test_of_a_single_dimension_there_is_no_total_correlation():
    assert estimated_correlation(lambda count: torch.randn(count, 1), 1) == pytest.approx(
        0, abs=0.05
    )


def test_permuting_keeps_each_column_and_breaks_the_rows():
    torch.manual_seed(0)
    z = torch.randn(200, 1).expand(200, 4) + torch.arange(4)
    permuted = permute_dimensions(z)
    assert torch.equal(permuted.sort(0).values, z.sort(0).values)
    assert permuted.T.corrcoef().fill_diagonal_(0).abs().max() < 0.3


def turns_of(method, toy):
    """Return the turns of one step with fixed weights and noise, none of them made."""
    nets = loop.make_networks(Train(method=method, data="toy_xys"), toy)
    torch.manual_seed(7)
    images = torch.from_numpy(toy.images(range(32)))
    batch = TwoBatches(images[:16], len(toy), other_images=images[16:])
    return nets, {turn.player: turn.loss for turn in method.turns(nets, batch, 0)}


def test_without_gamma_it_is_the_vae(toy):
    method = FactorVAE(latent_dim=6, gamma=0, **SMALL)
    nets, losses = turns_of(method, toy)
    torch.manual_seed(7)
    batch = Batch(torch.from_numpy(toy.images(range(16))), len(toy))
    assert torch.equal(losses["autoencoder"].total, VAE(latent_dim=6).loss(nets, batch, 0).total)


def test_gamma_weighs_the_mean_logit(toy):
    _, one = turns_of(FactorVAE(latent_dim=6, gamma=1, **SMALL), toy)
    _, three = turns_of(FactorVAE(latent_dim=6, gamma=3, **SMALL), toy)
    correlation = one["autoencoder"].terms["total_correlation"].item()
    difference = (three["autoencoder"].total - one["autoencoder"].total).item()
    assert correlation != 0
    assert difference == pytest.approx(2 * correlation, abs=1e-3)


def test_the_discriminators_loss_has_no_path_to_the_encoder(toy):
    nets, losses = turns_of(FactorVAE(latent_dim=6, **SMALL), toy)
    losses["discriminator"].total.backward()
    assert all(p.grad is None for p in nets.encoder.parameters())
    assert all(p.grad is not None for p in nets.discriminator.parameters())


def test_moving_and_stretching_codes_does_not_change_what_the_discriminator_says(toy):
    torch.manual_seed(0)
    z = torch.randn(64, 6)
    moved = 5 * z * torch.linspace(0.5, 2, 6) + torch.arange(6)
    method = FactorVAE(latent_dim=6, **SMALL)
    nets, _ = turns_of(method, toy)
    assert torch.allclose(method.judged(nets, moved), method.judged(nets, z), atol=1e-4)
    paper = FactorVAE(latent_dim=6, scaled_codes=False, **SMALL)
    assert torch.equal(paper.judged(nets, z), nets.discriminator(z))
    assert not torch.allclose(paper.judged(nets, moved), paper.judged(nets, z), atol=1e-2)
