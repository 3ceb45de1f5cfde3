"""The values of the game at its known points."""

import math

import pytest
import torch

from unweave.probability.adversarial import discriminator_loss, fooling_loss


def test_at_the_equilibrium_the_losses_are_two_log_two_and_log_two():
    undecided = torch.zeros(8)
    assert discriminator_loss(undecided, undecided).item() == pytest.approx(2 * math.log(2))
    assert fooling_loss(undecided).item() == pytest.approx(math.log(2))


def test_the_losses_are_the_logarithms_of_probabilities():
    real, fake = torch.tensor([0.3, -1.0]), torch.tensor([0.8, 2.0])
    expected = -real.sigmoid().log().mean() - (1 - fake.sigmoid()).log().mean()
    assert discriminator_loss(real, fake).item() == pytest.approx(expected.item(), rel=1e-6)
    assert fooling_loss(fake).item() == pytest.approx(-fake.sigmoid().log().mean().item(), rel=1e-6)


def test_a_sure_discriminator_leaves_a_finite_loss_and_a_gradient():
    logit = torch.tensor([-200.0], requires_grad=True)
    fooling_loss(logit).backward()
    assert logit.grad.item() == pytest.approx(-1)
    assert discriminator_loss(torch.tensor([200.0]), torch.tensor([-200.0])).item() == 0
