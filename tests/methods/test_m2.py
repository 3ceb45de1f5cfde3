"""M2: bounds with a known class, and summed over an unknown one."""

import math

import pytest
import torch
from torch.nn.functional import one_hot

from unweave.batches import Batch, LabelledBatch
from unweave.data import DataSummary, from_arrays
from unweave.errors import ConfigError
from unweave.methods.m2 import M2
from unweave.networks.mlp64 import MLP64
from unweave.probability.class_bound import marginal_bound
from unweave.settings.schedules import Schedule, constant

METHOD = M2(latent_dim=2)
GENERATOR = torch.Generator().manual_seed(0)
IMAGES = torch.rand(10, 1, 4, 4, generator=GENERATOR)
CLASSES = torch.arange(6) % 3


def summary(classes: int = 3) -> DataSummary:
    return DataSummary((1, 4, 4), 60, {"label": classes})


def networks(classes: int = 3, method: M2 = METHOD):
    torch.manual_seed(0)
    return method.networks(MLP64(hidden=16), summary(classes))


def batch(classes: torch.Tensor = CLASSES, labelled: int = 6) -> LabelledBatch:
    return LabelledBatch(
        IMAGES[: len(classes)],
        60,
        labels=classes[:, None].float(),
        labelled=labelled,
        unlabelled=Batch(IMAGES, 60),
    )


def loss_of(nets, method=METHOD, **changes):
    torch.manual_seed(1)
    (turn,) = method.turns(nets, batch(**changes), 0)
    return turn.loss


def test_a_certain_class_gives_the_bound_of_that_class():
    log_q = torch.log_softmax(torch.tensor([[0.0, 200.0, 0.0]]), dim=1)
    bounds = torch.tensor([[70.0, 50.0, 90.0]])
    bound, entropy = marginal_bound(log_q, bounds)
    assert bound.item() == pytest.approx(50)
    assert entropy.item() == pytest.approx(0, abs=1e-6)


def test_the_bound_is_tight_at_the_posterior_of_the_classes_and_loose_elsewhere():
    bounds = torch.tensor([[3.0, 1.0, 2.0], [0.5, 0.5, 4.0]], dtype=torch.float64)
    marginal = -torch.logsumexp(-bounds, dim=1).mean()
    tight, _ = marginal_bound((-bounds).log_softmax(1), bounds)
    assert tight.item() == pytest.approx(marginal.item())
    for shift in ([0, 0, 1.0], [-2.0, 0, 0]):
        log_q = (-bounds + torch.tensor(shift)).log_softmax(1)
        assert marginal_bound(log_q, bounds)[0] > marginal + 1e-3


def test_enumeration_gives_every_image_the_bound_of_every_class(monkeypatch):
    nets = networks()
    noise = torch.randn(30, 2, generator=GENERATOR)
    monkeypatch.setattr(torch, "randn_like", lambda mean: noise[: len(mean)])
    _, every = METHOD.every_class(nets, IMAGES)
    features = nets.encoder.features(IMAGES)
    for line, label in ((0, 2), (4, 0), (9, 1)):
        monkeypatch.setattr(torch, "randn_like", lambda mean, i=3 * line + label: noise[i][None])
        y = one_hot(torch.tensor([label]), 3).float()
        one = METHOD.bounds(nets, features[line : line + 1], IMAGES[line : line + 1], y)
        assert every.total[line, label].item() == pytest.approx(one.total.item(), rel=1e-5)
        decoded = nets.decoder(
            torch.cat([y, nets.encoder(IMAGES[line : line + 1], y).sample()], dim=1)
        )
        cross_entropy = torch.nn.functional.binary_cross_entropy_with_logits(
            decoded, IMAGES[line : line + 1], reduction="sum"
        )
        assert one.reconstruction.item() == pytest.approx(cross_entropy.item(), rel=1e-5)
        expected = one.reconstruction + one.kl + math.log(3)
        assert one.total.item() == pytest.approx(expected.item(), rel=1e-6)


def test_with_one_class_it_is_a_vae():
    nets = networks(classes=1)
    torch.manual_seed(1)
    log_q, every = METHOD.every_class(nets, IMAGES)
    bound, entropy = marginal_bound(log_q, every.total)
    torch.manual_seed(1)
    y = torch.ones(10, 1)
    q = nets.encoder(IMAGES, y)
    logits = nets.decoder(torch.cat([y, q.sample()], dim=1))
    reconstruction = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, IMAGES, reduction="sum"
    )
    expected = reconstruction / 10 + q.kl_to_prior().sum(1).mean()
    assert bound.item() == pytest.approx(expected.item(), rel=1e-5)
    assert entropy.item() == 0


