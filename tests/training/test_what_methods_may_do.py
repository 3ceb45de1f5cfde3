"""What a method may do in training beyond one loss: each shown by a small method.

Each is trained, stopped after every step and continued to the same bits, and loaded back.
"""

import inspect
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unweave.batches import Batch, Supervision
from unweave.data import DataSummary, FactorImages
from unweave.errors import Stopped, UnweaveError
from unweave.files.tensor_files import read
from unweave.methods import Loss, Method, Move, Player, Restart, Turn
from unweave.methods.semi_supervised import SemiSupervised
from unweave.networks import (
    Architecture,
    Networks,
    batch_normalized,
    plain_layers,
    still_statistics,
)
from unweave.networks.conv_any import ConvAny
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.runs.run import Run, load
from unweave.settings.optimizers import SGD, Adagrad, Adam, Optimizer, RMSProp
from unweave.tensors import Images, Latents
from unweave.training import loop

STEPS = 5
QUIET = Machine(evaluations=1, checkpoint_seconds=0.0)


@dataclass(frozen=True, kw_only=True)
class Small(Method):
    """A linear autoencoder; what is learnt beside it is what a test is about."""

    latent_dim: int = 2
    optimizer: Optimizer = SGD(0.1)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.encoder = architecture.encoder(data.image_shape, self.latent_dim)
        nets.decoder = architecture.decoder(self.latent_dim, data.image_shape)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {"autoencoder": Player(("encoder", "decoder"), self.optimizer)}

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        yield Turn("autoencoder", self.loss(nets, batch.images))

    def loss(self, nets: Networks, images: Images) -> Loss:
        return Loss((self.decode(nets, self.encode(nets, images)) - images).square().mean())

    def encode(self, nets: Networks, images: Images) -> Latents:
        codes: Latents = nets.encoder(images)
        return codes

    def decode(self, nets: Networks, codes: Latents) -> Images:
        return torch.sigmoid(nets.decoder(codes))


class Place(nn.Module):
    """A number that players move."""

    def __init__(self) -> None:
        super().__init__()
        self.at = nn.Parameter(torch.randn(()).double())


@pytest.fixture(autouse=True)
def methods_of_this_file(monkeypatch):
    """Let run folders that name a method of this file be read."""
    here = {
        name: kind for name, kind in vars(sys.modules[__name__]).items() if inspect.isclass(kind)
    }
    monkeypatch.setattr("unweave.catalog.name_of", lambda thing: type(thing).__name__)
    monkeypatch.setattr("unweave.runs.config.method_named", lambda name: here[name])
    monkeypatch.setattr("unweave.runs.config.architecture_named", lambda name: here[name])


def settings(method: Method, **changes) -> Train:
    values = {"data": "toy_xys", "steps": STEPS, "batch_size": 8, "architecture": MLP64(hidden=4)}
    return Train(method=method, **(values | changes))


class StopAfter(loop.Watcher):
    """Presses Ctrl-C after a step."""

    def __init__(self, step: int):
        self.step = step

    def stepped(self, step: int) -> None:
        if step == self.step:
            os.kill(os.getpid(), signal.SIGINT)


def trained(method: Method, toy: FactorImages, tmp_path: Path, **changes) -> Run:
    """Train; check that a stop after any step changes nothing, and that it loads back."""
    config = settings(method, **changes)
    whole = loop.start(config, toy, tmp_path / "whole", QUIET)
    for step in range(1, config.steps):
        folder = tmp_path / f"stopped-{step}"
        with pytest.raises(Stopped):
            loop.start(config, toy, folder, QUIET, [StopAfter(step)])
        loop.resume(folder, toy, QUIET)
        assert same_files(tmp_path / "whole", folder), f"stopped after step {step}"
    again, images = load(tmp_path / "whole"), toy.images(np.arange(3))
    for name, tensor in whole.nets.state_dict().items():
        assert torch.equal(tensor, again.nets.state_dict()[name]), name
    np.testing.assert_array_equal(whole.encode(images), again.encode(images))
    return whole


