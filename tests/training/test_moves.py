"""Moves that a method may make in a step: each shown by a small method.

Each is trained, stopped after every step and continued to the same bits, and loaded back.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
import torch
from small_methods import (
    QUIET,
    STEPS,
    Place,
    Small,
    Twice,
    checkpoint,
    first_weights,
    let_be_read,
    settings,
    trained,
)
from torch import Tensor

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import UnweaveError
from unweave.methods import Loss, Method, Move, Player, Restart, Turn
from unweave.methods.semi_supervised import SemiSupervised
from unweave.networks import (
    Architecture,
    Networks,
    plain_layers,
)
from unweave.networks.conv_any import ConvAny
from unweave.settings.optimizers import SGD, Adagrad, Adam, Optimizer, RMSProp
from unweave.training import loop


@pytest.fixture(autouse=True)
def methods_of_this_file(monkeypatch):
    """Let run folders that name a method of this file be read."""
    let_be_read(__name__, monkeypatch)


def test_a_player_may_be_updated_several_times_in_a_step(toy, tmp_path):
    run = trained(Twice(), toy, tmp_path)
    start = first_weights(Twice(), toy).place.at
    assert run.nets.place.at.item() == pytest.approx(start.item() * 0.9 ** (2 * STEPS))
    players = [line["player"] for line in run.folder.record() if "player" in line]
    assert players == ["mover", "autoencoder", "mover"] * STEPS


@dataclass(frozen=True, kw_only=True)
class Bilinear(Twice):
    """The game of x·y, which one lowers and the other raises, on one graph."""

    order: str = "at once"

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.other = Place()
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return super().players | {"raiser": Player(("other",), self.optimizer)}

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        product = nets.place.at * nets.other.at
        lowers, raises = Turn("mover", Loss(product)), Turn("raiser", Loss(-product))
        if self.order == "at once":
            yield lowers, raises
        elif self.order == "in turn":
            yield lowers
            yield Turn("raiser", Loss(-nets.place.at * nets.other.at))
        elif self.order == "used up":
            yield lowers
            yield raises
        elif self.order == "outdated":
            raises = Turn("raiser", Loss(-(nets.place.at * nets.other.at)))
            yield lowers
            yield raises
        elif self.order == "blind":
            yield Turn("raiser", Loss(nets.place.at.square()))
        elif self.order == "constant":
            yield Turn("raiser", Loss(product.detach()))
        else:
            yield Restart("nobody") if self.order == "restart" else Turn("nobody", Loss(product))
        yield from Small.turns(self, nets, batch, step)


@pytest.mark.parametrize("order", ["at once", "in turn"])
def test_players_that_share_a_graph_move_at_once(order, toy, tmp_path):
    method = Bilinear(order=order)
    start = first_weights(method, toy)
    x, y = start.place.at.item(), start.other.at.item()
    for _ in range(STEPS):
        before = x
        x = x - 0.1 * y
        y = y + 0.1 * (before if order == "at once" else x)
    run = trained(method, toy, tmp_path)
    assert (run.nets.place.at.item(), run.nets.other.at.item()) == pytest.approx((x, y))
    players = [line["player"] for line in run.folder.record() if "player" in line]
    assert players == ["mover", "raiser", "autoencoder"] * STEPS


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("used up", "the loss of 'raiser' was computed before an update .* both turns at once"),
        ("outdated", "the loss of 'raiser' was computed before an update .* after that `yield`"),
        ("blind", "the loss of 'raiser' depends on no weight of its networks \\(other\\)"),
        ("constant", "the loss of 'raiser' depends on no weight"),
        ("turn", "'nobody', not a player"),
        ("restart", "'nobody', not a player"),
    ],
)
def test_a_loss_that_would_lower_nothing_or_something_else_is_refused(
    order, message, toy, tmp_path
):
    for optimizer in (SGD(0.1), Adam()):
        method = Bilinear(order=order, optimizer=optimizer)
        folder = tmp_path / type(optimizer).__name__
        with pytest.raises(UnweaveError, match=message) as caught:
            loop.start(settings(method), toy, folder, QUIET)
        assert "\n" not in str(caught.value)


@dataclass(frozen=True, kw_only=True)
class TwoOfOne(Twice):
    """Two players of one network, whose gradients are both those of the place before."""

    @property
    def players(self) -> dict[str, Player]:
        return super().players | {"second": Player(("place",), SGD(0.1, momentum=0.5))}

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        square = nets.place.at.square()
        yield Turn("mover", Loss(square / 2)), Turn("second", Loss(3 * square))
        yield from Small.turns(self, nets, batch, step)


def test_players_of_one_network_keep_their_gradients_apart(toy, tmp_path):
    place, momentum = first_weights(TwoOfOne(), toy).place.at.item(), 0.0
    for _ in range(STEPS):
        momentum = 0.5 * momentum + 6 * place
        place = place - 0.1 * place - 0.1 * momentum
    assert trained(TwoOfOne(), toy, tmp_path).nets.place.at.item() == pytest.approx(place)


@dataclass(frozen=True, kw_only=True)
class Restarting(Twice):
    """The mover starts afresh before step 3."""

    optimizer: Optimizer = Adam(0.01)

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        if step == 3:
            yield Restart("mover")
        yield Turn("mover", Loss(nets.place.at))
        yield from Small.turns(self, nets, batch, step)


@pytest.mark.parametrize("optimizer", [Adam(0.01), Adagrad(0.01), RMSProp(0.01, momentum=0.5)])
def test_a_player_may_start_afresh(optimizer, toy, tmp_path):
    """Its weights are new, and its optimizer has seen the steps since then only."""
    method = Restarting(optimizer=optimizer)
    run = trained(method, toy, tmp_path)
    unmoved = loop.start(
        settings(replace(method, optimizer=replace(optimizer, learning_rate=1e-30)), steps=4),
        toy,
        tmp_path / "unmoved",
        QUIET,
    )
    start, restarted = first_weights(method, toy).place.at, unmoved.nets.place.at
    assert start.item() != restarted.item()
    stored = checkpoint(run)
    assert stored["optimizers.mover.0.step"].item() == STEPS - 3
    assert stored["optimizers.autoencoder.0.step"].item() == STEPS
    moved = abs(run.nets.place.at - restarted).item()
    assert 0 < moved < 0.4, "the steps since then, not those before"
    other = loop.start(settings(method, seed=1), toy, tmp_path / "other", QUIET)
    assert abs(other.nets.place.at - run.nets.place.at).item() > 0.1, "drawn from the seed"


def test_a_restart_leaves_the_noise_of_the_step_as_it_is(toy, tmp_path):
    """Other players draw what they would have drawn."""

    def codes(method: Method, folder: str) -> Tensor:
        run = loop.start(settings(method), toy, tmp_path / folder, QUIET)
        return run.nets.encoder.state_dict()

    restarting, plain = codes(Restarting(), "restarting"), codes(NotRestarting(), "plain")
    assert all(torch.equal(restarting[name], plain[name]) for name in plain)


@dataclass(frozen=True, kw_only=True)
class NotRestarting(Restarting):
    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        for move in super().turns(nets, batch, step):
            if not isinstance(move, Restart):
                yield move


def test_an_average_of_a_network_that_starts_afresh_starts_afresh(toy, tmp_path):
    method = RestartingAverage(optimizer=SGD(1e-30))
    run = loop.start(settings(method, steps=4), toy, tmp_path / "run", QUIET)
    assert run.nets.place.at.item() == checkpoint(run)["networks.place.at"].item()
    assert run.nets.place.at.item() != first_weights(method, toy).place.at.item()


@dataclass(frozen=True, kw_only=True)
class RestartingAverage(Restarting):
    @property
    def players(self) -> dict[str, Player]:
        players = super().players
        return players | {"mover": players["mover"]._replace(average={"place": 1e9})}


@dataclass(frozen=True, kw_only=True)
class ManyMoves(Twice):
    """All kinds of moves in one step."""

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        yield Restart("mover")
        yield Turn("mover", Loss(nets.place.at)), Turn("autoencoder", self.loss(nets, batch.images))
        yield Turn("autoencoder", self.loss(nets, batch.images))


def test_labels_guide_the_first_turn_of_the_encoder_in_any_kind_of_move(toy, tmp_path):
    method = SemiSupervised(ManyMoves(latent_dim=3), labels=50)
    run = loop.start(settings(method, steps=2), toy, tmp_path / "run", QUIET)
    lines = [line for line in run.folder.record() if "player" in line]
    assert [line["player"] for line in lines] == ["mover", "autoencoder", "autoencoder"] * 2
    assert ["labels" in line for line in lines] == [False, True, False] * 2
    for line, other in ((lines[1], lines[2]), (lines[4], lines[5])):
        assert line["loss"] > 100 * other["loss"], "640 times the loss of the labels is in it"


@dataclass(frozen=True, kw_only=True)
class Penalised(Small):
    """Penalties on derivatives: of the encoder by two passes back, of the decoder by torch.func."""

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        images = batch.images.requires_grad_()
        codes = self.encode(nets, images)
        (slope,) = torch.autograd.grad(codes.sum(), images, create_graph=True)
        penalty = slope.square().flatten(1).sum(1).mean()
        direction = torch.randn_like(codes)
        _, along = torch.func.jvp(lambda z: self.decode(nets, z), (codes,), (direction,))
        stretch = along.square().flatten(1).sum(1).mean()
        loss = self.loss(nets, batch.images.detach())
        yield Turn(
            "autoencoder",
            loss.plus(penalty + 1e-3 * stretch, penalty=penalty, stretch=stretch),
        )


def test_losses_may_hold_derivatives_of_networks(toy, tmp_path):
    """Through kernels of our own, whose derivatives are those of the plain ones."""
    small = {"architecture": ConvAny(channels=(4,), hidden=16), "steps": 3}
    run = trained(Penalised(), toy, tmp_path, **small)
    with plain_layers():
        plain = loop.start(settings(Penalised(), **small), toy, tmp_path / "plain", QUIET)
    terms = [line for line in run.folder.record() if "player" in line]
    others = [line for line in plain.folder.record() if "player" in line]
    for line, other in zip(terms, others, strict=True):
        assert line["penalty"] > 0
        assert line["stretch"] > 0
        del line["player"], other["player"]
        assert line == pytest.approx(other, rel=1e-3)
