"""The covariance that DIP-VAE brings to the identity."""

import pytest
import torch

from unweave.probability.covariance import aggregate_covariance, covariance, identity_gap
from unweave.probability.gaussian import DiagonalGaussian


@pytest.fixture
def means():
    return torch.randn(64, 4, generator=torch.Generator().manual_seed(0)).double()


def with_covariance(means: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Return the rows changed linearly so that their covariance is the wanted one."""
    whitening = torch.linalg.inv(torch.linalg.cholesky(means.T.cov(correction=0)))
    return means @ whitening.T @ torch.linalg.cholesky(wanted).T


def test_covariance_is_the_definition_and_does_not_see_a_shift(means):
    expected = (means.T @ means) / 64 - means.mean(0)[:, None] * means.mean(0)
    torch.testing.assert_close(covariance(means), expected)
    torch.testing.assert_close(covariance(means + 5), expected)


def test_the_gap_is_zero_for_whitened_means(means):
    gap = identity_gap(covariance(with_covariance(means, torch.eye(4).double())))
    assert gap.off_diagonal.item() == pytest.approx(0, abs=1e-12)
    assert gap.diagonal.item() == pytest.approx(0, abs=1e-12)


def test_the_aggregate_gap_is_zero_where_means_and_variances_add_up_to_the_identity(means):
    share = torch.tensor([0.1, 0.4, 0.6, 0.9]).double()
    q = DiagonalGaussian(
        with_covariance(means, torch.eye(4).double() - share.diag()), share.log().expand(64, 4)
    )
    gap = identity_gap(aggregate_covariance(q))
    assert gap.off_diagonal.item() == pytest.approx(0, abs=1e-12)
    assert gap.diagonal.item() == pytest.approx(0, abs=1e-12)
    assert identity_gap(covariance(q.mean)).diagonal > 0.1


def test_without_variance_the_two_covariances_are_one(means):
    q = DiagonalGaussian(means, torch.full_like(means, -60))
    torch.testing.assert_close(aggregate_covariance(q), covariance(means))


def test_the_aggregate_covariance_is_that_of_samples():
    torch.manual_seed(1)
    q = DiagonalGaussian(torch.randn(50_000, 3), torch.randn(50_000, 3))
    torch.testing.assert_close(
        aggregate_covariance(q), q.sample().T.cov(correction=0), atol=0.06, rtol=0
    )


def test_every_ordered_pair_counts():
    matrix = torch.tensor([[3.0, 2.0], [2.0, 1.0]])
    assert identity_gap(matrix) == (8.0, 4.0)
