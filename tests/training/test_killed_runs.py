"""What kill -9 leaves in a run folder at the worst moments, and what is made of it."""

import errno
import json
import os
import shutil
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from unweave.cli import main
from unweave.errors import ConfigError, DataError
from unweave.methods.vae import VAE
from unweave.networks.conv_any import ConvAny
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.studies import Study, expand, ledger_of
from unweave.studies.run.driver import job_of
from unweave.studies.run.job import run_job
from unweave.training import checkpoint, loop

QUIET = Machine(evaluations=0, checkpoint_seconds=0.0)
CONFIG = Train(
    method=VAE(latent_dim=3),
    data="toy_xys",
    architecture=ConvAny(channels=(8, 8, 8), hidden=16),
    steps=4,
    batch_size=8,
)


def killed_at(name: str, work: Callable[[], object], times: int = 1) -> None:
    """Do something in a process that is killed just before it renames a file to `name`."""
    child = os.fork()
    if child == 0:
        rename, seen = os.replace, []

        def replace(source, target):
            seen.append(Path(target).name)
            if seen.count(name) == times:
                os.kill(os.getpid(), signal.SIGKILL)
            rename(source, target)

        os.replace = replace
        try:
            work()
        finally:
            os._exit(1)
    _, ended = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(ended) == -signal.SIGKILL


def unfinished(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.unfinished"))


@pytest.fixture(params=["as it is now", "as it was left before"])
def killed_start(request, toy, tmp_path) -> Path:
    """A run folder whose start was killed in the write of config.json."""
    folder = tmp_path / "runs" / "run"
    if request.param == "as it is now":
        killed_at("config.json", lambda: loop.start(CONFIG, toy, folder, QUIET))
    else:
        (folder / "figures").mkdir(parents=True)
        (folder / ".config.json.4711.unfinished").write_text("{")
    assert len(unfinished(folder)) == 1
    assert not (folder / "config.json").exists()
    return folder


def test_a_start_killed_as_it_wrote_its_settings_is_begun_again(killed_start, toy, capsys):
    assert main(["resume", str(killed_start)]) == 2
    assert "begin it again with `unweave train`" in capsys.readouterr().err
    assert loop.start(CONFIG, toy, killed_start, QUIET).step == 4
    assert unfinished(killed_start) == []


def test_a_study_begins_such_a_run_again_also_after_it_had_failed(killed_start, toy):
    """What `study run`, and `--retry-failed` once the failure is forgotten, do in a worker."""
    study = Study(
        name="killed",
        data="toy_xys",
        methods=[{"name": "vae", "settings": {"latent_dim": 3}}],
        seeds=1,
        settings={"architecture": {"name": "conv_any", "channels": [8, 8, 8], "hidden": 16}},
        metrics=["mig"],
        preset="fast",
        budget={"steps": 2, "batch_size": 8, "evaluations": 1},
    )
    plan = expand(study)
    root = killed_start.parent
    (run,) = plan.runs
    ledger = ledger_of(plan, root)
    ledger.open()
    killed_start.rename(ledger.run_path(run.run_id))
    job = job_of(plan, run, root, Machine(threads=1))
    ledger.write_failure(run.run_id, "exists and is not empty", "ConfigError")
    assert run_job(job, toy) == "failed"
    ledger.forget_failure(run.run_id)
    assert run_job(job, toy) == "done"
    assert unfinished(root) == []


def test_a_folder_of_the_users_is_still_refused(toy, tmp_path):
    for name in (".hidden", "figures/mine.png", "notes.txt", "plugins/mine.py"):
        folder = tmp_path / name.replace("/", "-")
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("mine")
        with pytest.raises(ConfigError, match="not empty"):
            loop.start(CONFIG, toy, folder, QUIET)
        assert (folder / name).read_text() == "mine"
        assert not (folder / ".lock").exists()


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("checkpoint.next.safetensors", ".checkpoint.next.safetensors.*.unfinished"),
        ("checkpoint.safetensors", "checkpoint.next.safetensors"),
    ],
)
def test_half_a_checkpoint_is_cleared_and_the_run_ends_with_the_same_bits(
    name, left, toy, tmp_path
):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    loop.start(CONFIG, toy, whole, QUIET)
    killed_at(name, lambda: loop.start(CONFIG, toy, killed, QUIET), times=3)
    assert len(list(killed.glob(left))) == 1
    loop.resume(killed, toy, QUIET)
    assert list(killed.glob(left)) == []
    assert unfinished(killed) == []
    for file in ("networks.safetensors", "record.jsonl"):
        assert (whole / file).read_bytes() == (killed / file).read_bytes()


