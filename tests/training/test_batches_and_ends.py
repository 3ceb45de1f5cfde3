"""What a method may do around its moves: batches that change, what it remembers, how it ends.

Each is shown by a small method that is trained, stopped after every step and continued to the same
bits, and loaded back.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from small_methods import (
    QUIET,
    STEPS,
    Small,
    StopAfter,
    Twice,
    checkpoint,
    first_weights,
    let_be_read,
    same_files,
    settings,
    trained,
)
from torch import Tensor, nn

from unweave.batches import Batch, Supervision
from unweave.data import DataSummary, FactorImages
from unweave.errors import Stopped, UnweaveError
from unweave.files.tensor_files import read
from unweave.methods import Move, Player, Turn
from unweave.networks import (
    Architecture,
    Networks,
    batch_normalized,
    still_statistics,
)
from unweave.runs.folder import RunFolder
from unweave.runs.run import Run, load
from unweave.settings.optimizers import SGD, Adagrad, Adam, RMSProp
from unweave.tensors import Images
from unweave.training import loop


@pytest.fixture(autouse=True)
def methods_of_this_file(monkeypatch):
    """Let run folders that name a method of this file be read."""
    let_be_read(__name__, monkeypatch)


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
