"""What InfoGAN-CR's pairs share, what its third player does, and when it begins afresh."""

import copy
import dataclasses
import math

import pytest
import torch

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods import Restart, Turn
from unweave.methods.info_gan import InfoGAN
from unweave.methods.info_gan_cr import InfoGANCR
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.settings.schedules import Schedule
from unweave.training import loop
from unweave.training.game import Game

SMALL = {"latent_dim": 3, "noise_dim": 2, "discriminator_width": 8}
METHOD = InfoGANCR(**SMALL, contrast_weight="0:2:0:4")
NETWORK = MLP64(hidden=16)
SUMMARY = DataSummary((1, 32, 32), 16, {})


def networks(method, seed=0):
    torch.manual_seed(seed)
    return method.networks(NETWORK, SUMMARY)


@pytest.mark.parametrize("gap", [0.0, 0.5, 1.9])
def test_pairs_share_one_code_and_the_noise_and_differ_by_the_gap(gap):
    method = InfoGANCR(**SMALL, categories=(4,))
    torch.manual_seed(0)
    pairs = method.pairs(networks(method), 2000, gap)
    names, values = zip(
        *(side.split([4, 3], dim=1) for side in (pairs.first, pairs.second)), strict=True
    )
    assert torch.equal(*names)
    assert all(value.abs().max() <= 1 for value in values)
    apart = (values[0] - values[1]).abs()
    shared = torch.nn.functional.one_hot(pairs.shared, 3).bool()
    assert (apart[shared] == 0).all()
    assert (apart[~shared] >= gap - 1e-6).all()
    assert (apart[~shared] > 0).all()
    assert set(pairs.shared.tolist()) == {0, 1, 2}
    noise = []
    nets = networks(method)
    nets.generator.register_forward_hook(lambda _, inputs, __: noise.append(inputs[0][:, :2]))
    method.render_pairs(nets, pairs)
    assert torch.equal(*noise[0].chunk(2))


def test_the_loss_is_that_of_guessing_if_the_player_cannot_tell_and_0_for_one_code():
    for codes, expected in ((3, math.log(3)), (1, 0.0)):
        method = InfoGANCR(**SMALL | {"latent_dim": codes})
        nets = networks(method)
        torch.nn.init.zeros_(nets.contrast[-1].weight)
        torch.nn.init.zeros_(nets.contrast[-1].bias)
        pairs = method.pairs(nets, 8, 0.0)
        told = method.telling(nets, *method.render_pairs(nets, pairs), pairs)
        assert told.total.item() == pytest.approx(expected, abs=1e-6)


def played(method, toy, steps):
    """Return the networks after some steps."""
    config = Train(
        method=method, data="toy_xys", architecture=NETWORK, steps=steps, batch_size=8, seed=3
    )
    nets = loop.make_networks(config, toy)
    game = Game(config, toy.summary, nets)
    for step in range(steps):
        for move in loop.moves_of_step(config, nets, toy, torch.device("cpu"), step):
            game.play(move, step)
    return nets


def test_without_its_regulariser_all_other_players_are_infogans_to_the_bit(toy):
    same = {field.name for field in dataclasses.fields(InfoGAN)}
    method = InfoGANCR(**SMALL, contrast_weight=0)
    twin = InfoGAN(**{name: value for name, value in vars(method).items() if name in same})
    assert twin.generator_updates == 2
    torch.manual_seed(0)
    ours, infogans = played(method, toy, 3), played(twin, toy, 3)
    # The third network is made last, so that the others begin with the same weights.
    for name, tensor in infogans.state_dict().items():
        assert torch.equal(tensor, ours.state_dict()[name]), name


def test_with_its_regulariser_the_generator_hears_of_it(toy):
    with_it = played(InfoGANCR(**SMALL, contrast_weight=2), toy, 2)
    without = played(InfoGANCR(**SMALL, contrast_weight=0), toy, 2)
    assert not torch.equal(with_it.generator[0].weight, without.generator[0].weight)


