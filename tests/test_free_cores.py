"""How many cores are free, and how many threads a run then takes."""

import json

import pytest
import torch

from unweave import free_cores, workflows
from unweave.free_cores import fewer_threads_if_busy
from unweave.methods.vae import VAE
from unweave.networks.conv_any import ConvAny
from unweave.runs.config import Machine, Train

CPU = torch.device("cpu")


@pytest.fixture
def two_threads(monkeypatch):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    yield
    torch.set_num_threads(before)


def pretend(monkeypatch, tmp_path, texts: list[str], own: set[int]) -> None:
    """Let the kernel's statistics be these, one after the other."""
    waiting = list(texts)
    place = tmp_path / "stat"
    place.write_text(waiting[0], encoding="ascii")

    def wait(_: float) -> None:
        place.write_text(waiting[1], encoding="ascii")

    monkeypatch.setattr(free_cores, "STATISTICS", place)
    monkeypatch.setattr(free_cores.os, "sched_getaffinity", lambda _: own, raising=False)
    monkeypatch.setattr(free_cores.time, "sleep", wait)


BEFORE = """cpu  0 0 0 0 0 0 0 0 0 0
cpu0 100 0 10 500 5 0 0 0 0 0
cpu1 100 0 10 500 5 0 0 0 0 0
cpu2 100 0 10 500 5 0 0 0 0 0
intr 4 5 6
"""
AFTER = """cpu  0 0 0 0 0 0 0 0 0 0
cpu0 100 0 10 519 6 0 0 0 0 0
cpu1 110 2 12 503 5 1 1 1 0 0
cpu2 120 0 10 500 5 0 0 0 0 0
intr 4 5 6
"""


def test_cores_count_by_how_long_they_were_idle(monkeypatch, tmp_path):
    pretend(monkeypatch, tmp_path, [BEFORE, AFTER], own={0, 1, 2})
    # 20 ticks of 20, 3 of 20 and none of 20
    assert free_cores.free_cores() == pytest.approx(1 + 0.15 + 0)


def test_only_cores_that_the_process_may_use_count(monkeypatch, tmp_path):
    pretend(monkeypatch, tmp_path, [BEFORE, AFTER], own={0})
    assert free_cores.free_cores() == pytest.approx(1)


def test_a_clock_that_stands_still_and_a_system_without_one_tell_nothing(monkeypatch, tmp_path):
    pretend(monkeypatch, tmp_path, [BEFORE, BEFORE], own={0, 1})
    assert free_cores.free_cores() is None
    monkeypatch.setattr(free_cores, "STATISTICS", tmp_path / "none")
    assert free_cores.free_cores() is None


@pytest.mark.parametrize(
    ("free", "threads"), [(0.0, 1), (0.4, 1), (1.4, 1), (1.6, 2), (2.0, 2), (None, 2)]
)
def test_threads_are_as_many_as_cores_are_free(monkeypatch, two_threads, free, threads):
    monkeypatch.setattr(free_cores, "free_cores", lambda: free)
    with fewer_threads_if_busy(None, CPU) as said:
        assert torch.get_num_threads() == threads
        assert ("1 of 2 threads" in said) == (threads == 1)
    assert torch.get_num_threads() == 2


def test_whoever_asks_for_threads_gets_them(monkeypatch, two_threads):
    monkeypatch.setattr(free_cores, "free_cores", lambda: 0.0)
    with fewer_threads_if_busy(2, CPU) as said:
        assert (torch.get_num_threads(), said) == (2, "")
    with fewer_threads_if_busy(None, torch.device("cuda")) as said:
        assert (torch.get_num_threads(), said) == (2, "")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with fewer_threads_if_busy(None, CPU) as said:
        assert (torch.get_num_threads(), said) == (2, "")


def test_a_run_on_a_busy_machine_says_and_keeps_how_many_threads_it_takes(
    toy, tmp_path, monkeypatch, two_threads, capsys
):
    monkeypatch.setattr(free_cores, "free_cores", lambda: 0.2)
    config = Train(
        method=VAE(latent_dim=2),
        architecture=ConvAny(channels=(4,), hidden=8),
        data="toy_xys",
        steps=2,
        batch_size=8,
    )
    folder, machine = tmp_path / "run", Machine(evaluations=0)
    workflows.train_config(config, toy, folder, machine, evaluate=False)
    assert "1 of 2 threads, as other work keeps cores busy" in " ".join(
        "".join(capsys.readouterr()).split()
    )
    assert json.loads((folder / "machine.json").read_text())["threads"] == 1
    assert torch.get_num_threads() == 2, "the next run may find the machine idle"
    # Going on, it takes the threads it began with, however idle the machine is now.
    monkeypatch.setattr(free_cores, "free_cores", lambda: 2.0)
    workflows.resume(folder, data=toy, steps=4, machine=machine, evaluate=False)
    assert json.loads((folder / "machine.json").read_text())["threads"] == 1