def same_files(one: Path, other: Path) -> bool:
    names = ("networks.safetensors", "checkpoint.safetensors", "record.jsonl")
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def checkpoint(run: Run) -> dict[str, Tensor]:
    return read(run.folder.checkpoint_file)[0]


def first_weights(method: Method, toy: FactorImages) -> Networks:
    return loop.make_networks(settings(method), toy)


@dataclass(frozen=True, kw_only=True)
class Twice(Small):
    """A player whose loss is half its square moves by a tenth of its place, twice a step."""

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.place = Place()
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return super().players | {"mover": Player(("place",), self.optimizer)}

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        yield Turn("mover", Loss(nets.place.at.square() / 2))
        yield from super().turns(nets, batch, step)
        yield Turn("mover", Loss(nets.place.at.square() / 2))


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


class Found(nn.Module):
    """What is found in trained networks."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("times", torch.zeros((), dtype=torch.int64))
        self.register_buffer("direction", torch.zeros(2))
        self.probe = nn.Linear(2, 1)


@dataclass(frozen=True, kw_only=True)
class Finishing(Small):
    """Finds a direction of the trained decoder, and fits a probe of the codes."""

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.found = Found()
        return nets

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Tensor]:
        return {"direction": nets.found.direction.sum()}

    def finish(self, nets: Networks, data: FactorImages, seed: int) -> None:
        assert not nets.training
        rows = np.random.default_rng(seed).integers(len(data), size=16)
        images = torch.from_numpy(data.images(rows))
        codes = self.encode(nets, images).detach()
        nets.found.times += 1
        nets.found.direction.copy_(codes.mean(0) + torch.randn(2))
        optimizer = torch.optim.SGD(nets.found.probe.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (nets.found.probe(codes) - images.mean((1, 2, 3))[:, None]).square().mean().backward()
            optimizer.step()


def test_a_method_may_finish_after_the_last_step(toy, tmp_path):
    run = trained(Finishing(), toy, tmp_path)
    assert run.nets.found.times == load(tmp_path / "whole").nets.found.times == 1
    assert run.nets.found.direction.abs().min() > 0
    fresh = first_weights(Finishing(), toy).found.probe.weight
    assert not torch.equal(run.nets.found.probe.weight, fresh)
    assert checkpoint(run)["networks.found.times"] == 0, "checkpoints are of before that"


@pytest.mark.parametrize("moment", ["while finishing", "before the networks are saved"])
def test_a_run_killed_at_its_end_finishes_once(moment, toy, tmp_path, monkeypatch):
    whole = loop.start(settings(Finishing()), toy, tmp_path / "whole", QUIET)
    kind, name = RunFolder, "save_networks"
    if moment == "while finishing":
        kind, name = Finishing, "finish"
    real, calls = getattr(kind, name), []

    def killed(self, *words) -> None:
        calls.append(words)
        if moment == "while finishing":
            real(self, *words)  # its traces are in memory only
        raise KeyboardInterrupt

    monkeypatch.setattr(kind, name, killed)
    with pytest.raises(Stopped, match="unweave resume"):
        loop.start(settings(Finishing()), toy, tmp_path / "killed", QUIET)
    assert len(calls) == 1
    monkeypatch.setattr(kind, name, real)
    resumed = loop.resume(tmp_path / "killed", toy, QUIET)
    assert same_files(tmp_path / "whole", tmp_path / "killed")
    assert resumed.nets.found.times == 1
    assert resumed.step == whole.step == STEPS
    figures = [line for line in resumed.folder.record() if line.get("kind") == "diagnostics"]
    assert len(figures) == 1


def test_a_finished_run_is_trained_further_as_if_it_had_not_finished(toy, tmp_path):
    loop.start(settings(Finishing()), toy, tmp_path / "halves", QUIET)
    resumed = loop.resume(tmp_path / "halves", toy, QUIET, steps=2 * STEPS)
    whole = loop.start(settings(Finishing(), steps=2 * STEPS), toy, tmp_path / "whole", QUIET)
    for name, tensor in whole.nets.state_dict().items():
        assert torch.equal(tensor, resumed.nets.state_dict()[name]), name
    assert resumed.nets.found.times == 1


def test_what_is_found_at_the_end_is_in_the_last_diagnostics(toy, tmp_path):
    run = loop.start(settings(Finishing()), toy, tmp_path / "run", QUIET)
    direction = run.nets.found.direction.sum().item()
    (figures,) = [line for line in run.folder.record() if line.get("kind") == "diagnostics"]
    assert figures["step"] == STEPS - 1
    assert figures["direction"] == pytest.approx(direction)


@pytest.mark.parametrize(
    "optimizer",
    [
        Adam(1e-2, eps=1e-3),
        Adam(1e-2, weight_decay=0.1, decay_biases=False),
        SGD(1e-2),
        SGD(1e-2, momentum=0.9, nesterov=True),
        RMSProp(1e-2, momentum=0.9, centered=True),
        Adagrad(1e-2, initial_sum=0.1),
    ],
)
def test_any_optimizer_goes_on_where_it_was(optimizer, toy, tmp_path):
    trained(Small(optimizer=optimizer), toy, tmp_path, steps=3)
    assert load(tmp_path / "whole").config.method.optimizer == optimizer


@dataclass(frozen=True, kw_only=True)
class Averaging(Small):
    """The encoder is shown by the running average of its weights."""

    half_life: float = 0.0

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.encoder = nn.Sequential(nets.encoder, nn.BatchNorm1d(self.latent_dim))
        return nets

    @property
    def players(self) -> dict[str, Player]:
        average = {"encoder": self.half_life} if self.half_life else {}
        owned = ("encoder", "decoder")
        return {"autoencoder": Player(owned, self.optimizer, average=average)}


class Weights(loop.Watcher):
    """Notes the weights of the encoder after each step."""

    def __init__(self) -> None:
        self.after: list[dict[str, Tensor]] = []

    def started(self, run: Run, first_step: int) -> None:
        self.run = run

    def stepped(self, step: int) -> None:
        weights = self.run.nets.encoder.state_dict()
        self.after.append({name: tensor.double() for name, tensor in weights.items()})


def test_codes_are_those_of_the_running_average_and_training_is_as_without(toy, tmp_path):
    watcher = Weights()
    plain = loop.start(settings(Averaging()), toy, tmp_path / "plain", QUIET, [watcher])
    run = trained(Averaging(half_life=16), toy, tmp_path)
    mean = {name: torch.zeros_like(tensor) for name, tensor in watcher.after[0].items()}
    for step, weights in enumerate(watcher.after):
        share = max(1 - 0.5 ** (8 / 16), 1 / (step + 1))  # 8 images a step count half after 16
        for name, tensor in weights.items():
            mean[name] += share * (tensor - mean[name])
    shown = run.nets.encoder.state_dict()
    for name in ("0.1.weight", "0.1.bias", "1.weight", "1.bias"):
        torch.testing.assert_close(shown[name].double(), mean[name], atol=1e-6, rtol=1e-5)
    for name in ("1.running_mean", "1.running_var", "1.num_batches_tracked"):
        assert torch.equal(shown[name], plain.nets.encoder.state_dict()[name])

    images = toy.images(np.arange(4))
    assert not np.allclose(run.encode(images), plain.encode(images), atol=1e-4)
    method = run.config.method
    by_hand = method.encode(run.nets.eval(), torch.from_numpy(images)).detach().numpy()
    np.testing.assert_allclose(run.encode(images), by_hand, atol=1e-6)

    before, with_average = checkpoint(plain), checkpoint(run)
    assert all(torch.equal(tensor, with_average[name]) for name, tensor in before.items())
    stored, _ = read(run.folder.networks_file)
    for name, tensor in plain.nets.state_dict().items():
        assert torch.equal(stored[name], tensor), "the weights as they were trained are kept too"
    assert {name for name in stored if name not in plain.nets.state_dict()} == {
        f"averages/encoder.{name}" for name in shown
    }


def test_an_unfinished_run_is_shown_by_its_running_average(toy, tmp_path):
    with pytest.raises(Stopped):
        loop.start(settings(Averaging(half_life=100)), toy, tmp_path / "run", QUIET, [StopAfter(3)])
    stored, _ = read(RunFolder(tmp_path / "run").checkpoint_file)
    shown = load(tmp_path / "run").nets.encoder.state_dict()
    trained_weight = stored["networks.encoder.0.1.weight"]
    assert torch.equal(shown["0.1.weight"], stored["averages/encoder.0.1.weight"])
    assert not torch.equal(shown["0.1.weight"], trained_weight)


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


@pytest.mark.parametrize("average", [{"decoder": 10.0}, {"place": 0.0}])
def test_an_average_of_what_a_player_does_not_own_is_refused(average, toy, tmp_path):
    class Wrong(Twice):
        @property
        def players(self) -> dict[str, Player]:
            players = super().players
            return players | {"mover": players["mover"]._replace(average=average)}

    with pytest.raises(UnweaveError, match=r"expected one of .* a number above 0"):
        loop.start(settings(Wrong()), toy, tmp_path / "run", QUIET)


class Controller(nn.Module):
    """Holds a number at a goal by the sum of its errors."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("integral", torch.zeros(()))


