"""Samples of priors; those of the first kind have no density that is needed.

The mixture and the Swiss roll are those of A. Makhzani et al., arXiv:1511.05644,
in the first two dimensions; any further ones are standard normal.
"""

import math
from typing import Literal

import torch

from unweave.code_prior import CodePrior
from unweave.errors import ConfigError
from unweave.tensors import Latents

Prior = Literal["gaussian", "mixture", "swiss_roll"]

PETALS = 10
PETAL_RADIUS, PETAL_LENGTH, PETAL_WIDTH = 1.0, 0.4, 0.1
ROLL_TURNS, ROLL_RADIUS, ROLL_NOISE = 2.0, 2.0, 0.05


def check_prior(prior: Prior, latent_dim: int) -> None:
    """Refuse a prior that needs more dimensions than there are."""
    if prior != "gaussian" and latent_dim < 2:
        raise ConfigError(f"prior {prior} needs a latent_dim of 2 or more, found {latent_dim}")


def sample_prior(
    prior: Prior, count: int, latent_dim: int, device: torch.device | str = "cpu"
) -> Latents:
    """Draw samples."""
    z = torch.randn(count, latent_dim, device=device)
    if prior == "mixture":
        z[:, :2] = _petals(z[:, :2])
    elif prior == "swiss_roll":
        z[:, :2] = _swiss_roll(z[:, :2])
    return z


def sample_code_prior(
    prior: CodePrior, count: int, latent_dim: int, device: torch.device | str = "cpu"
) -> Latents:
    """Draw samples of a prior with a density."""
    if prior.power == 2:
        return torch.randn(count, latent_dim, device=device)
    # |z|ⁿ / c has a gamma distribution of shape 1/n.
    shape = torch.full((count, latent_dim), 1 / prior.power, device=device)
    size = (prior.scale * torch.distributions.Gamma(shape, torch.ones_like(shape)).sample()) ** (
        1 / prior.power
    )
    return torch.where(torch.rand_like(size) < 0.5, -size, size)


def sample_one_hot(count: int, classes: int, device: torch.device | str = "cpu") -> Latents:
    """Draw classes, all equally likely, as rows with a single 1."""
    drawn = torch.randint(classes, (count,), device=device)
    return torch.nn.functional.one_hot(drawn, classes).float()


def _petals(noise: Latents) -> Latents:
    """Turn normal noise into Gaussians on a circle, each long along its radius."""
    petal = torch.randint(PETALS, (len(noise),), device=noise.device)
    angle = petal * (2 * math.pi / PETALS)
    along = PETAL_RADIUS + PETAL_LENGTH * noise[:, 0]
    across = PETAL_WIDTH * noise[:, 1]
    cos, sin = angle.cos(), angle.sin()
    return torch.stack([along * cos - across * sin, along * sin + across * cos], dim=1)


def _swiss_roll(noise: Latents) -> Latents:
    """Put points on a spiral whose radius grows with its angle, evenly along its length."""
    # The length of the spiral up to an angle grows with about the angle's square.
    share = torch.rand(len(noise), device=noise.device).sqrt()
    angle = share * (2 * math.pi * ROLL_TURNS)
    on_roll = torch.stack([angle.cos(), angle.sin()], dim=1) * (ROLL_RADIUS * share)[:, None]
    return on_roll + ROLL_NOISE * noise
