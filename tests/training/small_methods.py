"""Small methods that tests give something to do, and how they are trained, stopped and loaded."""

import inspect
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unweave.batches import Batch
from unweave.data import DataSummary, FactorImages
from unweave.errors import Stopped
from unweave.files.tensor_files import read
from unweave.methods import Loss, Method, Move, Player, Turn
from unweave.networks import (
    Architecture,
    Networks,
)
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run, load
from unweave.settings.optimizers import SGD, Optimizer
from unweave.tensors import Images, Latents
from unweave.training import loop

STEPS = 5
QUIET = Machine(evaluations=1, checkpoint_seconds=0.0)


def let_be_read(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let run folders be read that name a method of a module of tests."""
    known = vars(sys.modules[__name__]) | vars(sys.modules[module])
    here = {name: kind for name, kind in known.items() if inspect.isclass(kind)}
    monkeypatch.setattr("unweave.catalog.name_of", lambda thing: type(thing).__name__)
    monkeypatch.setattr("unweave.runs.config.method_named", lambda name: here[name])
    monkeypatch.setattr("unweave.runs.config.architecture_named", lambda name: here[name])


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
