"""Cluster and style of the clustering adversarial autoencoder."""

import math

import pytest
import torch

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods import _cluster_style
from unweave.methods.aae_clustering import AAEClustering
from unweave.networks.mlp64 import MLP64

METHOD = AAEClustering(latent_dim=3, clusters=5, discriminator_width=16)
BATCH = Batch(torch.rand(10, 1, 4, 4, generator=torch.Generator().manual_seed(0)), 100)


SUMMARY = DataSummary((1, 4, 4), 16, {})


def networks():
    torch.manual_seed(0)
    return METHOD.networks(MLP64(hidden=16), SUMMARY)


def losses(nets):
    torch.manual_seed(1)
    return [turn.loss for turn in METHOD.turns(nets, BATCH, 0)]


def test_the_order_of_the_clusters_means_nothing(monkeypatch):
    # Every cluster twice, so that the samples of the prior are those of any order.
    every_twice = torch.eye(5).repeat(2, 1)
    monkeypatch.setattr(_cluster_style, "sample_one_hot", lambda *args: every_twice)
    monkeypatch.setattr(AAEClustering, "draw_cluster", lambda self, logits: logits.softmax(1))
    nets = networks()
    before = losses(nets)
    order = torch.tensor([3, 0, 4, 1, 2])
    with torch.no_grad():
        for part in (nets.encoder[-1].weight, nets.encoder[-1].bias):
            part[:5] = part[:5][order]
        for network in (nets.decoder, nets.cluster_discriminator):
            network[0].weight[:, :5] = network[0].weight[:, :5][:, order]
    logits, _ = METHOD.split(nets, BATCH.images)
    old_logits, _ = METHOD.split(networks(), BATCH.images)
    torch.testing.assert_close(logits, old_logits[:, order])
    for one, two in zip(before, losses(nets), strict=True):
        assert one.total.item() == pytest.approx(two.total.item(), rel=1e-5)


def test_the_code_is_the_probabilities_and_the_style():
    nets = networks()
    logits, z = METHOD.split(nets, BATCH.images)
    y = logits.softmax(1)
    assert torch.equal(METHOD.encode(nets, BATCH.images), torch.cat([y, z], dim=1))
    code = METHOD.code(nets, SUMMARY)
    assert code.size == 8
    assert [unit.kind for unit in code.units] == ["category", "number", "number", "number"]
    assert torch.equal(METHOD.sample_prior(nets, 6)[:, :5].sum(1), torch.ones(6))


def test_codes_are_drawn_with_one_cluster_each():
    nets, images = networks(), BATCH.images[:2]
    torch.manual_seed(0)
    with torch.no_grad():
        codes = METHOD.encode(nets, images)
        drawn = METHOD.draw_codes(nets, images.repeat(4000, 1, 1, 1)).view(4000, 2, -1)
    torch.testing.assert_close(drawn[..., 5:], codes[:, 5:].expand(4000, 2, 3))
    torch.testing.assert_close(drawn[..., :5].sort(-1).values[0, 0], torch.eye(5)[4])
    torch.testing.assert_close(drawn[..., :5].mean(0), codes[:, :5], atol=0.03, rtol=0)


def test_undecided_discriminators_give_the_losses_of_the_equilibrium():
    nets = networks()
    for network in (nets.cluster_discriminator, nets.style_discriminator):
        for parameter in network.parameters():
            torch.nn.init.zeros_(parameter)
    autoencoder, discriminators = losses(nets)
    assert autoencoder.terms["fooling_cluster"].item() == pytest.approx(math.log(2))
    assert discriminators.terms["style"].item() == pytest.approx(2 * math.log(2))
    assert discriminators.total.item() == pytest.approx(4 * math.log(2))


def test_the_discriminators_losses_have_no_path_to_the_encoder():
    nets = networks()
    _, discriminators = losses(nets)
    discriminators.total.backward()
    assert all(p.grad is None for p in nets.encoder.parameters())
    assert all(p.grad is not None for p in nets.cluster_discriminator.parameters())


def test_clusters_are_drawn_by_their_probabilities_and_pass_gradients():
    torch.manual_seed(0)
    logits = torch.tensor([0.0, 1.0, 2.0]).repeat(20_000, 1).requires_grad_()
    y = AAEClustering(clusters=3).draw_cluster(logits)
    assert ((y.detach() - 1).abs().min(1).values < 1e-6).all(), "not one-hot"
    torch.testing.assert_close(y.mean(0), logits[0].softmax(0), atol=0.02, rtol=0)
    y[:, 0].sum().backward()
    mean = logits.grad.mean(0)
    assert mean[0] > 0
    assert mean[1:].max() < 0


def test_one_cluster_is_refused():
    with pytest.raises(ConfigError, match="clusters must be 2"):
        AAEClustering(clusters=1)


def test_the_information_of_clusters_is_that_of_certain_ones_used_alike():
    certain = 50 * torch.eye(4).repeat(3, 1)
    information = _cluster_style.cluster_information
    assert information(certain).item() == pytest.approx(math.log(4))
    assert information(torch.zeros(6, 4)).item() == pytest.approx(0, abs=1e-6), "never certain"
    assert information(certain[:1].repeat(6, 1)).item() == pytest.approx(0, abs=1e-6), "one for all"


def test_the_weight_of_deciding_weighs_the_information():
    nets = networks()
    without = AAEClustering(latent_dim=3, clusters=5, discriminator_width=16, decision_weight=0)
    totals = []
    for method in (METHOD, without):
        torch.manual_seed(1)
        loss = next(method.turns(nets, BATCH, 0)).loss
        totals.append(loss.total.item())
    information = loss.terms["information"].item()
    assert totals[0] - totals[1] == pytest.approx(-3 * information, rel=1e-3, abs=1e-4)
