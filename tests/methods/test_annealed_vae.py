"""The capacity of AnnealedVAE."""

import pytest
import torch

from unweave.batches import Batch
from unweave.methods.annealed_vae import AnnealedVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.runs.config import Train
from unweave.training import loop


def loss_of(method, toy, step=0):
    nets = loop.make_networks(Train(method=BetaVAE(latent_dim=6), data="toy_xys"), toy)
    torch.manual_seed(7)
    batch = Batch(torch.from_numpy(toy.images(range(16))), population=len(toy))
    return method.loss(nets, batch, step)


def test_no_capacity_is_beta_vae(toy):
    annealed = loss_of(AnnealedVAE(latent_dim=6, gamma=30, capacity=0), toy)
    assert torch.equal(annealed.total, loss_of(BetaVAE(latent_dim=6, beta=30), toy).total)


def test_the_penalty_vanishes_when_kl_is_at_capacity_and_is_symmetric_around_it(toy):
    kl = loss_of(AnnealedVAE(latent_dim=6), toy).terms["kl"].item()
    gaps = {
        shift: loss_of(AnnealedVAE(latent_dim=6, capacity=kl * (1 + shift)), toy).terms[
            "capacity_gap"
        ]
        for shift in (-0.5, 0.0, 0.5)
    }
    assert gaps[0.0].item() == pytest.approx(0, abs=1e-6)
    assert gaps[-0.5].item() == pytest.approx(gaps[0.5].item(), rel=1e-5)


def test_the_capacity_grows_with_the_step(toy):
    method = AnnealedVAE(latent_dim=6, gamma=1, capacity="0:10:100")
    gaps = [loss_of(method, toy, step).terms["capacity_gap"].item() for step in (0, 50, 100, 200)]
    kl = loss_of(method, toy).terms["kl"].item()
    assert gaps == pytest.approx([abs(kl - c) for c in (0, 5, 10, 10)], rel=1e-5)


def test_the_gap_per_image_is_at_least_that_of_the_mean(toy):
    nets = loop.make_networks(Train(method=BetaVAE(latent_dim=6), data="toy_xys"), toy)
    images = torch.from_numpy(toy.images(range(16)))
    mean_kl = BetaVAE(latent_dim=6).posterior(nets, images).kl_to_prior().sum(1).mean().item()
    whole = loss_of(AnnealedVAE(latent_dim=6, capacity=mean_kl), toy)
    each = loss_of(AnnealedVAE(latent_dim=6, capacity=mean_kl, per_image=True), toy)
    assert each.terms["capacity_gap"] > whole.terms["capacity_gap"]


def test_by_default_the_capacity_rises_over_a_third_of_the_run(toy):
    settled = AnnealedVAE().settled(600, toy)
    assert [settled.kl_limit(step) for step in (0, 100, 200, 599)] == [0, 12.5, 25, 25]
    assert AnnealedVAE().settled(1, toy).kl_limit(0) == 25


def test_a_capacity_that_was_given_is_left_alone(toy):
    for capacity in (5, "0:10:100000"):
        chosen = AnnealedVAE(capacity=capacity)
        assert chosen.settled(600, toy) == chosen
