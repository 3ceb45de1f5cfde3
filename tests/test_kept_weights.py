"""Networks that are kept on the way: what they are, and the run that is loaded with them."""

import numpy as np
import pytest

import unweave as uw
from unweave import views
from unweave.cli import main
from unweave.errors import ConfigError, DataError
from unweave.runs.config import Machine
from unweave.runs.earlier import at_step
from unweave.runs.folder import RunFolder

KEEPING = Machine(evaluations=2, threads=1, keep_weights=True)


@pytest.fixture(scope="module")
def kept(toy, tmp_path_factory):
    return train(toy, tmp_path_factory.mktemp("kept") / "run", KEEPING)


def train(toy, folder, machine, steps=4, latent_dim=2):
    return uw.train(
        uw.VAE(latent_dim=latent_dim),
        toy,
        steps=steps,
        batch_size=4,
        out=folder,
        machine=machine,
        evaluate=False,
        progress=False,
    )


def test_weights_on_the_way_are_those_of_a_run_that_ends_there(kept, toy, tmp_path):
    assert list(kept.folder.kept_weights()) == [2, 4]
    short = train(toy, tmp_path / "short", Machine(evaluations=1, threads=1), steps=2)
    earlier = uw.load(kept.path, step=2)
    images = toy.images(range(3))
    np.testing.assert_array_equal(earlier.encode(images), short.encode(images))
    assert (earlier.encode(images) != kept.encode(images)).any()
    assert (earlier.step, earlier.name) == (2, "run at step 2")


def test_keeping_weights_changes_nothing_else(kept, toy, tmp_path):
    plain = train(toy, tmp_path / "plain", Machine(evaluations=2, threads=1))
    assert not plain.folder.weights.exists()
    for file in ("networks_file", "checkpoint_file", "record_file"):
        assert getattr(kept.folder, file).read_bytes() == getattr(plain.folder, file).read_bytes()
    with pytest.raises(DataError, match="no weights of step 2; train with --keep-weights"):
        uw.load(plain.path, step=2)


def test_names_belong_to_the_run_and_scores_do_not(kept):
    earlier = at_step(kept, 2)
    earlier.name_latent(1, "size")
    assert kept.latent_names == earlier.latent_names == {1: "size"}
    kept.folder.write_scores({"mig": {"value": 0.5, "step": 4}})
    assert earlier.scores == {}
    with pytest.raises(ConfigError, match="in memory"):
        earlier.path  # noqa: B018
    assert earlier.data is kept.data
    assert at_step(kept, 4) is kept


def test_warnings_tell_a_moment_of_a_finished_run_from_an_unfinished_one(kept):
    warned = views.warnings(at_step(kept, 2))
    assert warned.in_short[0] == "weights on the way: step 2 of 4"
    assert "unfinished" not in {one.kind for one in views.warnings(kept).warnings}


def test_a_step_that_was_not_kept_is_refused_with_those_that_were(kept):
    with pytest.raises(DataError, match="no weights of step 3; it keeps those of steps 2, 4"):
        uw.load(kept.path, step=3)


def test_weights_that_do_not_fit_are_refused(kept, toy, tmp_path):
    run = train(toy, tmp_path / "other", Machine(evaluations=1, threads=1), latent_dim=3)
    run.folder.keep_weights(kept.nets, 1)
    with pytest.raises(DataError, match="do not fit the settings"):
        at_step(run, 1)


def test_a_link_is_no_file_of_the_run(tmp_path):
    outside = tmp_path / "0000001.safetensors"
    outside.write_bytes(b"")
    folder = RunFolder(tmp_path / "run")
    folder.weights.mkdir(parents=True)
    (folder.weights / "0000002.safetensors").write_bytes(b"")
    (folder.weights / "0000001.safetensors").symlink_to(outside)
    (folder.weights / "notes.txt").write_text("not weights")
    assert list(folder.kept_weights()) == [2]
    elsewhere = RunFolder(tmp_path / "linked")
    elsewhere.path.mkdir()
    elsewhere.weights.symlink_to(folder.weights)
    assert elsewhere.kept_weights() == {}


def test_the_command_keeps_them_when_asked(tmp_path):
    out = tmp_path / "run"
    words = ["train", "vae", "--data", "toy_xys", "--steps", "3", "--batch-size", "4"]
    words += ["--evaluations", "3", "--threads", "1", "--no-evaluation", "--out", str(out)]
    assert main([*words, "--keep-weights"]) == 0
    assert list(RunFolder(out).kept_weights()) == [1, 2, 3]
    with pytest.raises(ConfigError, match="of which there are none"):
        Machine(keep_weights=True, evaluations=0)
