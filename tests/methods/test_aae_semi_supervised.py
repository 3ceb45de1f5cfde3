"""Class and style of the semi-supervised adversarial autoencoder."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from unweave.batches import Batch, LabelledBatch
from unweave.data import DataSummary
from unweave.methods.aae_clustering import AAEClustering
from unweave.methods.aae_semi_supervised import AAESemiSupervised
from unweave.networks.mlp64 import MLP64

SETTINGS = {"latent_dim": 3, "discriminator_width": 16}
METHOD = AAESemiSupervised(**SETTINGS)
SUMMARY = DataSummary((1, 4, 4), 60, {"x": 7, "label": 4})
IMAGES = torch.rand(10, 1, 4, 4, generator=torch.Generator().manual_seed(0))
CLASSES = torch.tensor([0, 1, 2, 3, 3])
BATCH = LabelledBatch(
    IMAGES[:5],
    60,
    labels=CLASSES[:, None].float(),
    labelled=5,
    unlabelled=Batch(IMAGES, 60),
)


def networks(method=METHOD):
    torch.manual_seed(0)
    return method.networks(MLP64(hidden=16), SUMMARY)


def losses(nets, method=METHOD, batch=BATCH):
    torch.manual_seed(1)
    return [turn.loss for turn in method.turns(nets, batch, 0)]


def test_there_are_as_many_clusters_as_classes():
    nets = networks()
    logits, z = METHOD.split(nets, IMAGES)
    assert logits.shape == (10, 4)
    assert z.shape == (10, 3)
    code = METHOD.code(nets, SUMMARY)
    assert METHOD.encode(nets, IMAGES).shape == (10, code.size) == (10, 7)
    assert code.roles == {"content": [0, 1, 2, 3], "style": [4, 5, 6]}
    assert code.unit_of(2).factor == "label"
    assert torch.equal(METHOD.sample_prior(nets, 6)[:, :4].sum(1), torch.ones(6))


def test_without_classification_it_is_the_clustering_autoencoder(monkeypatch):
    one_hot = torch.eye(4)[torch.arange(10) % 4]
    monkeypatch.setattr(AAEClustering, "prior_clusters", lambda *args: one_hot)
    monkeypatch.setattr(AAESemiSupervised, "prior_clusters", lambda *args: one_hot)
    clustering = AAEClustering(clusters=4, decision_weight=0, **SETTINGS)
    method = AAESemiSupervised(classification_weight=0, **SETTINGS)
    ours = losses(networks(method), method)
    theirs = losses(networks(clustering), clustering, batch=BATCH.unlabelled)
    for one, two in zip(ours, theirs, strict=True):
        assert one.total.item() == pytest.approx(two.total.item(), rel=1e-6)


def test_labels_enter_as_plain_classification_of_the_labelled_images():
    nets = networks()
    autoencoder, _ = losses(nets)
    logits, _ = METHOD.split(nets, BATCH.images)
    expected = cross_entropy(logits, CLASSES)
    assert autoencoder.terms["classification"].item() == pytest.approx(expected.item(), rel=1e-6)
    method = AAESemiSupervised(classification_weight=0, **SETTINGS)
    without, _ = losses(networks(method), method)
    added = autoencoder.total - without.total
    assert added.item() == pytest.approx(10 * expected.item(), rel=1e-3)


def test_the_judge_of_the_class_does_not_see_the_style():
    nets = networks()
    _, before = losses(nets)
    with torch.no_grad():  # another style for the same class
        nets.encoder[-1].weight[4:].mul_(3)
        nets.encoder[-1].bias[4:].add_(1)
    _, after = losses(nets)
    assert torch.equal(before.terms["cluster"], after.terms["cluster"])
    assert not torch.equal(before.terms["style"], after.terms["style"])


def test_the_discriminators_losses_have_no_path_to_the_encoder():
    nets = networks()
    _, discriminators = losses(nets)
    discriminators.total.backward()
    assert all(p.grad is None for p in nets.encoder.parameters())
