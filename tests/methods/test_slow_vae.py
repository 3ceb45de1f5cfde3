"""The slowness of SlowVAE."""

import numpy as np
import pytest
import torch

from unweave.batches import Batch, PairBatch, Pairs, Transitions
from unweave.errors import ConfigError
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.slow_vae import SlowVAE
from unweave.networks.mlp64 import MLP64
from unweave.probability.gaussian import DiagonalGaussian


def frames(count=40, latents=3) -> tuple[DiagonalGaussian, DiagonalGaussian]:
    torch.manual_seed(0)
    both = DiagonalGaussian(torch.randn(2 * count, latents), torch.randn(2 * count, latents) - 2)
    return both.halves()


def test_without_gamma_it_is_twice_a_beta_vae_of_half_beta(toy):
    images = torch.from_numpy(toy.images(np.arange(0, 1024, 64)))
    batch = PairBatch(images[:8], 1024, partners=images[8:], changed=None)
    slow, plain = SlowVAE(latent_dim=4, gamma=0, beta=3), BetaVAE(latent_dim=4, beta=1.5)
    nets = slow.networks(MLP64(hidden=16), toy.summary)
    torch.manual_seed(0)
    found = slow.loss(nets, batch, 0).total.item()
    torch.manual_seed(0)
    expected = plain.loss(nets, Batch(images, 1024), 0).total.item()
    assert found == pytest.approx(2 * expected, rel=1e-6)


def test_the_two_frames_play_the_same_part():
    one, two = frames()
    method = SlowVAE()
    torch.testing.assert_close(method.slowness(one, two), method.slowness(two, one))


def test_slowness_is_the_kl_in_both_directions():
    one, two = frames(count=1, latents=2)
    torch.manual_seed(1)
    total = 0.0
    for q, other in ((one, two), (two, one)):
        z = q.mean + q.std * torch.randn(300_000, 2)
        past = torch.distributions.Laplace(other.mean, 1 / 6)
        total += (q.log_density(z) - past.log_prob(z)).sum(1).mean().item()
    assert SlowVAE(rate=6).slowness(one, two).item() == pytest.approx(total, rel=0.01)


def test_a_kl_is_never_negative_and_the_authors_form_differs_by_one_entropy():
    one, two = frames()
    assert SlowVAE().slowness(one, one).item() > 0
    entropy = (one.entropy() + two.entropy()).sum(1).mean().item() / 2
    gap = SlowVAE(entropies=1).slowness(one, two) - SlowVAE().slowness(one, two)
    assert gap.item() == pytest.approx(entropy, rel=1e-5)


def test_pairs_move_by_a_laplace_distribution_or_anywhere():
    assert SlowVAE(data_rate=2.0).supervision == Transitions(2.0)
    assert SlowVAE(moves="uniform").supervision == Pairs(0)
    with pytest.raises(ConfigError, match="data_rate must be above 0"):
        SlowVAE(data_rate=0)
