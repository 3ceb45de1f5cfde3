"""Studies of real, tiny trainings, as a person runs them."""

import csv
import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import unweave as uw
from unweave.cli import main
from unweave.runs.config import Machine
from unweave.studies import expand, ledger_of, read_study

TINY = """
data = "toy_xys"
seeds = 2
metrics = ["mig", "sap"]
preset = "fast"
settings.method.latent_dim = 3
settings.architecture = { name = "conv_any", channels = [8, 8, 8], hidden = 16 }
[budget]
steps = 12
batch_size = 8
evaluations = 1
[[methods]]
name = "beta_vae"
grid = { beta = [1, 4] }
[[methods]]
name = "pca"
"""


def digest(path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a study file whose runs are done, and the folder they are in."""
    folder = tmp_path_factory.mktemp("study")
    file = folder / "tiny.toml"
    file.write_text(TINY)
    assert main(["study", "run", str(file), "--out", str(folder / "runs"), "--workers", "2"]) == 0
    return file, folder / "runs"


def test_a_study_leaves_a_run_folder_and_a_result_for_every_run(finished):
    file, root = finished
    plan = expand(read_study(file))
    ledger = ledger_of(plan, root)
    assert len(plan.runs) == 6
    for run in plan.runs:
        result = ledger.result(run.run_id)
        assert 0 <= result["scores"]["mig"] <= 1
        assert uw.load(root / run.run_id).step == 12
        assert not list((root / run.run_id).glob("checkpoint*"))
        assert (root / run.run_id / "figures" / "traversals.png").is_file()
    status = json.loads((root / "studies" / "tiny" / "status.json").read_text())
    assert (status["state"], status["done"], status["failed"]) == ("done", 6, 0)
    assert (root / "studies" / "tiny" / "study.toml").read_text() == TINY


def test_repeating_a_study_does_only_what_is_missing(finished, capsys):
    file, root = finished
    before = {f: f.stat().st_mtime_ns for f in root.glob("*/results/*.json")}
    more = file.with_name("more.toml")
    more.write_text(TINY.replace("seeds = 2", "seeds = [0, 1, 7]").replace("[1, 4]", "[1]"))
    assert main(["study", "run", str(more), "--out", str(root)]) == 0
    assert "2 new runs" in capsys.readouterr().out
    assert {f: f.stat().st_mtime_ns for f in before} == before, "two studies share runs"


def test_other_scores_of_the_same_runs_are_scored_without_training_again(finished, capsys):
    file, root = finished
    other = file.with_name("other.toml")
    other.write_text(TINY.replace('"sap"]', '"modularity"]').replace("[1, 4]", "[1]"))
    nets = {f: f.stat().st_mtime_ns for f in root.glob("*/networks.safetensors")}
    assert main(["study", "run", str(other), "--out", str(root)]) == 0
    assert {f: f.stat().st_mtime_ns for f in nets} == nets
    table = read_study(other).table(root)
    assert all(row["modularity"] is not None for row in table.rows)
    trained = {row["run"]: row["train_cpu_seconds"] for row in read_study(file).table(root).rows}
    assert all(row["train_cpu_seconds"] == trained[row["run"]] for row in table.rows)
    assert min(seconds or 0 for run, seconds in trained.items() if "pca" not in run) > 0


def test_the_table_has_a_row_per_run(finished, tmp_path, capsys):
    file, root = finished
    csv_file, parquet = tmp_path / "t.csv", tmp_path / "t.parquet"
    for target in (csv_file, parquet):
        assert main(["study", "table", str(file), "--out", str(root), "--to", str(target)]) == 0
    rows = list(csv.DictReader(csv_file.open()))
    assert len(rows) == 6
    assert {row["beta"] for row in rows} == {"1", "4", ""}
    assert all(float(row["mig"]) >= 0 and row["state"] == "done" for row in rows)
    assert all(float(row["elbo"]) < 0 for row in rows if row["method"] == "beta_vae")
    import pandas

    frame = pandas.read_parquet(parquet)
    assert frame["mig"].tolist() == pytest.approx([float(row["mig"]) for row in rows])
    assert main(["study", "table", str(file), "--out", str(root), "--to", "t.xlsx"]) == 2


def test_a_run_has_the_same_bits_alone_and_in_a_study(finished, tmp_path):
    file, root = finished
    run = expand(read_study(file)).runs[0]
    alone = uw.train(
        run.config.method,
        "toy_xys",
        steps=12,
        batch_size=8,
        architecture=run.config.architecture,
        out=tmp_path / "alone",
        machine=Machine(threads=1, evaluations=1),
        evaluate=False,
        progress=False,
    )
    name = "networks.safetensors"
    assert digest(alone.path / name) == digest(root / run.run_id / name)


def test_dry_run_shows_runs_time_and_disk_and_starts_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    assert main(["study", "run", str(file), "--dry-run", "--workers", "2"]) == 0
    out = capsys.readouterr().out
    assert "6 runs, 0 of them done" in out
    assert "beta_vae, beta 4, seed 1" in out
    assert "2 at a time" in out
    assert "GB" in out
    assert not (tmp_path / "runs").exists()


def test_a_failing_setting_is_recorded_and_the_rest_go_on(tmp_path, capsys):
    file = tmp_path / "bad.toml"
    # A weight so large that the loss leaves the range of floats.
    bad = TINY.replace("seeds = 2", "seeds = 1").replace("beta = [1, 4]", "beta = [1, 1e39]")
    file.write_text(bad)
    words = ["study", "run", str(file), "--out", str(tmp_path / "runs")]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "became" in out
    assert "--retry-failed" in out
    rows = read_study(file).table(tmp_path / "runs").rows
    assert [row["state"] for row in rows] == ["done", "failed", "done"]
    assert "became" in rows[1]["error"]
    assert main(words) == 1
    assert "0 new runs" in capsys.readouterr().out, "a failed run is not tried again unasked"
    file.write_text(bad.replace("steps = 12", "steps = 12\nminutes_per_run = 1e-9"))
    assert main([*words, "--retry-failed"]) == 1
    assert "minutes_per_run" in capsys.readouterr().out


def test_a_study_whose_driver_is_killed_goes_on_and_ends_with_the_same_bits(finished, tmp_path):
    """kill -9 in the middle of trainings; then the same command."""
    long = TINY.replace("steps = 12", "steps = 300").replace("[1, 4]", "[1]")
    long = long.replace("seeds = 2", "seeds = 1")
    file = tmp_path / "long.toml"
    file.write_text(long)
    root = tmp_path / "runs"
    words = [sys.executable, "-m", "unweave", "study", "run", str(file), "--workers", "2"]
    words += ["--checkpoint-seconds", "0.1"]
    driver = subprocess.Popen([*words, "--out", str(root)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list(root.glob("beta_vae-*/checkpoint.safetensors")):
        assert time.monotonic() < deadline
        assert driver.poll() is None
        time.sleep(0.02)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    plan = expand(read_study(file))
    ledger = ledger_of(plan, root)
    first = plan.runs[0].run_id
    assert not ledger.is_done(first)
    done = subprocess.run([*words, "--out", str(root)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ledger.result(first)["steps_trained_here"] < 300, "it went on from a checkpoint"
    whole = tmp_path / "whole"
    read_study(file).run(whole, quiet=True)
    name = "networks.safetensors"
    assert digest(root / first / name) == digest(whole / first / name)


def test_ctrl_c_saves_the_runs_and_says_how_to_go_on(tmp_path):
    file = tmp_path / "long.toml"
    file.write_text(TINY.replace("steps = 12", "steps = 100000").replace("[1, 4]", "[1]"))
    root = tmp_path / "runs"
    words = [sys.executable, "-m", "unweave", "study", "run", str(file), "--out", str(root)]
    driver = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=os.environ)
    deadline = time.monotonic() + 120
    while not any(len(f.read_text()) > 1000 for f in root.glob("beta_vae-*/record.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    driver.send_signal(signal.SIGINT)
    _, err = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert "The same command goes on" in err
    states = [json.loads(f.read_text())["state"] for f in root.glob("beta_vae-*/status.json")]
    assert "interrupted" in states