@dataclass(frozen=True, kw_only=True)
class Controlled(Small):
    """The size of codes is held to a goal by a weight that depends on the past."""

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.controller = Controller()
        return nets

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        size = self.encode(nets, batch.images).square().mean()
        nets.controller.integral += size.detach() - 0.5
        loss = self.loss(nets, batch.images)
        yield Turn("autoencoder", loss.plus(nets.controller.integral * size, size=size))


def test_what_a_controller_remembers_is_kept(toy, tmp_path):
    run = trained(Controlled(), toy, tmp_path)
    errors = [line["size"] - 0.5 for line in run.folder.record() if "player" in line]
    assert run.nets.controller.integral.item() == pytest.approx(sum(errors), abs=1e-5)
    assert checkpoint(run)["networks.controller.integral"] == run.nets.controller.integral
    from unweave import devices

    placed = devices.place(run.nets, torch.device("meta"))
    assert placed.controller.integral.device.type == "meta"


@dataclass(frozen=True)
class EasyFirst(Supervision):
    """The first images of the data first; later all of them."""

    reach: int = 10

    def at(self, step: int) -> "EasyFirst":
        return EasyFirst(10 * (step + 1))

    def draw(self, data: FactorImages, size: int, rng: np.random.Generator) -> Batch:
        rows = rng.integers(self.reach, size=size)
        return Batch(torch.from_numpy(data.images(rows)), population=self.reach)


