"""Updates that are clipped or left out, and what decays."""

import pytest
import torch

from unweave.errors import ConfigError
from unweave.methods import Loss, Player
from unweave.networks import Networks
from unweave.settings.optimizers import SGD, Adagrad, Adam, Optimizer, RMSProp
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


def path(optimizer: Optimizer, gradients: list[float]) -> list[float]:
    """Return where a weight is after each update, from 0."""
    nets = Networks()
    nets.line = torch.nn.Linear(1, 1, bias=False).double()
    torch.nn.init.zeros_(nets.line.weight)
    player = PlayerOptimizer(Player(("line",), optimizer), nets)
    places = []
    for step, gradient in enumerate(gradients):
        player.lower(Loss(gradient * nets.line.weight.sum()), step)
        places.append(nets.line.weight.item())
    return places


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        (SGD(0.1), [-0.2, -0.3]),
        (SGD(0.1, momentum=0.5), [-0.2, -0.4]),  # then 0.5·2 + 1
        (SGD(0.1, momentum=0.5, nesterov=True), [-0.3, -0.5]),  # 2 + 0.5·2, then 1 + 0.5·2
        (SGD(0.1, warmup_steps=2), [-0.1, -0.2]),
        (SGD(0.1, clip_value=1.0), [-0.1, -0.2]),
        (SGD(0.1, decay_steps=1), [-0.2, -0.2]),
        (RMSProp(0.1, smoothing=0.75), [-0.2, -0.2 - 0.1 / 1.0]),  # means 1, then 0.75 + 0.25
        (RMSProp(0.1, smoothing=0.75, momentum=0.5), [-0.2, -0.4]),
        (RMSProp(0.1, smoothing=0.75, eps=1.0), [-0.1, -0.15]),
        (Adagrad(0.1), [-0.1, -0.1 - 0.1 / 5**0.5]),  # sums 4, then 5
        (Adagrad(0.1, initial_sum=12.0), [-0.05, -0.05 - 0.1 / 17**0.5]),
        (Adam(0.1, eps=2.0), [-0.05, -0.05 - 0.1 * (0.28 / 0.19) / (2 + (4.996 / 1.999) ** 0.5)]),
    ],
)
def test_each_optimizer_takes_its_steps(optimizer, expected):
    """Along a gradient of 2, then of 1."""
    assert path(optimizer, [2.0, 1.0]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", [SGD, RMSProp, Adagrad])
def test_weight_decay_joins_the_gradient_except_in_adam(kind):
    nets = Networks()
    nets.line = torch.nn.Linear(1, 1)
    for parameter in nets.parameters():
        torch.nn.init.ones_(parameter)
    player = Player(("line",), kind(0.1, weight_decay=3.0, decay_biases=False))
    everything = sum(parameter.sum() for parameter in nets.parameters())
    PlayerOptimizer(player, nets).lower(Loss(everything), 0)
    expected = dict(zip(("weight", "bias"), (4.0, 1.0), strict=True))
    for name, gradient in expected.items():
        step = 1 + path(kind(0.1), [gradient])[0]
        assert getattr(nets.line, name).item() == pytest.approx(step, abs=1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: SGD(0.0),
        lambda: SGD(momentum=1.0),
        lambda: SGD(nesterov=True),
        lambda: RMSProp(smoothing=1.0),
        lambda: RMSProp(eps=0.0),
        lambda: Adagrad(initial_sum=-1.0),
        lambda: Adam(betas=(0.9, 1.0)),
        lambda: Adam(eps=-1.0),
    ],
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ConfigError):
        wrong()


def test_a_loss_of_before_an_update_is_not_differentiated_with_the_weights_after_it():
    """Fused kernels change weights behind the back of the graph."""
    for optimizer in (Adam(), SGD(), RMSProp(), Adagrad()):
        nets = Networks()
        nets.first, nets.second = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
        loss = nets.second(nets.first(torch.ones(1, 1))).sum()
        first, second = (
            PlayerOptimizer(Player((name,), optimizer), nets) for name in ("first", "second")
        )
        second.lower(Loss(nets.second(torch.ones(1, 1)).sum()), 0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            first.lower(Loss(loss), 0)
