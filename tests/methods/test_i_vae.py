"""iVAE: a prior that depends on u, and codes that do not."""

import math

import pytest
import torch

from unweave.batches import AuxiliaryBatch
from unweave.data import DataSummary, load_data
from unweave.methods.i_vae import IVAE
from unweave.networks.mlp64 import MLP64
from unweave.probability.gaussian import DiagonalGaussian

METHOD = IVAE(latent_dim=2, pixel_scale=0.5)
IMAGES = torch.rand(12, 1, 4, 4, generator=torch.Generator().manual_seed(0))
U = torch.eye(3)[torch.arange(12) % 3]


def networks(method=METHOD):
    torch.manual_seed(0)
    return method.networks(MLP64(hidden=16), DataSummary((1, 4, 4), 60, {"segment": 3}))


def loss_of(nets, u=U, method=METHOD):
    torch.manual_seed(1)
    (turn,) = method.turns(nets, AuxiliaryBatch(IMAGES, 60, auxiliary=u), 0)
    return turn.loss


def test_the_kl_is_that_to_the_prior_of_each_images_u():
    nets = networks(IVAE(latent_dim=2, prior="mean_and_scale"))
    q = nets.joint_encoder(IMAGES, U)
    prior = nets.prior(U)
    as_distributions = (
        torch.distributions.Normal(q.mean, q.std),
        torch.distributions.Normal(prior.mean, prior.std),
    )
    expected = torch.distributions.kl_divergence(*as_distributions).sum(1).mean()
    assert loss_of(nets).terms["kl"].item() == pytest.approx(expected.item(), rel=1e-5)
    assert prior.mean.std(0).min() > 0


def test_the_prior_has_mean_0_and_a_scale_of_each_segment():
    prior = networks().prior(U)
    assert not prior.mean.any()
    assert torch.equal(prior.logvar[:3], prior.logvar[3:6])
    assert not torch.allclose(prior.logvar[0], prior.logvar[1])


def test_a_constant_u_gives_a_vae_with_a_learnt_scale_of_its_prior():
    nets = networks()
    constant = torch.eye(3)[torch.zeros(12, dtype=torch.long)]
    loss = loss_of(nets, constant)
    q = nets.joint_encoder(IMAGES, constant)
    scale = nets.prior(constant[:1]).std
    # z / scale is standard normal a priori, so that a VAE of it has the same KL.
    rescaled = DiagonalGaussian(q.mean / scale, q.logvar - 2 * scale.log())
    expected = rescaled.kl_to_prior().sum(1).mean()
    assert loss.terms["kl"].item() == pytest.approx(expected.item(), rel=1e-5)
    torch.manual_seed(1)
    error = IMAGES - torch.sigmoid(nets.decoder(q.sample()))
    gaussian = 0.5 * (error / 0.5).square() + math.log(0.5) + 0.5 * math.log(2 * math.pi)
    assert loss.terms["reconstruction"].item() == pytest.approx(
        gaussian.sum().item() / 12, rel=1e-5
    )


def test_codes_for_metrics_know_nothing_of_u_and_teach_the_others_nothing():
    nets = networks()
    torch.testing.assert_close(METHOD.encode(nets, IMAGES), nets.encoder(IMAGES).mean)
    one, two = (METHOD.encode_with(nets, IMAGES, u) for u in (U, U.roll(1, dims=1)))
    assert not torch.allclose(one, two)
    loss_of(nets).terms["guessing"].backward()
    assert all(p.grad is not None for p in nets.encoder.parameters())
    for network in (nets.joint_encoder, nets.decoder, nets.prior):
        assert all(p.grad is None for p in network.parameters())


def test_encoders_see_images_centred_and_scaled_whatever_the_data_vary_by():
    images = 0.4 + 0.05 * IMAGES
    method = IVAE(latent_dim=2)
    nets = networks(method)
    nets.standardization.fit(images)
    seen = nets.standardization(images)
    torch.testing.assert_close(seen.mean(0), torch.zeros(1, 4, 4), atol=1e-5, rtol=0)
    assert seen.var(0, correction=0).mean().item() == pytest.approx(1, rel=1e-4)
    torch.testing.assert_close(method.encode(nets, images), nets.encoder(seen).mean)
    torch.testing.assert_close(
        method.encode_with(nets, images, U), nets.joint_encoder(seen, U).mean
    )
    nets.standardization.fit(torch.full((3, 1, 4, 4), 0.5))
    assert torch.equal(nets.standardization(images), images - 0.5)


def test_samples_follow_the_prior_of_the_observed_u():
    data = load_data("segments").subset(range(500, 2500))  # of segments 0, 1 and 2
    method = IVAE(latent_dim=2)
    torch.manual_seed(0)
    nets = method.networks(MLP64(hidden=16), data.summary)
    method.fit(nets, data, seed=0)
    shares = nets.prior.observed.mean(0)
    torch.testing.assert_close(shares[:3], torch.tensor([0.25, 0.5, 0.25]), atol=0.1, rtol=0)
    assert shares[3:].sum() == 0
    points = torch.from_numpy(data.images(range(2000)))
    torch.testing.assert_close(nets.standardization.mean, points.mean(0))
    with torch.no_grad():
        expected = nets.prior(nets.prior.observed).variance.mean(0)
        drawn = method.sample_prior(nets, 20_000)
    torch.testing.assert_close(drawn.var(0), expected, rtol=0.05, atol=0)


def test_codes_are_drawn_around_those_for_metrics():
    nets = networks()
    torch.manual_seed(0)
    with torch.no_grad():
        guess = nets.encoder(nets.standardization(IMAGES))
        drawn = METHOD.draw_codes(nets, IMAGES.repeat(2000, 1, 1, 1)).view(2000, 12, 2)
    torch.testing.assert_close(drawn.mean(0), METHOD.encode(nets, IMAGES), atol=0.15, rtol=0)
    torch.testing.assert_close(drawn.std(0), guess.std, atol=0.1, rtol=0)
