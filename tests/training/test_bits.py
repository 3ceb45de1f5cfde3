"""What decides the last bits is kept with a run, and a run goes on with it."""

import json

import pytest
import torch

from unweave import devices
from unweave.errors import DataError
from unweave.methods.vae import VAE
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.training import loop
from unweave.training.bits import as_before

CONFIG = Train(
    method=VAE(latent_dim=2),
    data="toy_xys",
    steps=2,
    batch_size=8,
    architecture=MLP64(hidden=4),
)


class Listener(loop.Watcher):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warned(self, message: str) -> None:
        self.warnings.append(message)


@pytest.fixture(autouse=True)
def one_thread_afterwards():
    yield
    torch.set_num_threads(1)


@pytest.fixture
def folder(toy, tmp_path) -> RunFolder:
    """A run of two steps that had two threads."""
    loop.start(CONFIG, toy, tmp_path / "run", Machine(evaluations=0, threads=2))
    torch.set_num_threads(1)
    return RunFolder(tmp_path / "run")


def resume(folder: RunFolder, toy, steps: int, **machine) -> list[str]:
    listener = Listener()
    loop.resume(folder.path, toy, Machine(evaluations=0, **machine), [listener], steps=steps)
    return listener.warnings


def test_a_run_goes_on_with_its_threads_unless_told_otherwise(folder, toy):
    assert folder.machine()["threads"] == 2
    assert resume(folder, toy, 3) == []
    assert torch.get_num_threads() == 2
    (warning,) = resume(folder, toy, 4, threads=1)
    assert "was trained with threads 2 and goes on with threads 1" in warning
    assert "\n" not in warning
    assert torch.get_num_threads() == 1
    assert folder.machine()["threads"] == 1, "from now on these are its threads"
    assert resume(folder, toy, 5, threads=1) == []


def test_what_a_run_had_by_itself_is_kept_too(toy, tmp_path):
    torch.set_num_threads(2)
    loop.start(CONFIG, toy, tmp_path / "run", Machine(evaluations=0))
    torch.set_num_threads(1)
    folder = RunFolder(tmp_path / "run")
    assert folder.machine()["device"] == devices.choose_device("auto").type
    assert folder.machine()["torch"] == torch.__version__
    assert resume(folder, toy, 3) == []
    assert torch.get_num_threads() == 2


def test_other_versions_and_processors_are_told_in_one_line(folder, toy):
    facts = folder.machine() | {"torch": "1.0", "processor": "an abacus"}
    folder.write_machine(facts)
    (warning,) = resume(folder, toy, 3)
    assert "processor an abacus, torch 1.0 and goes on with" in warning
    assert "threads" not in warning
    assert folder.machine()["torch"] == torch.__version__


def test_a_device_that_is_gone_is_told_of(folder, toy, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    folder.write_machine(folder.machine() | {"device": "cuda"})
    (warning,) = resume(folder, toy, 3)
    assert "was trained with device cuda and goes on with device" in warning


def test_a_machine_is_as_before_where_nothing_else_is_said(monkeypatch):
    had = {"threads": 3, "device": "cpu", "compile": True}
    monkeypatch.setattr(devices, "can_compile", lambda device: True)
    assert as_before(Machine(), had) == Machine(threads=3, device="cpu", compile=True)
    assert as_before(Machine(threads=1), had).threads == 1
    monkeypatch.setattr(devices, "can_compile", lambda device: False)
    assert not as_before(Machine(), had).compile
    assert as_before(Machine(), {}) == Machine()
    for damaged in ({"threads": "many"}, {"threads": -1}, {"device": 5}, {"device": "abacus"}):
        assert as_before(Machine(), damaged) == Machine()


def test_runs_that_noted_nothing_go_on_as_they_did(folder, toy):
    folder.machine_file.unlink()
    assert folder.machine() == {}
    assert resume(folder, toy, 3) == []
    assert torch.get_num_threads() == 1


def test_a_damaged_note_is_named(folder, toy):
    folder.machine_file.write_text(json.dumps([1]))
    with pytest.raises(DataError, match=r"machine\.json: expected facts"):
        resume(folder, toy, 3)
