"""MMD against its closed form, and Stein's direction by where it leads."""

import math

import pytest
import torch

from unweave.probability.divergence import (
    mmd_imq,
    mmd_rbf,
    squared_distances,
    stein_direction,
    stein_surrogate,
)


def expected_kernel(width: float, variances: float, gap: torch.Tensor) -> float:
    """E exp(−‖a − b‖²/width) for Gaussians whose variances sum to `variances`."""
    spread = width + 2 * variances
    return (width / spread) ** (len(gap) / 2) * math.exp(-gap.square().sum().item() / spread)


@pytest.mark.parametrize(("shift", "variance"), [(0.0, 1.0), (0.7, 1.0), (0.0, 0.25), (0.5, 2.0)])
@pytest.mark.parametrize("width", [None, 1.5])
def test_mmd_of_two_gaussians_is_its_closed_form(shift, variance, width):
    dims, draws = 3, 150
    generator = torch.Generator().manual_seed(0)
    mean = torch.full((dims,), shift)
    estimates = []
    for _ in range(draws):
        x, y = torch.randn(2, 200, dims, generator=generator)
        estimates.append(mmd_rbf(mean + variance**0.5 * x, y, width, unbiased=True))
    estimate = torch.stack(estimates)
    h, zero = width or dims, torch.zeros(dims)
    exact = (
        expected_kernel(h, 2.0, zero)
        + expected_kernel(h, 2 * variance, zero)
        - 2 * expected_kernel(h, 1 + variance, mean)
    )
    error = 4 * estimate.std().item() / draws**0.5
    assert error < 0.01
    assert estimate.mean().item() == pytest.approx(exact, abs=error)


@pytest.mark.parametrize("distance", [mmd_rbf, mmd_imq])
def test_a_sample_is_at_no_distance_from_itself_and_never_at_a_negative_one(distance):
    x = torch.randn(50, 4, generator=torch.Generator().manual_seed(1))
    assert distance(x, x).item() == pytest.approx(0, abs=1e-6)
    assert distance(x, x + 0.01) >= 0
    assert distance(x, x + 2) > 10 * distance(x, x + 0.2) > 0


def test_the_unbiased_estimate_of_a_sample_with_itself_is_slightly_negative():
    x = torch.randn(50, 4, generator=torch.Generator().manual_seed(1))
    mean_kernel = (-squared_distances(x, x) / 4).exp().mean().item()
    expected = -2 * (1 - mean_kernel) / 49
    assert mmd_rbf(x, x, unbiased=True).item() == pytest.approx(expected, rel=1e-4)


def test_the_unbiased_estimate_is_zero_on_average_for_equal_distributions():
    generator = torch.Generator().manual_seed(2)
    draws = [
        mmd_rbf(*torch.randn(2, 40, 3, generator=generator), unbiased=True) for _ in range(300)
    ]
    values = torch.stack(draws)
    assert abs(values.mean()) < 4 * values.std() / 300**0.5


def test_lowering_the_stein_surrogate_brings_particles_to_the_prior():
    generator = torch.Generator().manual_seed(3)
    z = (2 + 0.5 * torch.randn(200, 1, generator=generator)).requires_grad_()
    for _ in range(400):
        (gradient,) = torch.autograd.grad(stein_surrogate(z), z)
        with torch.no_grad():
            z -= 0.3 * len(z) * gradient
    assert z.mean().item() == pytest.approx(0, abs=0.1)
    assert z.std().item() == pytest.approx(1, abs=0.15)


def test_with_the_other_sign_particles_flee():
    generator = torch.Generator().manual_seed(3)
    z = 2 + 0.5 * torch.randn(200, 1, generator=generator)
    for _ in range(100):
        z = z - 0.3 * stein_direction(z)
    assert z.abs().max() > 10


def test_the_stein_direction_is_its_definition():
    z = torch.randn(7, 3, generator=torch.Generator().manual_seed(4)).double()
    squared = squared_distances(z, z)
    width = squared.median() / math.log(8)

    for i in range(7):
        total = torch.zeros(3, dtype=torch.double)
        for j in range(7):
            point = z[j].clone().requires_grad_()
            k = (-(point - z[i]).square().sum() / width).exp()
            (slope,) = torch.autograd.grad(k, point)
            total += k.detach() * -z[j] + slope
        torch.testing.assert_close(stein_direction(z)[i], total / 7)


def test_at_the_prior_the_stein_direction_averages_to_nothing():
    z = torch.randn(1000, 2, generator=torch.Generator().manual_seed(5))
    assert stein_direction(z).mean(0).abs().max() < 0.05
    assert stein_direction(z + 2).mean(0).max() < -0.15


def test_coincident_particles_have_finite_directions():
    assert torch.isfinite(stein_direction(torch.ones(5, 2))).all()
