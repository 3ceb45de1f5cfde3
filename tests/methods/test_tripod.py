"""The three legs of Tripod, each on cases whose answer is known."""

import pytest
import torch
from torch import nn

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods.tripod import (
    Tripod,
    activations,
    hessian_ratio,
    nearest_value,
    shared_information,
)
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Train
from unweave.training import loop


def test_a_code_takes_one_of_few_values_and_keeps_it():
    codes = torch.linspace(-1, 1, 101, requires_grad=True)
    found = nearest_value(codes, 5)
    assert sorted(set(found.tolist())) == [-1, -0.5, 0, 0.5, 1]
    assert (found - codes).abs().max() <= 0.25 + 1e-6
    torch.testing.assert_close(nearest_value(found, 5), found)
    found.sum().backward()
    assert torch.equal(codes.grad, torch.ones(101)), "straight through"
    assert set(nearest_value(codes, 2).tolist()) == {-1.0, 1.0}


def test_the_encoder_learns_through_tanh_and_the_nearest_value():
    outputs = torch.tensor([[0.3, -1.2]], requires_grad=True)
    nearest_value(outputs.tanh(), 12).sum().backward()
    torch.testing.assert_close(outputs.grad, 1 - outputs.detach().tanh().square())


class Decoder(nn.Module):
    """A function in one piece."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, z):
        return self.function(z)


@pytest.mark.parametrize(
    ("function", "ratio"),
    [
        (lambda z: z[:, 0] ** 2 + z[:, 1] ** 4, 0.0),
        (lambda z: z[:, 0] * z[:, 1], 1.0),
        (lambda z: 100 * z[:, 0] * z[:, 1], 1.0),
        # H has 2 on its diagonal and 2 off it, of four entries in all: half is off.
        (lambda z: (z[:, 0] + z[:, 1]) ** 2, 0.5),
    ],
    ids=["added", "multiplied", "larger", "both"],
)
def test_the_ratio_is_the_share_of_the_hessian_off_its_diagonal(function, ratio):
    torch.manual_seed(0)
    z = torch.randn(4000, 2, dtype=torch.float64)
    found = hessian_ratio(Decoder(function), z, torch.full((2,), 0.1), 2)
    assert found.item() == pytest.approx(ratio, abs=0.05)


def test_steps_are_measured_in_deviations_of_each_latent():
    """Latents of other scale give the same ratio if steps are scaled with them."""
    scale = torch.tensor([10.0, 0.1], dtype=torch.float64)
    z = torch.randn(50, 2, dtype=torch.float64)

    def ratio(function, z, steps):
        torch.manual_seed(1)
        return hessian_ratio(Decoder(function), z, steps, 2)

    plain = ratio(lambda z: (z[:, 0] + z[:, 1]).sin(), z, torch.full((2,), 0.1))
    scaled = ratio(lambda z: (z / scale).sum(1).sin(), z * scale, 0.1 * scale)
    torch.testing.assert_close(scaled, plain)


def test_independent_codes_share_nothing_and_equal_ones_do():
    torch.manual_seed(0)
    one, two = torch.randn(2, 500, 1)
    apart = torch.cat([one, two], dim=1)
    alike = torch.cat([one, one], dim=1)
    assert abs(shared_information(apart, apart.std(0))) < 0.15
    assert shared_information(alike, alike.std(0)) > 0.8
    torch.testing.assert_close(
        shared_information(one, one.std(0)), torch.zeros(()), atol=1e-6, rtol=0
    )
    torch.testing.assert_close(
        shared_information(7 * alike, 7 * alike.std(0)), shared_information(alike, alike.std(0))
    )


def test_smaller_codes_share_no_less():
    """A kernel as wide as the codes leaves nothing to gain by shrinking them, nor to lose."""
    torch.manual_seed(0)
    z = torch.randn(60, 3, dtype=torch.float64) @ torch.randn(3, 3, dtype=torch.float64)
    z.requires_grad_()
    shared_information(z, z.std(0)).backward()
    assert z.grad.abs().max() > 1e-4
    assert (z.grad * z.detach()).sum().item() == pytest.approx(0, abs=1e-9)


def test_features_are_normalised_so_that_no_image_is_beyond_the_slope_of_tanh():
    method = Tripod(latent_dim=3, width=16)
    torch.manual_seed(0)
    nets = method.networks(MLP64(hidden=8), DataSummary((1, 4, 4), 9, {}))
    images = torch.rand(50, 1, 4, 4)
    for p in nets.encoder[0].parameters():
        p.data.mul_(1e3)
    assert nets.encoder(images).abs().max() < 5


def test_the_layers_are_the_hidden_ones_of_the_decoder_but_the_last():
    decoder = MLP64(hidden=8).decoder(3, (1, 4, 4))
    z = torch.randn(5, 3)
    found = activations(decoder, z)
    assert [a.shape for a in found] == [(5, 8)] * 2
    torch.testing.assert_close(found[0], decoder[:2](z))
    torch.testing.assert_close(found[1], decoder[:4](z))
    single = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))
    torch.testing.assert_close(activations(single, z), [single[:2](z)])
    linear = nn.Sequential(nn.Linear(3, 4))
    torch.testing.assert_close(activations(linear, z), [linear(z)])
    whole = Decoder(lambda z: z.sum(1))
    assert torch.equal(activations(whole, z)[0], z.sum(1))


def test_the_total_is_the_weighted_sum_of_its_terms(toy):
    method = Tripod(latent_dim=3, lambda_information=0.5, lambda_hessian=2)
    nets = loop.make_networks(Train(method=method, data="toy_xys"), toy)
    (turn,) = method.turns(nets, Batch(torch.from_numpy(toy.images(range(8))), len(toy)), 0)
    t = turn.loss.terms
    expected = t["reconstruction"] / 1024 + 0.5 * t["shared_information"] + 2 * t["hessian_ratio"]
    torch.testing.assert_close(turn.loss.total, expected)
    t["hessian_ratio"].backward()
    assert any(p.grad.abs().sum() > 0 for p in nets.decoder.parameters() if p.grad is not None)


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="values must be 2 or more, found 1"):
        Tripod(values=1)
    with pytest.raises(ConfigError, match="directions must be 2 or more, found 1"):
        Tripod(directions=1)
    with pytest.raises(ConfigError, match="width must be 1 or more, found 0"):
        Tripod(width=0)
    with pytest.raises(ConfigError, match="step must be above 0, found 0"):
        Tripod(step=0.0)