def test_the_third_player_begins_afresh_where_weight_or_gap_change():
    method = InfoGANCR(**SMALL, contrast_weight="0:2:0:4", gap="1.9:0:0:6")
    nets = networks(method)
    batch = Batch(torch.rand(8, 1, 32, 32), 100)
    restarted, order = [], []
    for step in range(8):
        torch.manual_seed(step)
        moves = list(method.turns(nets, batch, step))
        restarted += [step for move in moves if move == Restart("contrast")]
        order = [move.player for move in moves if isinstance(move, Turn)]
        pairs_in_loss = ["contrast" in move.loss.terms for move in moves if isinstance(move, Turn)]
        assert any(pairs_in_loss) == (step >= 4)
    assert restarted == [4, 6]
    assert order == ["contrast", "discriminator", "generator", "generator"]


def test_after_the_change_it_has_other_weights_and_an_optimizer_that_knows_nothing(toy):
    config = Train(
        method=METHOD, data="toy_xys", architecture=NETWORK, steps=6, batch_size=8, seed=0
    )
    nets = loop.make_networks(config, toy)
    game = Game(config, toy.summary, nets)
    restarts = []
    for step in range(5):
        for move in loop.moves_of_step(config, nets, toy, torch.device("cpu"), step):
            before = copy.deepcopy(nets.contrast.state_dict())
            game.play(move, step)
            if isinstance(move, Restart):
                after, optimizer = nets.contrast.state_dict(), game.optimizers["contrast"].optimizer
                moved = [not torch.equal(before[name], after[name]) for name in before]
                restarts.append((step, all(moved), len(optimizer.state)))
    assert restarts == [(4, True, 0)]


def test_while_its_weight_is_0_pairs_leave_the_generators_statistics_alone():
    nets = networks(METHOD)
    before = copy.deepcopy(nets.generator.state_dict())
    torch.manual_seed(0)
    first = next(METHOD.turns(nets, Batch(torch.rand(8, 1, 32, 32), 100), 0))
    assert first.player == "contrast"
    assert all(torch.equal(before[name], t) for name, t in nets.generator.state_dict().items())
    moves = METHOD.turns(nets, Batch(torch.rand(8, 1, 32, 32), 100), 5)
    assert next(moves).player == "contrast"
    assert any(not torch.equal(before[n], t) for n, t in nets.generator.state_dict().items())


def test_the_weight_is_late_if_nothing_is_said(toy):
    assert InfoGANCR().settled(1000, toy).contrast_weight == Schedule(0, 2, 0, 890)
    given = InfoGANCR(contrast_weight=1).settled(1000, toy)
    assert given.contrast_weight == Schedule(1, 1)


def test_ramps_and_gaps_wider_than_codes_are_refused():
    with pytest.raises(ConfigError, match="contrast_weight may change at one step only"):
        InfoGANCR(contrast_weight="0:2:100")
    with pytest.raises(ConfigError, match="gap must lie in"):
        InfoGANCR(gap=2)


def test_a_run_stopped_before_the_change_goes_on_to_the_same_bits(toy, tmp_path):
    config = Train(
        method=METHOD, data="toy_xys", architecture=NETWORK, steps=6, batch_size=8, seed=0
    )
    quiet = Machine(evaluations=1, threads=1)
    whole = loop.start(config, toy, tmp_path / "whole", quiet)
    for steps in (3, 5):  # before the change, and after it
        folder = tmp_path / str(steps)
        loop.start(dataclasses.replace(config, steps=steps), toy, folder, quiet)
        resumed = loop.resume(folder, toy, quiet, steps=6)
        for name, tensor in whole.nets.state_dict().items():
            assert torch.equal(tensor, resumed.nets.state_dict()[name]), name
    assert {"contrast", "shared_code_accuracy"} <= set(whole.terms(toy.images(range(8))))
