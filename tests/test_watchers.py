"""What looks on while a run trains: progress, loggers, an early end."""

import io
import json
import re
import shutil
import sys
import time
from types import SimpleNamespace
from typing import ClassVar

import pytest
from rich.console import Console

import unweave as uw
from unweave.cli import _export, _report, main
from unweave.cli._parse import parse
from unweave.errors import ConfigError, Stopped
from unweave.process import ask_to_stop
from unweave.runs.config import Machine
from unweave.training import loop
from unweave.watchers import LOGGERS, Plateau, ProgressBar, logging_to

SMALL = uw.VAE(latent_dim=2)


def run_of(method=SMALL, steps=1000):
    return SimpleNamespace(config=SimpleNamespace(method=method, steps=steps, batch_size=64))


def shown(width=None, **how) -> tuple[io.StringIO, ProgressBar]:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=width is not None, **how)
    return stream, ProgressBar(console)


def test_a_terminal_has_one_line_with_the_time_left_from_the_first_step_on(monkeypatch):
    stream, bar = shown(width=80)
    bar.started(run_of(), 0)
    time.sleep(0.02)
    bar.stepped(1)
    bar.recorded(1, {"loss": 1.0, **{f"a_rather_long_term_{i}": 1234.5 for i in range(8)}})
    bar.progress.refresh()
    bar.stopped()
    text = stream.getvalue()
    assert "left" in text
    frames = text.split("\r")
    seen = [re.sub(r"\x1b\[[?\d;]*\w", "", frame).strip() for frame in frames]
    assert 40 < max(map(len, seen)) <= 80
    assert text.count("\n") == 1, "one line, ended when the run does"


def test_before_the_first_step_the_line_says_that_it_is_estimating():
    stream, bar = shown(width=100)
    bar.started(run_of(), 0)
    bar.progress.refresh()
    bar.stopped()
    assert "estimating" in stream.getvalue()


def test_without_a_terminal_the_time_is_told_in_the_first_seconds(monkeypatch):
    stream, bar = shown()
    bar.started(run_of(steps=10_000), 0)
    monkeypatch.setattr("unweave.watchers._progress.FIRST_WORD", 0.01)
    for step in range(1, 6):
        time.sleep(0.01)
        bar.stepped(step)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 1
    assert "steps will take about" in lines[0]


def test_what_is_fitted_at_once_counts_no_steps():
    stream, bar = shown()
    bar.started(run_of(uw.PCA(), steps=20_000), 20_000)
    bar.evaluated(None, 20_000, {})
    assert "20,000" not in stream.getvalue()
    assert "no steps to make" in stream.getvalue()


class Recording:
    """Stands in for a logger's package: notes what it is asked to do."""

    calls: ClassVar[list] = []

    def __getattr__(self, name):
        def call(*arguments, **named):
            self.calls.append((name, arguments, named))
            return SimpleNamespace(info=SimpleNamespace(run_id="m1"), id="w1", **LOGS)

        return call


LOGS = {
    "log": lambda values, step: Recording.calls.append(("log", (values,), {"step": step})),
    "finish": lambda: Recording.calls.append(("finish", (), {})),
}


