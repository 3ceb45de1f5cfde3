"""What the loop promises: the same bits after a kill, a clean stop, no lost work."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import torch

from unweave.errors import ConfigError, DataError, Diverged, Stopped
from unweave.files.tensor_files import read
from unweave.methods import Loss
from unweave.methods.vae import VAE
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.runs.run import load
from unweave.settings.optimizers import Adam
from unweave.training import loop

QUIET = Machine(evaluations=0, checkpoint_seconds=0.0)


def config(**changes) -> Train:
    values = {"method": VAE(latent_dim=3), "data": "toy_xys", "steps": 5, "batch_size": 8}
    return Train(**(values | changes))


OFTEN = ["--checkpoint-seconds", "0.05", "--evaluations", "3"]


def train_words(folder: Path, steps: int) -> list[str]:
    words = [sys.executable, "-m", "unweave", "train", "vae", "--data", "toy_xys"]
    words += ["--steps", str(steps), "--batch-size", "8", "--method.latent-dim", "3"]
    return [*words, *OFTEN, "--threads", "1", "--no-evaluation", "--out", str(folder)]


def resume_words(folder: Path) -> list[str]:
    """Return the way back, without a word about threads."""
    words = [sys.executable, "-m", "unweave", "resume", str(folder)]
    return [*words, *OFTEN, "--no-evaluation"]


# With as many threads as these unless told otherwise, sums are rounded otherwise.
TWO_THREADS = {**os.environ, "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}


def wait_for(condition, seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited too long"
        time.sleep(0.005)


def step_in(folder: Path) -> int:
    """Return the step of the newest checkpoint, 0 if there is none yet."""
    try:
        return RunFolder(folder).status().get("step", 0)
    except DataError:
        return 0


def test_a_run_killed_and_then_stopped_says_how_to_go_on_and_ends_with_the_same_bits(tmp_path):
    steps = 100
    whole, spoilt = tmp_path / "whole", tmp_path / "spoilt"
    subprocess.run(train_words(whole, steps), check=True, capture_output=True, env=TWO_THREADS)
    rng = np.random.default_rng(0)

    def begin(words: list[str]) -> subprocess.Popen:
        piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(words, env=TWO_THREADS, **piped)
        goal = step_in(spoilt) + int(rng.integers(5, 30))
        wait_for(lambda: step_in(spoilt) >= goal)
        time.sleep(rng.uniform(0, 0.02))  # anywhere in a step, or in a write
        return process

    killed = begin(train_words(spoilt, steps))
    killed.kill()
    killed.communicate()
    assert RunFolder(spoilt).status()["state"] == "running"  # a kill leaves no last word

    stopped = begin(resume_words(spoilt))
    stopped.send_signal(signal.SIGINT)  # Ctrl-C
    _, told = stopped.communicate(timeout=60)
    assert stopped.returncode == 130
    assert f"go on with: unweave resume {spoilt}\n" in told
    assert "Traceback" not in told
    assert RunFolder(spoilt).status()["state"] == "interrupted"

    words = resume_words(spoilt)
    last = subprocess.run(words, check=True, capture_output=True, text=True, env=TWO_THREADS)
    assert (whole / "networks.safetensors").read_bytes() == (
        spoilt / "networks.safetensors"
    ).read_bytes()
    assert (whole / "record.jsonl").read_text() == (spoilt / "record.jsonl").read_text()
    assert "warning" not in last.stdout + last.stderr
    assert RunFolder(spoilt).machine()["threads"] == 1


class StopAfter(loop.Watcher):
    """Presses Ctrl-C after a step."""

    def __init__(self, step: int):
        self.step = step

    def stepped(self, step: int) -> None:
        if step == self.step:
            os.kill(os.getpid(), signal.SIGINT)


def test_a_stop_comes_between_steps_and_is_a_keyboard_interrupt(toy, tmp_path):
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Stopped, match="after step 2 of 5"):
        loop.start(config(), toy, tmp_path / "run", QUIET, [StopAfter(2)])
    assert issubclass(Stopped, KeyboardInterrupt)
    assert load(tmp_path / "run").step == 2
    assert signal.getsignal(signal.SIGINT) is before


class StopAtOnce(loop.Watcher):
    """Presses Ctrl-C before the first step, where nothing listens yet."""

    def started(self, run, first_step):
        raise KeyboardInterrupt


def test_a_stop_before_the_first_step_says_how_to_go_on(toy, tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(Stopped, match=f"unweave resume {folder}"):
        loop.start(config(), toy, folder, QUIET, [StopAtOnce()])
    assert RunFolder(folder).status()["state"] == "interrupted"
    with pytest.raises(Stopped, match=f"unweave resume {folder}"):
        loop.resume(folder, toy, QUIET, [StopAtOnce()])
    assert loop.resume(folder, toy, QUIET).step == config().steps


def test_a_damaged_checkpoint_is_named_and_the_one_before_is_used(toy, tmp_path):
    whole = loop.start(config(steps=6), toy, tmp_path / "whole", QUIET)
    loop.start(config(steps=4), toy, tmp_path / "run", QUIET)
    folder = RunFolder(tmp_path / "run")
    content = bytearray(folder.checkpoint_file.read_bytes())
    content[-5] ^= 1
    folder.checkpoint_file.write_bytes(bytes(content))

    warnings = []

    class Listener(loop.Watcher):
        def warned(self, message: str) -> None:
            warnings.append(message)

    resumed = loop.resume(tmp_path / "run", toy, QUIET, [Listener()], steps=6)
    assert len(warnings) == 1
    assert str(folder.checkpoint_file) in warnings[0]
    for key, tensor in whole.nets.state_dict().items():
        assert torch.equal(tensor, resumed.nets.state_dict()[key])


def test_two_damaged_checkpoints_are_an_error_of_ours(toy, tmp_path):
    loop.start(config(), toy, tmp_path / "run", QUIET)
    folder = RunFolder(tmp_path / "run")
    for file in (folder.checkpoint_file, folder.previous_checkpoint_file):
        file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(DataError, match="damaged"):
        loop.resume(tmp_path / "run", toy, QUIET, steps=9)


def test_a_failed_save_keeps_the_checkpoint_before_it(toy, tmp_path, monkeypatch):
    from unweave.training import checkpoint

    real_write, saves = checkpoint.write_atomically, []

    def full_disk_at_third(path, content):
        saves.append(path)
        if len(saves) == 3:
            raise DataError(f"cannot write {path}: No space left on device")
        real_write(path, content)

    monkeypatch.setattr(checkpoint, "write_atomically", full_disk_at_third)
    with pytest.raises(DataError, match="No space left"):
        loop.start(config(), toy, tmp_path / "run", QUIET)
    assert RunFolder(tmp_path / "run").status()["state"] == "failed"
    _, facts = read(RunFolder(tmp_path / "run").checkpoint_file)
    assert facts["step"] == 2
    loop.resume(tmp_path / "run", toy, QUIET)  # goes on once there is space again
    assert RunFolder(tmp_path / "run").status()["state"] == "done"


class Exploding(VAE):
    """Becomes infinite at step 3."""

    def loss(self, nets, batch, step):
        loss = super().loss(nets, batch, step)
        return Loss(loss.total * (float("inf") if step == 3 else 1), **loss.terms)


def test_divergence_names_step_player_and_term_and_keeps_the_last_good_state(toy, tmp_path):
    with pytest.raises(Diverged, match="loss of autoencoder became inf at step 3"):
        loop.start(config(method=Exploding(latent_dim=3)), toy, tmp_path / "run", QUIET)
    folder = RunFolder(tmp_path / "run")
    assert folder.status()["state"] == "failed"
    assert read(folder.checkpoint_file)[1]["step"] == 3
    assert [line["step"] for line in folder.record()] == [0, 1, 2]


def test_a_folder_with_a_run_is_not_overwritten(toy, tmp_path):
    loop.start(config(), toy, tmp_path / "run", QUIET)
    with pytest.raises(ConfigError, match="already holds a run"):
        loop.start(config(), toy, tmp_path / "run", QUIET)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "diary.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not empty"):
        loop.start(config(), toy, tmp_path / "notes", QUIET)


def test_an_impossible_combination_leaves_no_folder(toy, tmp_path):
    from unweave.networks.conv64 import Conv64

    with pytest.raises(ConfigError, match="conv_any"):
        loop.start(config(architecture=Conv64()), toy, tmp_path / "run", QUIET)
    assert not (tmp_path / "run").exists()


def test_training_leaves_the_users_random_numbers_alone(toy, tmp_path):
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002 - the user's global state is what is checked
    expected = torch.rand(2), np.random.rand(2)  # noqa: NPY002
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002
    loop.start(config(), toy, tmp_path / "run", QUIET)
    assert torch.equal(torch.rand(2), expected[0])
    assert np.array_equal(np.random.rand(2), expected[1])  # noqa: NPY002


def test_pauses_for_diagnostics_do_not_change_the_weights(toy, tmp_path):
    plain = loop.start(config(), toy, tmp_path / "plain", QUIET)
    looked_at = loop.start(config(), toy, tmp_path / "looked", Machine(evaluations=5))
    for key, tensor in plain.nets.state_dict().items():
        assert torch.equal(tensor, looked_at.nets.state_dict()[key])
    figures = [line for line in looked_at.folder.record() if line.get("kind") == "diagnostics"]
    assert len(figures) == 5
    assert {"kl_per_dimension", "active_dimensions", "mean_variance", "posterior_variance"} <= set(
        figures[0]
    )
    assert figures[0]["elbo"] == pytest.approx(
        -(figures[0]["reconstruction"] + figures[0]["kl"]), rel=1e-5
    )


def test_every_step_is_recorded_with_its_terms(toy, tmp_path):
    run = loop.start(config(steps=7), toy, tmp_path / "run", QUIET)
    lines = list(run.folder.record())
    assert [line["step"] for line in lines] == list(range(7))
    for line in lines:
        assert line["loss"] == pytest.approx(line["reconstruction"] + line["kl"], rel=1e-4)


def test_held_out_images_are_never_trained_on(toy, tmp_path, monkeypatch):
    seen = set()
    real = type(toy.pixels).gather

    def watched(self, rows, rng):
        seen.update(rows.tolist())
        return real(self, rows, rng)

    training, _ = toy.split(0.5, seed=0)
    images = toy.images([0])
    monkeypatch.setattr(loop, "diagnostic_images", lambda data, seed: images)
    monkeypatch.setattr(type(toy.pixels), "gather", watched)
    loop.start(config(validation=0.5, steps=60, batch_size=64), toy, tmp_path / "run", QUIET)
    assert seen == set(training.pixels.rows.tolist())


@pytest.mark.parametrize(("steps", "evaluations"), [(10, 3), (7, 7), (5, 10), (100, 1), (3, 0)])
def test_evaluations_are_spread_evenly_and_the_last_is_at_the_end(steps, evaluations):
    at = [s for s in range(1, steps + 1) if loop.is_evaluation(s, steps, evaluations)]
    assert len(at) == min(steps, evaluations)
    assert not at or at[-1] == steps


def test_bfloat16_stays_close_to_float32(toy, tmp_path):
    exact = loop.start(config(steps=3), toy, tmp_path / "exact", QUIET)
    coarse = loop.start(config(steps=3, precision="bfloat16"), toy, tmp_path / "coarse", QUIET)
    exact_loss = [line["loss"] for line in exact.folder.record()]
    coarse_loss = [line["loss"] for line in coarse.folder.record()]
    assert coarse_loss == pytest.approx(exact_loss, rel=0.02)
    assert coarse_loss != exact_loss


def test_the_learning_rate_follows_its_schedule(toy, tmp_path):
    still = VAE(latent_dim=3, optimizer=Adam(1e-3, warmup_steps=10**9))
    start = loop.make_networks(config(method=still), toy).state_dict()
    run = loop.start(config(method=still), toy, tmp_path / "run", QUIET)
    for key, tensor in run.nets.state_dict().items():
        torch.testing.assert_close(tensor, start[key], atol=1e-8, rtol=0)


def test_config_json_tells_how_to_repeat_the_run(toy, tmp_path):
    loop.start(config(), toy, tmp_path / "run", QUIET)
    content = json.loads((tmp_path / "run" / "config.json").read_text())
    assert content["settings"]["method"]["name"] == "vae"
    assert content["settings"]["architecture"]["name"] == "conv_any"
    assert content["versions"]["torch"] == version("torch")
    assert RunFolder(tmp_path / "run").read_config()[0].method == VAE(latent_dim=3)


def test_the_loop_cuts_gradients(toy, tmp_path):
    """Gradients cut far below Adam's ε of 1e-8 move nothing."""
    still = VAE(latent_dim=3, optimizer=Adam(1e-3, clip_value=1e-15))
    start = loop.make_networks(config(method=still), toy).state_dict()
    run = loop.start(config(method=still), toy, tmp_path / "run", QUIET)
    for key, tensor in run.nets.state_dict().items():
        torch.testing.assert_close(tensor, start[key], atol=1e-8, rtol=0)
