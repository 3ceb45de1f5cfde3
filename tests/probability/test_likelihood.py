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


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian", "laplace"])
def test_the_average_is_that_of_the_images_one_by_one(likelihood):
    output, images = torch.randn(5, 2, 3, 3), torch.rand(5, 2, 3, 3)
    each = negative_log_likelihoods(likelihood, output, images, 0.3)
    assert each.shape == (5,)
    average = negative_log_likelihood(likelihood, output, images, 0.3)
    torch.testing.assert_close(each.mean(), average)
