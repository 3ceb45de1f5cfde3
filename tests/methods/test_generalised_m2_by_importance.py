"""Generalised M2 by importance: bounds and likelihoods against quadrature."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from small_dependencies import IMAGES, made, one_hot, told

from unweave.batches import Batch, LabelledBatch
from unweave.methods._draws import (
    Lines,
    evidence_bounds,
    importance_bounds,
    log_likelihoods,
)


def quadrature(nets, image, label=None):
    """Return log p(x) or log p(x, b), z on a line and classes of b summed over."""
    grid = torch.linspace(-8, 8, 4001)[:, None]
    log_z = -0.5 * grid[:, 0].square() - 0.5 * math.log(2 * math.pi) + math.log(16 / 4000)
    found = []
    for b in range(2) if label is None else [label]:
        shown = {"z": grid, "b": one_hot(torch.full((4001,), b), 2)}
        output = nets.decoder(torch.cat([shown[n] for n in nets.made.among.shown], dim=1))
        errors = torch.nn.functional.binary_cross_entropy_with_logits(
            output, image.expand_as(output), reduction="none"
        )
        found.append((log_z - errors.flatten(1).sum(1) - math.log(2)).logsumexp(0))
    return torch.stack(found).logsumexp(0)


def on_a_line(**settings):
    """Return a model of one latent whose likelihood depends on it, so that q is no posterior."""
    method, nets = made("q(z[1]|image) q(b|image,z)", **settings)
    for p in nets.decoder.parameters():
        p.data.mul_(3)
    return method, nets


@pytest.mark.parametrize("label", [None, 0, 1])
def test_likelihoods_by_importance_rise_with_the_draws_to_the_exact_one(label):
    method, nets = on_a_line()
    image = IMAGES[:1]
    told = {} if label is None else {"b": one_hot(torch.tensor([label]), 2)}
    torch.manual_seed(5)
    with torch.no_grad():
        exact = float(quadrature(nets, image, label))
        lines = method.lines(nets, image, told, draws=64_000)
        means, deviations = [], []
        for draws in (1, 4, 16, 64):
            # Independent estimates: the draws of one walk, parted.
            parted = Lines(*(table.view(-1, draws, table.shape[2]) for table in lines))
            estimates = log_likelihoods(parted)
            means.append(float(estimates.mean()))
            deviations.append(float(estimates.std()) / len(estimates) ** 0.5)
        whole = float(log_likelihoods(lines))
    for fewer, more, noise in zip(means, means[1:], deviations, strict=False):
        assert more > fewer - 3 * noise
    assert means[0] < exact - 0.2, "else more draws would have nothing to gain"
    assert means[-1] - means[0] > 0.2
    assert all(mean < exact + 3 * noise for mean, noise in zip(means, deviations, strict=True))
    assert whole == pytest.approx(exact, abs=0.02)


def test_of_a_class_that_is_drawn_the_likelihood_is_as_exact():
    method, nets = on_a_line(enumerated=1)
    torch.manual_seed(5)
    with torch.no_grad():
        lines = method.lines(nets, IMAGES[:1], {}, draws=64_000, relaxed=False)
        assert lines.log_told.shape == (1, 64_000, 1)
        found, exact = log_likelihoods(lines), quadrature(nets, IMAGES[:1])
    torch.testing.assert_close(found[0], exact, rtol=0, atol=0.03)


def test_one_draw_by_importance_is_the_evidence_bound():
    """In the mean: what is in closed form there is of the draw here."""
    method, nets = made("q(z|image) q(b|image,z)")
    for told_labels in ({}, told()):
        torch.manual_seed(2)
        with torch.no_grad():
            lines = method.lines(nets, IMAGES, told_labels, draws=20_000)
            parted = Lines(*(t.view(-1, 1, t.shape[2]) for t in lines))
            importance, evidence = importance_bounds(parted), evidence_bounds(parted)
        for name in ("total", "divergence"):
            by_image = (
                (getattr(importance, name) - getattr(evidence, name)).view(6, -1)
                if name == "total"
                else (importance.divergence - evidence.divergence + evidence.log_told).view(6, -1)
            )
            noise = by_image.std(1) / 20_000**0.5
            assert (by_image.mean(1).abs() < 4 * noise + 1e-3).all(), name
        torch.testing.assert_close(importance.reconstruction, evidence.reconstruction)
        torch.testing.assert_close(importance.draws, torch.ones(120_000))


def test_the_bound_by_importance_is_above_the_evidence_and_below_the_likelihood():
    method, nets = on_a_line()
    torch.manual_seed(2)
    with torch.no_grad():
        lines = method.lines(nets, IMAGES, {}, draws=4000)
        evidence, importance = evidence_bounds(lines), importance_bounds(lines)
        exact = log_likelihoods(lines)
    assert (-importance.total > -evidence.total).all()
    assert (evidence.total - importance.total).mean() > 0.2
    # Classes are held to q, which does not know the likelihood: a gap remains.
    assert (-importance.total < exact).all()
    assert (importance.draws < evidence.draws).all()


def test_labels_foreseen_by_importance_are_the_log_of_the_mean():
    method, nets = made("q(z|image) q(b|image,z)", bound="importance")
    torch.manual_seed(2)
    found = method.bounds(nets, IMAGES, told(), draws=8)
    torch.manual_seed(2)
    lines = method.lines(nets, IMAGES, told(), draws=8)
    torch.testing.assert_close(found.log_told, lines.log_told[:, :, 0].exp().mean(1).log())
    assert (found.log_told > evidence_bounds(lines).log_told).all(), "Jensen"


def test_by_importance_images_without_labels_are_drawn_as_often_and_teach_their_class():
    method, nets = made("q(z|image) q(b|image,z)", bound="importance", draws=5)
    shown = []
    nets.decoder.register_forward_pre_hook(lambda _, given: shown.append(len(given[0])))
    labels = torch.tensor([[0.0], [1.0]])
    batch = LabelledBatch(
        IMAGES[:2], 50, labels=labels, labelled=20, unlabelled=Batch(IMAGES[2:], 50)
    )
    (turn,) = method.turns(nets, batch, 0)
    assert shown == [4 * 5 * 2, 2 * 5], "images, draws, and classes where none is told"
    assert 1 <= float(turn.loss.terms["effective_draws"]) < 5
    turn.loss.terms["unlabelled_bound"].backward()
    index = nets.made.among.names.index("b")
    assert nets.recognised.layers[index][-1].weight.grad.abs().sum() > 0


def test_diagnostics_say_what_more_draws_gain():
    method, nets = on_a_line()
    torch.manual_seed(2)
    with torch.no_grad():
        one, many = (
            np.mean([each.diagnose(nets, IMAGES)["importance_gain"] for _ in range(times)])
            for each, times in ((replace(method, draws=1), 200), (replace(method, draws=4000), 1))
        )
        exact = torch.stack([quadrature(nets, image[None]) for image in IMAGES]).mean()
        lines = method.lines(nets, IMAGES, {}, draws=4000)
        elbo = -float(evidence_bounds(lines).total.mean())
    assert many == pytest.approx(float(exact) - elbo, abs=0.05)
    assert one < many - 0.1


@pytest.mark.parametrize("enumerated", [20, 1])
def test_classes_by_draws_are_those_of_the_exact_posterior(enumerated):
    """Whether classes are summed over or drawn themselves."""
    method, nets = on_a_line(named_by="draws", draws=20_000, enumerated=enumerated)
    with torch.no_grad():
        chances = method.class_chances(nets, IMAGES[:2])["b"]
        exact = torch.stack(
            [
                torch.stack([quadrature(nets, image[None], label) for label in range(2)]).softmax(0)
                for image in IMAGES[:2]
            ]
        )
        recognised = replace(method, named_by="recognition").encode(nets, IMAGES[:2])
    assert torch.allclose(chances, exact, atol=0.02)
    of_class = nets.made.among.names.index("b")
    start = sum(v.size for v in nets.made.among.variables[:of_class])
    assert not torch.allclose(recognised[:, start : start + 2], exact, atol=0.1), "proves nothing"


def test_the_class_of_an_image_by_draws_does_not_depend_on_the_others_or_on_luck():
    method, nets = on_a_line(named_by="draws")
    with torch.no_grad():
        together = method.encode(nets, IMAGES[:4])
        torch.manual_seed(99)
        alone = torch.cat([method.encode(nets, image[None]) for image in IMAGES[:4]])
    assert torch.allclose(together, alone, atol=1e-5)
