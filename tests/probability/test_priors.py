"""Samples of the priors have the shapes that name them."""

import math

import pytest
import torch

from unweave.errors import ConfigError
from unweave.probability import priors


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def test_gaussian_is_standard():
    z = priors.sample_prior("gaussian", 20_000, 3)
    torch.testing.assert_close(z.mean(0), torch.zeros(3), atol=0.03, rtol=0)
    torch.testing.assert_close(z.T.cov(), torch.eye(3), atol=0.05, rtol=0)


def test_mixture_has_ten_petals_along_their_radii():
    z = priors.sample_prior("mixture", 20_000, 2)
    far = z[z.norm(dim=1) > 0.9]
    turns = torch.atan2(far[:, 1], far[:, 0]) / (2 * math.pi / priors.PETALS)
    off_axis = (turns - turns.round()).abs()
    assert off_axis.quantile(0.95) < 0.4, "the petals run into each other"
    counts = torch.bincount(turns.round().long() % priors.PETALS, minlength=priors.PETALS)
    assert counts.min() > 0.8 * counts.float().mean()
    # Seen from its own axis a petal is longer than it is wide.
    angle = turns.round() * (2 * math.pi / priors.PETALS)
    along = far[:, 0] * angle.cos() + far[:, 1] * angle.sin()
    across = far[:, 1] * angle.cos() - far[:, 0] * angle.sin()
    assert across.std().item() == pytest.approx(priors.PETAL_WIDTH, rel=0.1)
    assert along.std() > 2 * across.std()


def test_the_radius_of_the_swiss_roll_grows_with_its_angle():
    z = priors.sample_prior("swiss_roll", 20_000, 2)
    radius = z.norm(dim=1)
    outside = radius > 0.5
    # The angle that the radius says, and the angle that is seen, agree up to whole turns.
    said = radius / priors.ROLL_RADIUS * 2 * math.pi * priors.ROLL_TURNS
    gap = said - torch.atan2(z[:, 1], z[:, 0])
    off = torch.remainder(gap + math.pi, 2 * math.pi) - math.pi
    assert off[outside].abs().quantile(0.9) < 0.8
    assert radius.max().item() == pytest.approx(priors.ROLL_RADIUS, abs=0.3)


@pytest.mark.parametrize("prior", ["mixture", "swiss_roll"])
def test_further_dimensions_are_standard_normal(prior):
    z = priors.sample_prior(prior, 20_000, 4)
    torch.testing.assert_close(z[:, 2:].T.cov(), torch.eye(2), atol=0.05, rtol=0)
    assert z.T.cov()[:2, 2:].abs().max() < 0.05
    with pytest.raises(ConfigError, match="latent_dim of 2"):
        priors.check_prior(prior, 1)


def test_one_hot_rows_are_even():
    y = priors.sample_one_hot(10_000, 5)
    assert torch.equal(y.sum(1), torch.ones(10_000))
    assert torch.equal(y.amax(1), torch.ones(10_000))
    torch.testing.assert_close(y.mean(0), torch.full((5,), 0.2), atol=0.02, rtol=0)
