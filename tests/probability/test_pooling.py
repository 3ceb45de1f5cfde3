"""One Gaussian for several: what each way of pooling keeps."""

import pytest
import torch

from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.pooling import pool

WAYS = ["product", "geometric", "arithmetic"]


def some(groups=3, members=4, latents=5) -> DiagonalGaussian:
    torch.manual_seed(0)
    shape = (groups, members, latents)
    return DiagonalGaussian(torch.randn(shape), torch.randn(shape))


@pytest.mark.parametrize("how", WAYS)
def test_one_member_alone_stays(how):
    q = some(members=1)
    pooled = pool(q, how)
    torch.testing.assert_close(pooled.mean, q.mean[:, 0])
    torch.testing.assert_close(pooled.logvar, q.logvar[:, 0])


@pytest.mark.parametrize(("how", "share"), [("product", 0.5), ("geometric", 1), ("arithmetic", 1)])
def test_of_two_equals_only_the_product_is_narrower(how, share):
    one = some(members=1)
    q = DiagonalGaussian(one.mean.repeat(1, 2, 1), one.logvar.repeat(1, 2, 1))
    pooled = pool(q, how)
    torch.testing.assert_close(pooled.mean, one.mean[:, 0])
    torch.testing.assert_close(pooled.variance, share * one.variance[:, 0])


@pytest.mark.parametrize("how", WAYS)
def test_the_order_of_members_does_not_matter(how):
    q = some()
    turned = DiagonalGaussian(q.mean.flip(1), q.logvar.flip(1))
    torch.testing.assert_close(pool(q, how).mean, pool(turned, how).mean)
    torch.testing.assert_close(pool(q, how).logvar, pool(turned, how).logvar)


def test_products_can_be_taken_in_parts():
    q = some(members=4)
    halves = [
        pool(DiagonalGaussian(q.mean[:, part], q.logvar[:, part]), "product")
        for part in (slice(0, 1), slice(1, 4))
    ]
    again = DiagonalGaussian(
        torch.stack([h.mean for h in halves], 1), torch.stack([h.logvar for h in halves], 1)
    )
    torch.testing.assert_close(pool(again, "product").mean, pool(q, "product").mean)
    torch.testing.assert_close(pool(again, "product").logvar, pool(q, "product").logvar)


def test_the_product_of_densities_is_proportional_to_the_pooled_density():
    q = some(groups=1, members=3, latents=2)
    z = torch.randn(1, 6, 1, 2)
    members = DiagonalGaussian(q.mean[:, None], q.logvar[:, None]).log_density(z).sum(2)
    pooled = pool(q, "product")
    gap = members - DiagonalGaussian(pooled.mean[:, None], pooled.logvar[:, None]).log_density(
        z[:, :, 0]
    )
    torch.testing.assert_close(gap, gap[:, :1].expand_as(gap), rtol=1e-4, atol=1e-4)


def test_the_average_is_of_variances_not_of_deviations():
    q = DiagonalGaussian(torch.zeros(1, 2, 1), torch.tensor([[[1.0], [9.0]]]).log())
    assert pool(q, "arithmetic").variance.item() == pytest.approx(5.0)


def test_extreme_variances_stay_finite():
    q = DiagonalGaussian(torch.ones(1, 2, 1), torch.tensor([[[-20.0], [10.0]]]))
    for how in WAYS:
        pooled = pool(q, how)
        assert torch.isfinite(pooled.mean).all()
        assert torch.isfinite(pooled.logvar).all()