def test_labels_reach_the_classifier_only_by_classification():
    nets = networks()
    told = loss_of(nets, labelled=60, method=M2(latent_dim=2, classification_weight=0))
    told.total.backward()  # all images labelled: the loss is that of labelled images alone
    assert all(not p.grad.any() for p in nets.classifier.parameters())
    assert any(p.grad.any() for p in nets.encoder.parameters())
    nets.zero_grad()
    loss_of(nets, labelled=60).total.backward()
    assert any(p.grad.any() for p in nets.classifier.parameters())


def test_images_without_labels_teach_the_classifier_after_its_warm_up():
    nets = networks()
    method = M2(latent_dim=2, classification_weight=0, class_warmup_steps=5)
    for step, taught in ((4, False), (5, True)):
        nets.zero_grad(set_to_none=False)
        (turn,) = method.turns(nets, batch(), step)
        turn.loss.total.backward()
        assert any(p.grad is not None and p.grad.any() for p in nets.classifier.parameters()) == (
            taught
        )
        assert all(p.grad.any() for p in nets.decoder.parameters())
    with pytest.raises(ConfigError, match="class_warmup_steps must be 0 or more, found -1"):
        M2(class_warmup_steps=-1)


def test_bounds_are_weighed_by_the_share_of_labelled_images():
    loss = loss_of(networks(), labelled=15)
    terms = loss.terms
    expected = 0.75 * terms["unlabelled_bound"] + 0.25 * terms["labelled_bound"]
    expected = expected + 10 * terms["classification"]
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-5)


def test_the_code_is_probabilities_and_the_style_of_the_likeliest_class():
    nets = networks()
    codes = METHOD.encode(nets, IMAGES)
    code = METHOD.code(nets, summary())
    assert code.size == codes.shape[1] == 5
    q = nets.classifier(nets.encoder.features(IMAGES)).softmax(1)
    torch.testing.assert_close(codes[:, :3], q)
    likeliest = one_hot(q.argmax(1), 3).float()
    torch.testing.assert_close(codes[:, 3:], nets.encoder(IMAGES, likeliest).mean)
    assert code.roles == {"content": [0, 1, 2], "style": [3, 4]}
    assert [(unit.label, unit.kind, unit.factor) for unit in code.units] == [
        ("z0–z2", "category", "label"),
        ("z3", "number", ""),
        ("z4", "number", ""),
    ]


def test_codes_are_drawn_with_the_noise_of_the_style():
    nets = networks()
    torch.manual_seed(0)
    with torch.no_grad():
        codes, drawn = (
            METHOD.encode(nets, IMAGES),
            METHOD.draw_codes(nets, IMAGES.repeat(500, 1, 1, 1)),
        )
        y, style = METHOD.class_and_style(nets, IMAGES)
    drawn = drawn.view(500, 10, 5)
    assert torch.equal(drawn[0, :, :3], y)
    torch.testing.assert_close(drawn.mean(0), codes, atol=0.2, rtol=0)
    torch.testing.assert_close(drawn[:, :, 3:].std(0), style.std, atol=0.15, rtol=0)


def test_the_prior_of_classes_is_uniform_or_that_of_the_labels():
    images = (IMAGES[:, 0].numpy() * 255).astype("uint8")
    data = from_arrays(images, {"label": [0, 0, 0, 1, 2, 0, 0, 0, 1, 2]})
    for prior, expected in (("uniform", [1 / 3] * 3), ("labels", [7 / 13, 3 / 13, 3 / 13])):
        method = M2(latent_dim=2, labels=10, class_prior=prior)
        nets = networks(method=method)
        method.fit(nets, data, seed=0)
        torch.testing.assert_close(nets.classes.probabilities, torch.tensor(expected))
    torch.manual_seed(0)
    drawn = nets.classes.sample(20_000)
    torch.testing.assert_close(drawn.mean(0), torch.tensor(expected), atol=0.02, rtol=0)


def test_beta_weighs_the_style_of_labelled_and_unlabelled_images_but_not_the_elbo():
    nets = networks()
    heavier = M2(latent_dim=2, beta=Schedule(1, 3, 10))

    def at(step: int, method: M2):
        torch.manual_seed(1)
        (turn,) = method.turns(nets, batch(), step)
        return turn.loss.terms

    log_q, every = METHOD.every_class(nets, IMAGES)  # a KL in closed form does not depend on noise
    y = one_hot(CLASSES, 3).float()
    told = METHOD.bounds(nets, nets.encoder.features(IMAGES[:6]), IMAGES[:6], y)
    kl = {
        "unlabelled_bound": (log_q.exp() * every.kl).sum(1).mean().item(),
        "labelled_bound": told.kl.mean().item(),
    }
    for name, value in kl.items():
        assert value > 0.005
        once, thrice = at(0, heavier)[name].item(), at(10, heavier)[name].item()
        assert once == at(10, METHOD)[name].item()
        assert thrice - once == pytest.approx(2 * value, rel=0.01)
    figures = []
    for method in (METHOD, M2(latent_dim=2, beta=constant(9.0))):
        torch.manual_seed(1)
        figures.append(method.diagnose(nets, IMAGES))
    assert figures[0] == figures[1]
