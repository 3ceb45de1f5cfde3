"""The weights of β-TCVAE's three parts."""

import pytest
import torch

from unweave.batches import Batch
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.runs.config import Train
from unweave.training import loop


def loss_of(method, toy, step=0):
    nets = loop.make_networks(Train(method=BetaVAE(latent_dim=6), data="toy_xys"), toy)
    torch.manual_seed(7)
    batch = Batch(torch.from_numpy(toy.images(range(32))), population=len(toy))
    return method.loss(nets, batch, step)


@pytest.mark.parametrize("estimator", ["stratified", "weighted"])
def test_equal_weights_give_the_sampled_elbo(toy, estimator):
    method = BetaTCVAE(latent_dim=6, beta=1, estimator=estimator, analytic_kl=False)
    loss = loss_of(method, toy)
    sampled_kl = sum(
        loss.terms[name] for name in ("mutual_information", "total_correlation", "dimension_kl")
    )
    assert loss.total.item() == pytest.approx(
        (loss.terms["reconstruction"] + sampled_kl).item(), rel=1e-5
    )


def test_analytic_form_with_beta_one_is_the_vae(toy):
    ours = loss_of(BetaTCVAE(latent_dim=6, beta=1), toy)
    assert torch.equal(ours.total, loss_of(BetaVAE(latent_dim=6, beta=1), toy).total)


def test_the_analytic_and_the_sampled_form_differ_only_by_the_noise_of_the_kl(toy):
    analytic = loss_of(BetaTCVAE(latent_dim=6, beta=6), toy)
    sampled = loss_of(BetaTCVAE(latent_dim=6, beta=6, analytic_kl=False), toy)
    sampled_kl = sum(
        sampled.terms[name] for name in ("mutual_information", "total_correlation", "dimension_kl")
    )
    difference = sampled.total - analytic.total
    assert difference.item() == pytest.approx((sampled_kl - analytic.terms["kl"]).item(), abs=1e-3)


def test_each_weight_scales_its_own_part(toy):
    base = loss_of(BetaTCVAE(latent_dim=6, beta=1, analytic_kl=False), toy)
    for setting, term in [
        ("alpha", "mutual_information"),
        ("beta", "total_correlation"),
        ("gamma", "dimension_kl"),
    ]:
        values = {"beta": 1, "analytic_kl": False, setting: 3}
        more = loss_of(BetaTCVAE(latent_dim=6, **values), toy)
        assert (more.total - base.total).item() == pytest.approx(
            2 * base.terms[term].item(), rel=1e-3, abs=1e-3
        )
