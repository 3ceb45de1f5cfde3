"""Likelihoods against torch's own, with the field's reduction."""

import pytest
import torch
from torch.distributions import Bernoulli, Laplace, Normal

from unweave.probability.likelihood import negative_log_likelihood, negative_log_likelihoods


@pytest.fixture
def case():
    torch.manual_seed(0)
    return torch.randn(4, 3, 5, 5), torch.rand(4, 3, 5, 5)


def summed(log_density: torch.Tensor) -> torch.Tensor:
    return -log_density.flatten(1).sum(1).mean()


def test_bernoulli_on_black_and_white_images(case):
    output, images = case
    images = images.round()
    expected = summed(Bernoulli(logits=output).log_prob(images))
    torch.testing.assert_close(negative_log_likelihood("bernoulli", output, images, 0.1), expected)


def test_bernoulli_of_grey_images_is_least_at_the_image_and_not_zero(case):
    _, images = case
    entropy = summed(-Bernoulli(probs=images).entropy())
    best = negative_log_likelihood("bernoulli", images.logit(), images, 0.1)
    torch.testing.assert_close(best, entropy)
    assert best > 0


@pytest.mark.parametrize(("name", "kind"), [("gaussian", Normal), ("laplace", Laplace)])
@pytest.mark.parametrize("scale", [0.05, 1.0])
def test_the_others_are_densities_around_the_sigmoid(case, name, kind, scale):
    output, images = case
    expected = summed(kind(torch.sigmoid(output), scale).log_prob(images))
    torch.testing.assert_close(negative_log_likelihood(name, output, images, scale), expected)


def test_calibrated_is_the_gaussian_that_fits_best(case):
    output, images = case
    best = negative_log_likelihood("calibrated", output, images, 0.1)
    deviation = (images - torch.sigmoid(output)).square().mean().sqrt()
    expected = summed(Normal(torch.sigmoid(output), deviation).log_prob(images))
    torch.testing.assert_close(best, expected)
    for scale in (0.9 * float(deviation), 1.1 * float(deviation)):
        assert negative_log_likelihood("gaussian", output, images, scale) > best


def test_calibrated_has_the_gradient_of_a_learnt_deviation(case):
    output, images = case
    log_scale = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([log_scale], lr=1e-3)
    error = images - torch.sigmoid(output)
    for _ in range(2000):  # learn the deviation, the output held still
        loss = summed(Normal(torch.sigmoid(output), log_scale.exp()).log_prob(images))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert float(log_scale.detach().exp()) == pytest.approx(
        float(error.square().mean().sqrt()), rel=1e-3
    )
    gradients = []
    for likelihood, scale in (("calibrated", 0.1), ("gaussian", float(log_scale.detach().exp()))):
        leaf = output.clone().requires_grad_()
        negative_log_likelihood(likelihood, leaf, images, scale).backward()
        gradients.append(leaf.grad)
    torch.testing.assert_close(*gradients, rtol=1e-2, atol=1e-4)


def test_calibrated_stays_finite_where_nothing_is_left_to_learn(case):
    _, images = case
    images = images.clamp(0.01, 0.99)
    assert torch.isfinite(negative_log_likelihood("calibrated", images.logit(), images, 0.1))


def test_what_is_undecided_is_bernoulli(case):
    output, images = case
    for function in (negative_log_likelihood, negative_log_likelihoods):
        same = function("bernoulli", output, images, 0.1)
        assert torch.equal(function("auto", output, images, 0.1), same)


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian", "laplace", "calibrated"])
def test_the_average_is_that_of_the_images_one_by_one(likelihood):
    output, images = torch.randn(5, 2, 3, 3), torch.rand(5, 2, 3, 3)
    each = negative_log_likelihoods(likelihood, output, images, 0.3)
    assert each.shape == (5,)
    average = negative_log_likelihood(likelihood, output, images, 0.3)
    torch.testing.assert_close(each.mean(), average)
