"""Slots of DC-IGN: what passes a clamp, what holds the others still, and which is active."""

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from unweave.batches import Batch, OneVariesBatch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods.dc_ign import DCIGN, clamped, unwanted_variation
from unweave.methods.vae import VAE
from unweave.networks.mlp64 import MLP64
from unweave.probability.gaussian import DiagonalGaussian

METHOD = DCIGN(latent_dim=2, factors=("x", "y"), rest=1.0)
SUMMARY = DataSummary((1, 8, 8), 10, {"x": 3, "y": 3, "kind": 2})
IMAGES = torch.rand(6, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def networks(method: DCIGN = METHOD):
    torch.manual_seed(0)
    return method.networks(MLP64(hidden=16), SUMMARY)


class Given(nn.Module):
    """An encoder whose posterior is given."""

    def __init__(self, images: int = 6, size: int = 4):
        super().__init__()
        self.mean = nn.Parameter(torch.randn(images, size))
        self.logvar = nn.Parameter(torch.randn(images, size))

    def forward(self, images: torch.Tensor) -> DiagonalGaussian:
        return DiagonalGaussian(self.mean, self.logvar)


def test_one_slot_is_active_or_all_that_are_none():
    assert METHOD.active(0).tolist() == [True, False, False, False]
    assert METHOD.active(1).tolist() == [False, True, False, False]
    assert METHOD.active(2).tolist() == [False, False, True, True]


def test_with_all_slots_active_it_is_the_vae():
    @dataclass(frozen=True, kw_only=True)
    class AllActive(DCIGN):
        def active(self, varying):
            return torch.ones(self.size, dtype=torch.bool)

    nets = networks()
    torch.manual_seed(7)
    own = AllActive(latent_dim=2, factors=("x", "y"), invariance=5)
    found = own.loss(nets, OneVariesBatch(IMAGES, 10, varying=0), 0)
    torch.manual_seed(7)
    assert torch.equal(found.total, VAE(latent_dim=4).loss(nets, Batch(IMAGES, 10), 0).total)


def test_a_clamped_dimension_learns_to_hold_still_and_nothing_else():
    nets = networks()
    torch.manual_seed(1)
    nets.encoder = Given()
    strength = 0.3
    method = DCIGN(latent_dim=2, factors=("x", "y"), rest=1.0, invariance=strength)
    method.loss(nets, OneVariesBatch(IMAGES, 10, varying=1), 0).total.backward()
    inactive = [0, 2, 3]
    for head in (nets.encoder.mean, nets.encoder.logvar):
        wanted = strength * (head - head.mean(0)) / len(IMAGES)
        torch.testing.assert_close(head.grad[:, inactive], wanted.detach()[:, inactive])
        assert not torch.allclose(head.grad[:, 1], wanted[:, 1])


def test_clamped_posteriors_are_the_same_for_every_image_and_active_ones_their_own():
    q = Given()(IMAGES)
    found = clamped(q, METHOD.active(0))
    torch.testing.assert_close(found.mean[:, 1:], q.mean[:, 1:].mean(0).expand(6, -1))
    torch.testing.assert_close(found.logvar[:, 1:], q.logvar[:, 1:].mean(0).expand(6, -1))
    assert torch.equal(found.mean[:, 0], q.mean[:, 0])
    assert torch.equal(found.logvar[:, 0], q.logvar[:, 0])
    kl = found.kl_to_prior()
    torch.testing.assert_close(kl[:, 1:], kl[:1, 1:].expand(6, -1))


def test_what_holds_still_is_not_pushed():
    still = DiagonalGaussian(torch.full((6, 4), 3.0), torch.full((6, 4), -1.0))
    assert unwanted_variation(still, METHOD.active(0)) == 0
    moving = DiagonalGaussian(torch.randn(6, 4), torch.randn(6, 4))
    everything = torch.ones(4, dtype=torch.bool)
    assert unwanted_variation(moving, everything) == 0
    assert unwanted_variation(moving, METHOD.active(0)) > 0


def test_the_decoder_learns_from_clamped_dimensions():
    nets = networks()
    METHOD.loss(nets, OneVariesBatch(IMAGES, 10, varying=0), 0).total.backward()
    first = nets.decoder[0].weight.grad
    assert (first.abs().sum(0) > 0).all(), "its input of every dimension, active or not"


def test_every_factor_has_a_slot_unless_some_are_named(toy):
    every = DCIGN().settled(10, toy)
    assert every.factors == ("x", "y", "side")
    assert every.rest == 0
    some = DCIGN(factors=("side",)).settled(10, toy)
    assert some.factors == ("side",)
    assert some.rest == 10
    assert DCIGN(factors=("side",), rest=2.0).settled(10, toy).rest == 2
    parts = METHOD.code(networks(), SUMMARY).units
    assert [unit.factor for unit in parts] == ["x", "y", "", ""]


def test_a_share_below_0_is_refused():
    with pytest.raises(ConfigError, match="rest must be 0 or more, found -1"):
        DCIGN(rest=-1.0)