@dataclass(frozen=True, kw_only=True)
class Curriculum(Small):
    """Learns from more and more images."""

    @property
    def supervision(self) -> Supervision:
        return EasyFirst()

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        seen = torch.tensor(float(batch.population))
        yield Turn("autoencoder", self.loss(nets, batch.images).plus(torch.zeros(()), seen=seen))


def test_batches_may_change_from_step_to_step(toy, tmp_path):
    run = trained(Curriculum(), toy, tmp_path)
    assert [line["seen"] for line in run.folder.record() if "seen" in line] == [10, 20, 30, 40, 50]


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


@dataclass(frozen=True, kw_only=True)
class TwoBranches(Small):
    """The decoder sees codes of images in training, and drawn codes without remembering them."""

    still: bool = True

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.decoder = batch_normalized(nets.decoder)
        return nets

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        loss = self.loss(nets, batch.images)
        if not self.still:
            yield Turn("autoencoder", loss)
            return
        with still_statistics(nets.decoder):
            drawn = self.decode(nets, 100 + torch.randn(8, self.latent_dim))
        yield Turn("autoencoder", loss.plus(0 * drawn.mean(), drawn=drawn.mean()))


def test_statistics_may_be_held_still_in_one_branch(toy, tmp_path):
    run = trained(TwoBranches(), toy, tmp_path, steps=3)
    plain = loop.start(settings(TwoBranches(still=False), steps=3), toy, tmp_path / "plain", QUIET)
    for name, tensor in plain.nets.state_dict().items():
        assert torch.equal(tensor, run.nets.state_dict()[name]), name