@pytest.fixture
def recorded(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", Recording())
    monkeypatch.setitem(sys.modules, "wandb", Recording())
    Recording.calls.clear()
    return Recording.calls


def train(folder, toy, **how):
    return uw.train(
        SMALL, toy, steps=4, batch_size=4, out=folder, evaluate=False, progress=False, **how
    )


def test_mlflow_and_wandb_get_settings_terms_and_diagnostics_and_go_on(recorded, toy, tmp_path):
    machine = Machine(log="mlflow, wandb", evaluations=1, threads=1)
    train(tmp_path / "run", toy, machine=machine)
    made = [name for name, _, _ in recorded]
    assert made.count("start_run") == made.count("end_run") == made.count("init") == 1
    (params,) = [arguments[0] for name, arguments, _ in recorded if name == "log_params"]
    assert params["method.name"] == "vae"
    assert params["steps"] == 4
    for call in ("log_metrics", "log"):
        sent = [(a[0], n["step"]) for name, a, n in recorded if name == call]
        assert {"terms/kl", "diagnostics/elbo", "kl/z1"} <= {
            k for values, _ in sent for k in values
        }
        assert {step for _, step in sent} == {4}
    recorded.clear()
    uw.resume(tmp_path / "run", data=toy, steps=6, machine=machine, evaluate=False, progress=False)
    (begun,) = [named for name, _, named in recorded if name == "start_run"]
    assert begun == {"run_id": "m1"}
    (begun,) = [named for name, _, named in recorded if name == "init"]
    assert begun["id"] == "w1"
    assert "log_params" not in [name for name, _, _ in recorded]


@pytest.mark.parametrize("name", LOGGERS)
def test_a_logger_that_is_not_installed_is_refused_before_the_run(name, tmp_path, monkeypatch, toy):
    monkeypatch.setitem(sys.modules, "tensorboardX" if name == "tensorboard" else name, None)
    with pytest.raises(ConfigError, match=rf"pip install 'unweave\[{name}\]'"):
        train(tmp_path / "run", toy, machine=Machine(log=name))
    assert not (tmp_path / "run").exists()


def test_a_logger_that_is_not_known_gets_a_hint():
    with pytest.raises(ConfigError, match="Did you mean 'wandb'"):
        Machine(log="wanbd")
    assert Machine(log="mlflow,mlflow", tensorboard=True).loggers == ("mlflow", "tensorboard")
    assert logging_to("tensorboard").logger is None


class Rising(Plateau):
    """A plateau watcher that is told of heights of our choice."""

    heights: ClassVar[list[float]] = []

    def evaluated(self, run, step, diagnostics):
        value = self.heights.pop(0) if self.heights else 0.0
        super().evaluated(run, step, {"elbo": value})


def test_a_run_that_gets_no_better_ends_there_as_a_run_of_that_many_steps(
    toy, tmp_path, monkeypatch
):
    monkeypatch.setattr("unweave.workflows.training.Plateau", Rising)
    monkeypatch.setattr("unweave.workflows.training.Pictures", loop.Watcher)
    Rising.heights = [-100.0, -90.0, -89.99, -89.98, -50.0]
    machine = Machine(patience=2, evaluations=8, threads=1)
    how = {"steps": 16, "batch_size": 4, "evaluate": False, "progress": False}
    run = uw.train(SMALL, toy, out=tmp_path / "early", machine=machine, **how)
    assert run.step == run.config.steps == 8, "the fourth of eight evaluations"
    assert json.loads((tmp_path / "early" / "status.json").read_text())["state"] == "done"
    how["steps"] = 8
    same = uw.train(SMALL, toy, out=tmp_path / "same", machine=Machine(threads=1), **how)
    images = toy.images(range(4))
    assert (run.encode(images) == same.encode(images)).all(), "the bits of a run of 8 steps"


def test_a_run_that_rises_is_not_stopped_and_ctrl_c_still_stops_it(toy, tmp_path, monkeypatch):
    monkeypatch.setattr("unweave.workflows.training.Plateau", Rising)
    monkeypatch.setattr("unweave.workflows.training.Pictures", loop.Watcher)
    Rising.heights = [-100.0, -90.0, -80.0, -70.0]
    machine = Machine(patience=2, evaluations=4, threads=1)
    run = train(tmp_path / "a", toy, machine=machine)
    assert run.step == 4

    class Impatient(loop.Watcher):
        def stepped(self, step):
            ask_to_stop()

    Rising.heights = [-100.0, -90.0, -80.0, -70.0]
    monkeypatch.setattr("unweave.workflows.training.Pictures", Impatient)
    with pytest.raises(Stopped, match="stopped after step 1 of 4"):
        train(tmp_path / "b", toy, machine=machine)


def test_patience_needs_evaluations():
    with pytest.raises(ConfigError, match="needs more evaluations"):
        Machine(patience=10)
    with pytest.raises(ConfigError, match="patience must be 0 or more"):
        Machine(patience=-1)


def test_the_list_of_runs_says_where_they_are_now(tmp_path, tiny_run, capsys):
    shutil.copytree(tiny_run("vae").path, tmp_path / "killed")
    shutil.copytree(tiny_run("pca").path, tmp_path / "pca")
    steps = tiny_run("vae").config.steps
    gone = {"state": "running", "pid": 2**22 + 1, "step": 0, "steps": steps}
    (tmp_path / "killed" / "status.json").write_text(json.dumps(gone))
    assert main(["list", "runs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (killed,) = [line for line in lines if "killed" in line]
    assert "lost" in killed
    assert f"{steps} of {steps}" in killed, "by its record, not by its last checkpoint"
    (fitted,) = [line for line in lines if "pca " in line]
    assert "fitted" in fitted


@pytest.mark.parametrize("words", ["--seed 1 --seed 2", "--seed=1 --seed 2"])
def test_a_flag_given_twice_is_refused(words, capsys):
    assert main(["figures", "run", *words.split()]) == 2
    assert "--seed is given twice" in capsys.readouterr().err


def test_where_results_go_may_be_called_out_or_to():
    for flag in ("--out", "--to"):
        assert parse(_report.Flags, ["run", flag, "a.html"], "report", "").out == "a.html"
        assert parse(_export.Flags, ["run", f"{flag}=onnx"], "export", "").to == "onnx"
