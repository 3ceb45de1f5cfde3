"""Updates that are clipped or left out, and what decays."""

import pytest
import torch

from unweave.errors import ConfigError
from unweave.methods import Loss, Player
from unweave.networks import Networks
from unweave.settings.optimizers import Adam
from unweave.training.loop import PlayerOptimizer


def lowered(slope: float, **settings) -> tuple[torch.Tensor, Loss]:
    """Return how far one update moved two weights, and its loss."""
    nets = Networks()
    nets.line = torch.nn.Linear(2, 1, bias=False)
    before = nets.line.weight.detach().clone()
    loss = Loss(slope * nets.line.weight.sum())
    PlayerOptimizer(Player(("line",), Adam(0.1, **settings)), nets).lower(loss, 0)
    return nets.line.weight.detach() - before, loss


def test_an_update_with_too_large_a_gradient_is_left_out_and_told():
    moved, loss = lowered(10.0, skip_norm=14.0)  # the norm is 10·√2
    assert torch.equal(moved, torch.zeros(1, 2))
    assert loss.terms["skipped"] == 1
    moved, loss = lowered(10.0, skip_norm=15.0)
    torch.testing.assert_close(moved, torch.full((1, 2), -0.1))
    assert "skipped" not in loss.terms
    moved, loss = lowered(float("nan"), skip_norm=15.0)
    assert torch.equal(moved, torch.zeros(1, 2))


def test_a_gradient_is_scaled_down_to_the_largest_norm():
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.tensor([3.0, 4.0])
    assert Adam(clip_norm=1.0).tame([weight])
    torch.testing.assert_close(weight.grad, torch.tensor([0.6, 0.8]))
    weight.grad = torch.tensor([3.0, 4.0])
    assert Adam().tame([weight])
    assert torch.equal(weight.grad, torch.tensor([3.0, 4.0]))


def test_norms_below_0_are_refused():
    with pytest.raises(ConfigError, match="clip_norm and skip_norm"):
        Adam(clip_norm=-1.0)


def test_a_gradient_is_cut_entry_by_entry():
    weight = torch.nn.Parameter(torch.zeros(3))
    for limit, expected in ((1.0, [1.0, -1.0, 0.5]), (0.0, [9.0, -2.0, 0.5])):
        weight.grad = torch.tensor([9.0, -2.0, 0.5])
        assert Adam(clip_value=limit).tame([weight])
        assert weight.grad.tolist() == expected


def stepped(gradient: float, **settings) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weight and bias of a layer of ones after one update of both by one gradient."""
    nets = Networks()
    nets.still, nets.line = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    for parameter in nets.parameters():
        torch.nn.init.ones_(parameter)
    player = Player(("still", "line"), Adam(0.1, **settings), {"still": 0.0})
    everything = sum(parameter.sum() for parameter in nets.parameters())
    PlayerOptimizer(player, nets).lower(Loss(gradient * everything), 0)
    assert nets.still.weight.item() == nets.still.bias.item() == 1  # each part has its speed
    return nets.line.weight.detach(), nets.line.bias.detach()


def test_weights_decay_apart_from_the_gradient():
    for gradient, moved in ((0.0, 0.0), (7.0, 0.1)):
        weight, bias = stepped(gradient, weight_decay=0.5)
        assert weight.item() == bias.item() == pytest.approx(1 - 0.1 * 0.5 - moved)


def test_biases_need_not_decay():
    weight, bias = stepped(0.0, weight_decay=0.5, decay_biases=False)
    assert weight.item() == pytest.approx(1 - 0.1 * 0.5)
    assert bias.item() == 1


@pytest.mark.parametrize("wrong", ["weight_decay", "clip_value"])
def test_decay_and_limits_below_0_are_refused(wrong):
    with pytest.raises(ConfigError, match="weight_decay and clip_value"):
        Adam(**{wrong: -1.0})
