"""What β does, and how β_norm reads it."""

import pytest
import torch

from unweave.batches import Batch
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.vae import VAE
from unweave.runs.config import Train
from unweave.settings.schedules import Schedule
from unweave.training import loop


def networks(toy):
    return loop.make_networks(Train(method=VAE(latent_dim=6), data="toy_xys"), toy)


def loss_of(method, toy, step=0):
    nets = networks(toy)
    torch.manual_seed(7)
    batch = Batch(torch.from_numpy(toy.images(range(16))), population=len(toy))
    return method.loss(nets, batch, step)


def test_beta_one_is_the_vae_bit_for_bit(toy):
    assert torch.equal(
        loss_of(BetaVAE(latent_dim=6, beta=1), toy).total, loss_of(VAE(latent_dim=6), toy).total
    )


def test_beta_zero_is_a_stochastic_autoencoder(toy):
    loss = loss_of(BetaVAE(latent_dim=6, beta=0), toy)
    assert torch.equal(loss.total, loss.terms["reconstruction"])


def test_the_loss_is_affine_in_beta(toy):
    zero, two, four = (loss_of(BetaVAE(latent_dim=6, beta=b), toy).total for b in (0, 2, 4))
    assert (four - two).item() == pytest.approx((two - zero).item(), rel=1e-3)


def test_warm_up_is_exact_at_its_start_middle_and_end(toy):
    warm = BetaVAE(latent_dim=6, beta=Schedule(0, 4, 1000))
    for step, beta in [(0, 0), (500, 2), (1000, 4), (5000, 4)]:
        assert torch.equal(
            loss_of(warm, toy, step).total, loss_of(BetaVAE(latent_dim=6, beta=beta), toy).total
        )


def test_beta_norm_is_the_mean_form_of_the_loss(toy):
    """(R + β KL) / P = mean pixel error + β_norm · KL / D, exactly."""
    pixels, latents, beta_norm = 32 * 32, 6, 0.01
    loss = loss_of(BetaVAE(latent_dim=latents, beta_norm=beta_norm), toy)
    mean_form = loss.terms["reconstruction"] / pixels + beta_norm * loss.terms["kl"] / latents
    assert (loss.total / pixels).item() == pytest.approx(mean_form.item(), rel=1e-6)


def test_beta_norm_of_the_paper_is_beta_four_on_dsprites():
    method = BetaVAE(latent_dim=10, beta_norm=4 * 10 / 4096)
    assert method.beta_for(64 * 64).at(0) == pytest.approx(4)


def test_numbers_and_text_are_read_as_schedules():
    assert BetaVAE(beta=4).beta == BetaVAE(beta="4").beta == Schedule(4, 4)
    assert BetaVAE(beta="0:4:100").beta == Schedule(0, 4, 100)
