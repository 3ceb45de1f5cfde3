"""The F-statistic loss against scipy's F distribution, and what it must not depend on."""

import itertools

import numpy as np
import pytest
import torch
from scipy.stats import f as f_distribution
from scipy.stats import f_oneway

from unweave.batches import FactorGroupBatch
from unweave.data import from_arrays
from unweave.errors import ConfigError
from unweave.methods.f_statistic import FStatistic, log_f_probability, variances_of_pairs
from unweave.networks.mlp64 import MLP64

METHOD = FStatistic(latent_dim=4, separating=2)


def codes(values: int = 3, size: int = 5, latents: int = 4, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(values, size, latents, generator=generator, dtype=torch.float64)
    return drawn + torch.arange(values)[:, None, None] * torch.linspace(0, 1, latents)


def log_p(of: torch.Tensor) -> torch.Tensor:
    return log_f_probability(*variances_of_pairs(of), of.shape[1])


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_the_probability_is_that_of_the_f_test(size):
    drawn = codes(size=size)
    found = log_p(drawn).exp().numpy()
    for line, (a, b) in enumerate(itertools.combinations(range(3), 2)):
        for latent in range(4):
            statistic = f_oneway(drawn[a, :, latent], drawn[b, :, latent]).statistic
            exact = f_distribution.cdf(statistic, 1, 2 * size - 2)
            assert found[line, latent] == pytest.approx(exact, abs=1e-10)


def test_with_two_images_each_it_is_the_root_of_the_share_between():
    between, within = variances_of_pairs(codes(size=2))
    exact = (between / (between + within)).sqrt()
    torch.testing.assert_close(log_f_probability(between, within, 2).exp(), exact)


def test_its_gradient_is_the_density_of_the_beta_distribution():
    x = torch.tensor([0.01, 0.3, 0.9], dtype=torch.float64, requires_grad=True)
    log_f_probability(x, 1 - x, 5).exp().sum().backward()
    from scipy.stats import beta

    np.testing.assert_allclose(x.grad, beta.pdf(x.detach(), 0.5, 4), rtol=1e-9)


def test_equal_classes_are_told_apart_by_nothing_and_give_finite_gradients():
    same = torch.randn(1, 5, 4).expand(3, -1, -1).clone().requires_grad_()
    loss = METHOD.loss(same)
    assert loss.terms["probability"] < 1e-4
    loss.total.backward()
    assert same.grad.isfinite().all()
    assert METHOD.loss(torch.zeros(3, 5, 4)).total.isfinite()


def test_classes_of_one_point_each_are_told_apart_for_sure():
    points = torch.arange(3.0)[:, None, None].expand(-1, 5, 4).clone().requires_grad_()
    loss = METHOD.loss(points)
    assert loss.total.item() == pytest.approx(0, abs=1e-6)
    loss.total.backward()
    assert points.grad.isfinite().all()


def test_the_loss_knows_no_scale_no_shift_and_no_order_of_values():
    drawn = codes()
    loss = METHOD.loss(drawn).total
    scale, shift = torch.tensor([2.0, 0.1, 30.0, 1.0]), torch.tensor([5.0, -1.0, 0.0, 2.0])
    torch.testing.assert_close(METHOD.loss(drawn * scale + shift).total, loss)
    torch.testing.assert_close(METHOD.loss(drawn[[2, 0, 1]]).total, loss)


def test_of_each_pair_only_the_dimensions_that_tell_it_apart_best_are_pushed():
    drawn = codes(values=2).requires_grad_()
    best = log_p(drawn.detach())[0].topk(2)
    loss = METHOD.loss(drawn)
    torch.testing.assert_close(loss.total.detach(), -best.values.mean())
    loss.total.backward()
    pushed = drawn.grad.abs().sum((0, 1)) > 0
    assert set(pushed.nonzero().flatten().tolist()) == set(best.indices.tolist())
    three = codes(values=3)
    every = -log_p(three).topk(2, dim=1).values.mean()
    torch.testing.assert_close(METHOD.loss(three).total, every)


def test_groups_of_a_batch_are_the_values_in_order():
    torch.manual_seed(0)
    method = FStatistic(latent_dim=3, group_size=2)
    nets = method.networks(MLP64(hidden=8), type("Summary", (), {"image_shape": (1, 8, 8)}))
    images = torch.rand(6, 1, 8, 8)
    groups = torch.arange(3).repeat_interleave(2)
    batch = FactorGroupBatch(images, 9, group_size=2, groups=groups, values=groups, factor=0)
    (turn,) = method.turns(nets, batch, 0)
    by_hand = torch.stack([method.encode(nets, images[i : i + 2]) for i in (0, 2, 4)])
    torch.testing.assert_close(turn.loss.total, method.loss(by_hand).total)


def test_factors_take_turns_by_default_and_a_label_alone_will_do(toy):
    assert FStatistic().settled(10, toy).factors == ("x", "y", "side")
    assert FStatistic(factors=("side",)).settled(10, toy).factors == ("side",)
    n = np.arange(40)
    images = np.zeros((40, 8, 8), np.uint8)
    alone = from_arrays(images, {"label": np.where(n % 3, n % 4, np.nan)})
    assert FStatistic().settled(10, alone).factors == ("label",)


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="between 1 and latent_dim, which is 3, found 4"):
        FStatistic(latent_dim=3, separating=4)
    with pytest.raises(ConfigError, match="group_size must be 2 or more, found 1"):
        FStatistic(group_size=1)


def test_one_value_alone_is_refused():
    method = FStatistic(latent_dim=3)
    one = FactorGroupBatch(
        torch.rand(5, 1, 8, 8),
        9,
        group_size=5,
        groups=torch.zeros(5),
        values=torch.zeros(5),
        factor=0,
    )
    with pytest.raises(ConfigError, match="batch_size must be 10 or more"):
        list(method.turns(None, one, 0))