@pytest.fixture
def stopped(tiny_run, tmp_path) -> RunFolder:
    """A run at step 3 of 3 whose process was killed before it said so."""
    folder = RunFolder(shutil.copytree(tiny_run("beta_vae").path, tmp_path / "run"))
    folder.set_status("running", step=3, steps=3)
    return folder


def content(folder: RunFolder) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.path.iterdir() if p.is_file()}


def test_a_resume_that_is_refused_has_changed_nothing(stopped, toy, capsys):
    before = content(stopped)
    with stopped.locked(), pytest.raises(ConfigError, match="being trained by another"):
        loop.resume(stopped.path, toy, steps=7)
    assert content(stopped) == before
    assert main(["resume", str(stopped.path), "--steps", "2"]) == 2
    assert "is at step 3 already, beyond 2" in capsys.readouterr().err
    assert content(stopped) == before
    assert loop.resume(stopped.path, toy).step == 3, "a plain one goes on as if nobody had asked"


def test_other_steps_are_kept_once_nothing_stands_against_them(stopped, toy):
    assert loop.resume(stopped.path, toy, QUIET, steps=5).step == 5
    assert stopped.read_config()[0].steps == 5


def test_a_run_trained_further_without_evaluation_shows_no_score_of_before(stopped, capsys):
    entry = {"value": 0.123456, "higher_is_better": True, "details": {}, "protocol": "as is"}
    stopped.add_scores({"mig": entry}, step=3)
    stopped.add_scores({"sap": entry | {"value": 0.654321}}, step=5)
    assert main(["resume", str(stopped.path), "--steps", "5", "--no-evaluation"]) == 0
    told = capsys.readouterr().out
    assert "0.1235" not in told
    assert "0.6543" in told
    assert f"not scored at step 5: mig; unweave evaluate {stopped.path}" in told


def test_a_checkpoint_is_on_disk_before_its_name_is_and_its_name_before_training_goes_on(
    stopped, toy, monkeypatch
):
    """Write, flush, rename, flush the folder: the order that survives a power loss."""
    calls = []
    flush, rename = os.fsync, os.replace

    def note_flush(handle):
        calls.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        flush(handle)

    def note_rename(source, target):
        calls.append(Path(target).name)
        rename(source, target)

    config, summary = stopped.read_config()
    game = loop.Game(config, summary, loop.make_networks(config, toy))
    monkeypatch.setattr(os, "fsync", note_flush)
    monkeypatch.setattr(os, "replace", note_rename)
    checkpoint.save(stopped, 3, game)
    assert calls == [
        *("file", "checkpoint.next.safetensors", "folder"),
        *("checkpoint.previous.safetensors", "checkpoint.safetensors", "folder"),
    ]


def test_the_record_is_replaced_whole_when_a_run_goes_on(stopped, toy, monkeypatch):
    """Lines after the checkpoint are dropped, but never the others with them."""
    line = json.dumps({"step": 99, "player": "autoencoder", "loss": 1.0}) + "\n"
    with open(stopped.record_file, "a") as file:
        file.write(line)
    before, rename = stopped.record_file.read_bytes(), os.replace

    def full(source, target):
        if Path(target).name == "record.jsonl":
            raise OSError(errno.ENOSPC, "No space left on device")
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(DataError, match="No space left"):
            loop.resume(stopped.path, toy, QUIET)
    assert stopped.record_file.read_bytes() == before
    loop.resume(stopped.path, toy, QUIET)
    assert [entry["step"] for entry in stopped.record() if entry["step"] > 2] == []
