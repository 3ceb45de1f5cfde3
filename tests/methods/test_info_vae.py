"""The special cases of InfoVAE, and its divergences."""

import math

import pytest
import torch

from unweave.batches import Batch
from unweave.errors import ConfigError
from unweave.methods.aae import AAE
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.info_vae import InfoVAE
from unweave.methods.vae import VAE
from unweave.probability.divergence import mmd_rbf
from unweave.runs.config import Train
from unweave.training import loop

SMALL = {"latent_dim": 6, "discriminator_width": 32}


def first_turn(method, toy, nets_of=None):
    """Return the loss of the autoencoder's turn with fixed weights and noise."""
    nets = loop.make_networks(Train(method=nets_of or method, data="toy_xys"), toy)
    torch.manual_seed(7)
    batch = Batch(torch.from_numpy(toy.images(range(16))), len(toy))
    return next(method.turns(nets, batch, 0)).loss


def test_alpha_zero_and_lambda_one_is_the_vae(toy):
    ours = first_turn(InfoVAE(alpha=0, lambda_prior=1, **SMALL), toy)
    assert ours.total.item() == pytest.approx(first_turn(VAE(latent_dim=6), toy).total.item())


def test_alpha_and_lambda_that_sum_to_one_are_the_beta_vae(toy):
    ours = first_turn(InfoVAE(alpha=-3, lambda_prior=4, **SMALL), toy)
    theirs = first_turn(BetaVAE(latent_dim=6, beta=4), toy)
    assert ours.total.item() == pytest.approx(theirs.total.item(), rel=1e-6)


def test_alpha_and_lambda_one_with_a_discriminator_are_the_adversarial_autoencoder(toy):
    ours = InfoVAE(alpha=1, lambda_prior=1, divergence="adversarial", **SMALL)
    theirs = AAE(encoder="gaussian", adversarial_weight=1, **SMALL)
    assert first_turn(ours, toy).total.item() == pytest.approx(
        first_turn(theirs, toy, nets_of=ours).total.item(), rel=1e-6
    )


@pytest.mark.parametrize(("divergence", "kernel"), [("mmd", "rbf"), ("mmd", "imq"), ("stein", "")])
def test_lowering_the_divergence_brings_codes_to_the_prior(divergence, kernel):
    method = InfoVAE(latent_dim=1, divergence=divergence, kernel=kernel or "rbf")
    torch.manual_seed(0)
    z = (2 + 0.5 * torch.randn(100, 1)).requires_grad_()
    prior = torch.randn(1000, 1)
    before = mmd_rbf(z.detach(), prior, unbiased=True)
    optimizer = torch.optim.SGD([z], lr=5)
    for _ in range(400):
        optimizer.zero_grad()
        method.divergence_of(None, z).backward()
        optimizer.step()
    assert mmd_rbf(z.detach(), prior, unbiased=True) < before / 20


def test_the_stein_term_enters_with_its_minus_sign(toy):
    """A step against the gradient follows the direction: codes at 2 move towards 0."""
    method = InfoVAE(latent_dim=1, divergence="stein")
    z = torch.full((20, 1), 2.0) + 0.1 * torch.randn(20, 1)
    z.requires_grad_()
    method.divergence_of(None, z).backward()
    assert z.grad.mean() > 0


def test_a_discriminator_that_knows_nothing_gives_the_losses_of_the_equilibrium(toy):
    method = InfoVAE(divergence="adversarial", **SMALL)
    nets = loop.make_networks(Train(method=method, data="toy_xys"), toy)
    for parameter in nets.discriminator.parameters():
        torch.nn.init.zeros_(parameter)
    batch = Batch(torch.from_numpy(toy.images(range(16))), len(toy))
    autoencoder, discriminator = (turn.loss for turn in method.turns(nets, batch, 0))
    assert autoencoder.terms["divergence"].item() == pytest.approx(math.log(2))
    assert discriminator.total.item() == pytest.approx(2 * math.log(2))


def test_the_adversarial_form_passes_the_checks_of_every_method(toy):
    """Its second player is there only for this divergence, so the shared checks miss it."""
    config = Train(
        method=InfoVAE(divergence="adversarial", **SMALL), data="toy_xys", batch_size=16, steps=2
    )
    nets = loop.make_networks(config, toy)
    optimizers = {k: loop.PlayerOptimizer(p, nets) for k, p in config.method.players.items()}
    torch.manual_seed(0)
    batch = Batch(torch.from_numpy(toy.images(range(16))), len(toy))
    seen = []
    for turn in config.method.turns(nets, batch, 0):
        before = {k: v.clone() for k, v in nets.state_dict().items()}
        optimizers[turn.player].lower(turn.loss, 0)
        moved = {k.split(".")[0] for k, v in nets.state_dict().items() if (v != before[k]).any()}
        assert moved == set(config.method.players[turn.player].owns)
        seen.append(turn.player)
    assert seen == ["autoencoder", "discriminator"]


def test_a_match_that_would_push_codes_away_is_refused():
    with pytest.raises(ConfigError, match="must be 1 or more"):
        InfoVAE(alpha=0, lambda_prior=0.5)


def test_the_width_of_the_kernel_is_that_of_the_authors_if_wanted():
    torch.manual_seed(0)
    z = 0.3 * torch.randn(200, 6)

    def divergence(**settings):
        torch.manual_seed(1)
        return InfoVAE(latent_dim=6, **settings).divergence_of(None, z).item()

    torch.manual_seed(1)
    prior = torch.randn_like(z)
    assert divergence() == divergence(kernel_width=6.0)
    assert divergence(kernel_width=36.0) == mmd_rbf(z, prior, 36.0).item() < divergence() / 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lambda_prior": -1, "alpha": 1}, "lambda_prior must be 0 or more, found -1"),
        ({"alpha": 1.5}, "alpha must be 1 or less"),
        ({"kernel_width": 0.0}, "kernel_width must be above 0"),
    ],
)
def test_weights_that_would_drive_codes_from_the_prior_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        InfoVAE(**settings)
