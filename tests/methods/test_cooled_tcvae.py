"""CooledTCVAE: a KL weight that falls, dearer late latents, total correlation of noisy codes."""

import numpy as np
import pytest
import torch

from unweave.data import load_data
from unweave.errors import ConfigError
from unweave.methods.cooled_tcvae import CooledTCVAE, PosteriorBank
from unweave.networks.conv_any import ConvAny
from unweave.networks.what_where import WhatWhere
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.total_correlation import total_correlation
from unweave.settings.schedules import Schedule, constant

SMALL = ConvAny(channels=(8,), hidden=16)


@pytest.fixture(scope="module")
def toys():
    return load_data("toy_xys")


def loss_of(method, toys, step=0):
    torch.manual_seed(0)
    nets = method.networks(SMALL, toys.summary)
    nets.encoder.trunk[-1].weight.data[: method.latent_dim] *= 50  # latents that are on
    batch = method.supervision.draw(toys, 32, np.random.default_rng(0))
    torch.manual_seed(1)
    return nets, batch, method.loss(nets, batch, step)


def test_by_default_the_weights_fall_over_the_first_part_of_a_run(toys):
    method = CooledTCVAE().settled(400, toys)
    assert method.kl_weight == Schedule(150, 1, 200, curve="geometric")
    assert method.kl_weight.at(100) == pytest.approx(150**0.5)
    assert method.stagger == Schedule(0.7, 0.3, 200)
    given = CooledTCVAE(kl_weight="40:1:10:geometric", stagger=0.0).settled(400, toys)
    assert given.kl_weight == Schedule(40, 1, 10, curve="geometric")
    assert given.stagger == constant(0)


@pytest.mark.parametrize(
    ("unstaggered", "weights"), [(2, [1.0, 1.0, 1.5, 2.0]), (3, [1.0, 1.0, 1.0, 1.5])]
)
def test_the_loss_is_the_formula(toys, unstaggered, weights):
    method = CooledTCVAE(
        latent_dim=4, kl_weight=3.0, stagger=0.5, unstaggered=unstaggered, tc_weight=7.0
    )
    nets, batch, loss = loss_of(method, toys)
    kl = method.kl_to_prior(method.posterior(nets, batch.images)).mean(0)
    weights = torch.tensor(weights)
    expected = loss.terms["reconstruction"] + 3 * (weights * kl).sum()
    expected = expected + 7 * loss.terms["total_correlation"]
    torch.testing.assert_close(loss.total, expected)
    assert loss.terms["total_correlation"].item() != 0


def test_the_total_correlation_weighs_as_much_as_the_kl_while_that_is_more(toys):
    light, heavy = (
        loss_of(CooledTCVAE(latent_dim=4, kl_weight=20.0, stagger=0.0, tc_weight=w), toys)[2]
        for w in (1.0, 20.0)
    )
    torch.testing.assert_close(light.total, heavy.total)


def test_without_noise_the_total_correlation_is_that_of_all_latents():
    method = CooledTCVAE(latent_dim=3, kl_weight=1.0, stagger=0.0, smoothing=0.0)
    q = DiagonalGaussian(torch.randn(64, 3), torch.full((64, 3), -3.0))
    torch.manual_seed(1)
    found = method._correlation(torch.nn.Module(), q, 1000, 0)
    torch.manual_seed(1)
    assert found.item() == pytest.approx(total_correlation(q.sample(), q, 1000).item())


def test_a_bank_returns_what_it_was_given_before_and_forgets_the_oldest():
    bank = PosteriorBank(5, 1)
    rows = [torch.full((2, 1), float(step)) for step in range(4)]
    assert bank.exchange(DiagonalGaussian(rows[0], rows[0]), 0) is None
    for step in (1, 2, 3):
        known = bank.exchange(DiagonalGaussian(rows[step], -rows[step]), step)
        assert known.mean.unique().tolist() == [float(s) for s in range(step)]
    assert bank.mean.flatten().sort().values.tolist() == [1, 2, 2, 3, 3]


def test_a_bank_changes_the_estimate_and_stays_without_gradients(toys):
    method = CooledTCVAE(latent_dim=4, kl_weight=1.0, stagger=0.0, bank=64)
    nets, batch, _ = loss_of(method, toys)
    assert nets.bank.mean[:32].var() > 0
    torch.manual_seed(5)
    loss = method.loss(nets, batch, 1)
    loss.total.backward()
    assert nets.bank.mean.grad is None
    assert not nets.bank.mean.requires_grad
    plain = CooledTCVAE(latent_dim=4, kl_weight=1.0, stagger=0.0)
    torch.manual_seed(5)
    other = plain.loss(nets, batch, 1).terms["total_correlation"]
    assert loss.terms["total_correlation"].item() != pytest.approx(other.item(), abs=1e-4)


def test_far_above_the_threshold_every_latent_stays_off_and_below_it_some_switch_on(toys):
    """What the fall of the weight relies on, in a few steps."""
    on = {}
    for weight in (3000.0, 1.0):
        torch.manual_seed(0)
        method = CooledTCVAE(latent_dim=4, kl_weight=weight, stagger=0.0)
        nets = method.networks(WhatWhere(hidden=64), toys.summary)
        optimizer = torch.optim.Adam(nets.parameters(), 2e-3)
        for step in range(80):
            batch = method.supervision.draw(toys, 32, np.random.default_rng(step))
            optimizer.zero_grad()
            method.loss(nets, batch, step).total.backward()
            optimizer.step()
        kl = method.kl_to_prior(method.posterior(nets, batch.images)).mean(0)
        on[weight] = int((kl > method.code_prior.least_kl + 0.1).sum())
    assert on[3000.0] == 0
    assert on[1.0] >= 2


@pytest.mark.parametrize("wrong", [{"smoothing": -0.1}, {"bank": -1}])
def test_settings_below_zero_are_refused(wrong):
    with pytest.raises(ConfigError, match="smoothing and bank"):
        CooledTCVAE(**wrong)
