"""CV-MIM: its two bounds on information on cases whose answer is known, and who learns what."""

import math

import numpy as np
import pytest
import torch

from unweave.batches import PairBatch
from unweave.data import DataSummary, from_arrays
from unweave.errors import ConfigError, DataError
from unweave.methods.cv_mim import CVMIM, Estimator, information, leak
from unweave.networks.mlp64 import MLP64
from unweave.probability.gaussian import DiagonalGaussian
from unweave.runs.config import Machine, Train
from unweave.training import loop

METHOD = CVMIM(latent_dim=3, width=8, discriminator_width=8)
SUMMARY = DataSummary((1, 8, 8), 12, {})
IMAGES = torch.rand(12, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def pairs(first=IMAGES[:6], second=IMAGES[6:]) -> PairBatch:
    return PairBatch(first, 12, partners=second, changed=None)


@pytest.fixture
def nets():
    torch.manual_seed(0)
    return METHOD.networks(MLP64(hidden=8), SUMMARY)


def losses(nets, batch=None, method=METHOD):
    torch.manual_seed(1)
    (together,) = method.turns(nets, pairs() if batch is None else batch, 0)
    return {turn.player: turn.loss for turn in together}


def test_codes_that_are_orthogonal_tell_nothing_and_equal_ones_at_most_2_log_2():
    nothing = torch.zeros(5, 3)
    assert information(nothing, nothing).item() == pytest.approx(0, abs=1e-6)
    # Own products to infinity, all others to minus infinity.
    corners = 100 * (3 * torch.eye(4) - 1)
    assert information(corners, corners).item() == pytest.approx(2 * math.log(2))
    # All alike: what is won with its own is lost twice over with others.
    alike = torch.full((5, 3), 3.0)
    assert information(alike, alike) < 0


def test_the_information_of_two_views_is_that_of_the_views_exchanged():
    one, two = torch.randn(2, 7, 4)
    torch.testing.assert_close(information(one, two), information(two, one))


def test_the_information_is_the_mean_over_pairs_that_belong_together_and_that_do_not():
    one, two = torch.randn(2, 5, 2, dtype=torch.float64)
    own, apart = [], []
    for i in range(5):
        for j in range(5):
            product = float(one[i] @ two[j])
            if i == j:
                own.append(math.log(2) - math.log1p(math.exp(-product)))
            else:
                apart.append(math.log1p(math.exp(product)) - math.log(2))
    expected = sum(own) / len(own) - sum(apart) / len(apart)
    assert information(one, two).item() == pytest.approx(expected)


def test_an_estimate_that_does_not_look_leaks_nothing():
    told = torch.randn(9, 2)
    constant = DiagonalGaussian(torch.full((9, 2), 0.7), torch.full((9, 2), -0.3))
    assert leak(constant, told).item() == pytest.approx(0, abs=1e-6)


def test_the_leak_is_the_mean_over_all_rows_of_the_other_code():
    told, mean, logvar = torch.randn(3, 6, 2, dtype=torch.float64)
    mean = told + 0.3 * mean  # a good estimate, so that nothing is cut off at 0
    q = DiagonalGaussian(mean, logvar)
    own = q.log_density(told).mean()
    every = torch.stack([q.log_density(row.expand(6, 2)).mean() for row in told]).mean()
    torch.testing.assert_close(leak(q, told), own - every)


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_of_gaussians_the_leak_is_known_and_above_their_information(rho):
    torch.manual_seed(0)
    given, noise = torch.randn(2, 200_000, 1, dtype=torch.float64)
    told = rho * given + math.sqrt(1 - rho**2) * noise
    logvar = torch.full_like(given, math.log(1 - rho**2))
    found = leak(DiagonalGaussian(rho * given, logvar), told).item()
    assert found == pytest.approx(rho**2 / (1 - rho**2), rel=0.03)
    assert found > -0.5 * math.log(1 - rho**2)


def test_no_estimate_is_ever_sure():
    torch.manual_seed(0)
    q = Estimator(3, 8)(1e3 * torch.randn(20, 3))
    assert q.logvar.abs().max() <= 1


def test_the_encoder_lowers_the_weighted_sum_of_its_terms(nets):
    method = CVMIM(
        latent_dim=3, width=8, view_weight=7, prior_weight=3, disentangling_weight=2,
        discriminator_width=8, information_weight=5,
    )  # fmt: skip
    found = losses(nets, method=method)["encoder"]
    t = found.terms
    leaks = t["view_told_by_pose"] + t["view_told_by_view"]
    wanted = -5 * t["information"] - 7 * t["shared_information"] + 3 * t["fooling"] + 2 * leaks
    torch.testing.assert_close(found.total, wanted)
    poses = METHOD.encode(nets, IMAGES)[:, :3]
    torch.testing.assert_close(t["shared_information"], information(poses[:6], poses[6:]))


def test_what_is_told_is_the_same_with_first_and_second_views_exchanged(nets):
    one = losses(nets)["encoder"].terms
    two = losses(nets, pairs(IMAGES[6:], IMAGES[:6]))["encoder"].terms
    for name in one:
        torch.testing.assert_close(one[name], two[name])


@pytest.mark.parametrize("player", ["estimators", "discriminator"])
def test_those_who_only_watch_never_reach_the_encoder(player, nets):
    losses(nets)[player].total.backward()
    assert all(p.grad is None for p in nets.encoder.parameters())
    owned = METHOD.players[player].owns
    for name in owned:
        assert any(p.grad is not None for p in getattr(nets, name).parameters())


def test_the_discriminator_is_held_to_a_gentle_slope(nets):
    gentle, steep = (
        losses(nets, method=CVMIM(latent_dim=3, width=8, slope_weight=w, discriminator_width=8))
        for w in (0.0, 1.0)
    )
    codes = METHOD.encode(nets, IMAGES).sigmoid().detach().requires_grad_()
    torch.manual_seed(1)
    real = torch.rand_like(codes).requires_grad_()
    squares = [
        torch.autograd.grad(nets.discriminator(at).sum(), at)[0].square().sum(1).mean()
        for at in (real, codes)
    ]
    extra = steep["discriminator"].total - gentle["discriminator"].total
    torch.testing.assert_close(extra, sum(squares) / 2)


def test_views_are_as_wide_as_the_prior(nets):
    views = METHOD.encode(nets, IMAGES)[:, 3:]
    expected = torch.full((3,), math.pi / math.sqrt(3))
    torch.testing.assert_close(views.std(0, correction=0), expected, atol=0.15, rtol=0)
    even = torch.rand(100_000, dtype=torch.float64).logit()
    assert even.std().item() == pytest.approx(math.pi / math.sqrt(3), rel=0.02)


def test_the_view_that_was_taken_is_written_down(toy):
    assert METHOD.settled(10, toy).view == ("x",)
    run_method = CVMIM(view=("side",)).settled(10, toy)
    assert run_method.view == ("side",)


def test_images_without_views_are_refused_with_lines_of_a_table(tmp_path, nets):
    data = from_arrays(np.zeros((9, 8, 8), dtype=np.uint8))
    config = Train(method=METHOD, data="arrays", steps=2)
    with pytest.raises(DataError, match=r"[^\n]*\n    file,pair\n    left.png,7"):
        loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    with pytest.raises(ConfigError, match="batch_size must be 4 or more"):
        list(METHOD.turns(nets, pairs(IMAGES[:1], IMAGES[1:2]), 0))
    with pytest.raises(ConfigError, match="width must be 1 or more, found 0"):
        CVMIM(width=0)
