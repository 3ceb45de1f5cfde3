"""Top-k SAE: who is active, who learns from what is left, and directions of unit length."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError, DataError
from unweave.methods.top_k_sae import TopKSAE, feature_images, strongest
from unweave.networks.mlp64 import MLP64

METHOD = TopKSAE(latent_dim=6, active=2, idle_steps=1, idle_active=2)
SUMMARY = DataSummary((1, 1, 5), 10, {})
IMAGES = torch.rand(8, 1, 1, 5, generator=torch.Generator().manual_seed(0))


def networks(method: TopKSAE = METHOD):
    torch.manual_seed(0)
    return method.networks(MLP64(), SUMMARY)


def loss_of(nets, method: TopKSAE = METHOD):
    (turn,) = method.turns(nets, Batch(IMAGES, 10), 0)
    return turn.loss


def test_only_the_strongest_are_kept():
    strengths = torch.tensor([[3.0, 1.0, 2.0, 0.0]], requires_grad=True)
    found = strongest(strengths, 2)
    assert found.tolist() == [[3.0, 0.0, 2.0, 0.0]]
    found.sum().backward()
    assert strengths.grad.tolist() == [[1.0, 0.0, 1.0, 0.0]]
    nets = networks()
    codes = METHOD.encode(nets, IMAGES)
    assert ((codes > 0).sum(1) <= 2).all()
    assert (codes >= 0).all()


def test_directions_have_unit_length_whatever_the_weights():
    nets = networks()
    with torch.no_grad():
        nets.decoder.free.mul_(7)
    torch.testing.assert_close(nets.decoder.unit.norm(dim=1), torch.ones(6))
    code = torch.zeros(1, 6)
    code[0, 3] = 0.1
    moved = METHOD.decode(nets, code) - METHOD.decode(nets, torch.zeros(1, 6))
    torch.testing.assert_close(moved.flatten(), 0.1 * nets.decoder.unit[3])


def test_the_error_is_what_directions_leave_of_the_input():
    nets = networks()
    loss = loss_of(nets)
    codes = METHOD.encode(nets, IMAGES)
    rebuilt = 0.5 + codes @ nets.decoder.unit
    wanted = (IMAGES.flatten(1) - rebuilt).square().sum(1).mean()
    torch.testing.assert_close(loss.terms["squared_error"], wanted)


def test_idle_latents_alone_learn_from_what_the_others_leave():
    nets = networks()
    idle = torch.tensor([False, True, False, True, True, True])
    strengths = METHOD.strengths(nets, IMAGES)
    error = torch.randn(8, 5)
    left = METHOD.left_to_idle(nets, strengths, idle, error)
    chosen = strongest(strengths * idle, 2)
    torch.testing.assert_close(left, (error - chosen @ nets.decoder.unit).square().sum(1).mean())
    left.backward()
    moved = nets.encoder.weights.grad.abs().sum(1) > 0
    assert moved.any()
    assert not (moved & ~idle).any()
    assert METHOD.left_to_idle(nets, strengths, idle & False, error) == 0


def test_a_latent_is_idle_that_was_not_among_the_strongest_for_a_while():
    method = replace(METHOD, idle_steps=2)
    nets = networks(method)
    with torch.no_grad():
        nets.encoder.shift[4] = -100
    idle = []
    for _ in range(3):
        idle.append(loss_of(nets, method).terms["idle"].item())
    assert idle[0] == 0
    assert idle[1] == pytest.approx(idle[2])
    assert idle[2] >= 1 / 6
    assert nets.idle.steps[4] == 3
    loss = loss_of(nets, method)
    expected = loss.terms["squared_error"] + loss.terms["left_to_idle"] / 32
    torch.testing.assert_close(loss.total, expected)


def test_features_keep_their_directions_and_must_be_a_table_of_numbers():
    table = np.random.default_rng(0).normal(3, 5, size=(20, 4))
    images = feature_images(table)
    assert images.shape == (20, 1, 4)
    assert images.min() == 0
    assert images.max() == 1
    back = images[:, 0] * (table.max() - table.min()) + table.min()
    np.testing.assert_allclose(back, table, rtol=1e-4, atol=1e-4)
    with pytest.raises(DataError, match=r"found an array \(4,\)"):
        feature_images(table[0])
    table[3, 1] = np.nan
    with pytest.raises(DataError, match="row 3 has one that is none"):
        feature_images(table)


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="between 1 and latent_dim, which is 3, found 4"):
        TopKSAE(latent_dim=3, active=4)
    with pytest.raises(ConfigError, match="idle_active must be 1 or more, found 0"):
        TopKSAE(idle_active=0)
