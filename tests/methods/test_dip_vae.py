"""The two forms of DIP-VAE."""

import pytest
import torch
from torch import nn

from unweave.batches import Batch
from unweave.methods.dip_vae import DIPVAE
from unweave.networks import Networks
from unweave.probability.gaussian import DiagonalGaussian


class Fixed(nn.Module):
    def __init__(self, q: DiagonalGaussian):
        super().__init__()
        self.q = q

    def forward(self, images: torch.Tensor) -> DiagonalGaussian:
        return self.q


def whitened(rows: int = 64, latents: int = 3) -> torch.Tensor:
    means = torch.randn(rows, latents, generator=torch.Generator().manual_seed(0))
    means = means - means.mean(0)
    return means @ torch.linalg.inv(torch.linalg.cholesky(means.T.cov(correction=0))).T


def terms_of(method: DIPVAE, mean: torch.Tensor, variance: float):
    torch.manual_seed(1)
    nets = Networks()
    nets.encoder = Fixed(DiagonalGaussian(mean, torch.full_like(mean, variance).log()))
    nets.decoder = nn.Linear(mean.shape[1], 4)
    return method.loss(nets, Batch(torch.zeros(len(mean), 4), population=1000), 0)


def gap(loss) -> float:
    return (loss.terms["off_diagonal"] + loss.terms["diagonal"]).item()


def test_form_one_asks_for_means_with_unit_covariance():
    assert gap(terms_of(DIPVAE(latent_dim=3, form="I"), whitened(), 0.5)) < 1e-8
    assert gap(terms_of(DIPVAE(latent_dim=3, form="II"), whitened(), 0.5)) > 0.5


def test_form_two_asks_for_samples_with_unit_covariance():
    means = whitened() * 0.6  # variance 0.36
    assert gap(terms_of(DIPVAE(latent_dim=3, form="II"), means, 0.64)) < 1e-8
    assert gap(terms_of(DIPVAE(latent_dim=3, form="I"), means, 0.64)) > 0.5


def test_without_variance_form_two_is_form_one():
    means = torch.randn(64, 3)
    weights = {"latent_dim": 3, "lambda_od": 5, "lambda_d": 7}
    one = terms_of(DIPVAE(form="I", **weights), means, 1e-12)
    two = terms_of(DIPVAE(form="II", **weights), means, 1e-12)
    assert one.total.item() == pytest.approx(two.total.item(), rel=1e-6)


@pytest.mark.parametrize("form", ["I", "II"])
def test_the_penalty_does_not_see_where_the_means_are(form):
    means = torch.randn(64, 3)
    here = terms_of(DIPVAE(latent_dim=3, form=form), means, 0.5)
    there = terms_of(DIPVAE(latent_dim=3, form=form), means + 3, 0.5)
    assert gap(here) == pytest.approx(gap(there), rel=1e-3)


@pytest.mark.parametrize(("form", "ratio"), [("I", 10), ("II", 1)])
def test_the_weights_are_those_of_the_study(form, ratio):
    means = torch.randn(64, 3)
    loss = terms_of(DIPVAE(latent_dim=3, form=form, lambda_od=2), means, 0.5)
    expected = (
        loss.terms["reconstruction"]
        + loss.terms["kl"]
        + 2 * loss.terms["off_diagonal"]
        + 2 * ratio * loss.terms["diagonal"]
    )
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-5)
    own = terms_of(DIPVAE(latent_dim=3, form=form, lambda_od=2, lambda_d=0), means, 0.5)
    assert (loss.total - own.total).item() == pytest.approx(
        2 * ratio * loss.terms["diagonal"].item(), rel=1e-3
    )
