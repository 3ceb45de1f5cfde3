"""A run loaded back: arrays in, arrays out, clear refusals."""

import json

import numpy as np
import pytest
import torch

from unweave.errors import ConfigError, DataError
from unweave.methods.vae import VAE
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run, load
from unweave.training import loop


@pytest.fixture(scope="module")
def run(toy, tmp_path_factory) -> Run:
    config = Train(method=VAE(latent_dim=3), data="toy_xys", steps=2, batch_size=8)
    folder = tmp_path_factory.mktemp("runs") / "run"
    loop.start(config, toy, folder, Machine(evaluations=0))
    return load(folder)


def test_bytes_floats_and_tensors_are_the_same_images(run, toy):
    images = toy.images([0, 500])
    codes = run.encode(images)
    np.testing.assert_array_equal(codes, run.encode(torch.from_numpy(images)))
    np.testing.assert_array_equal(codes, run.encode((images * 255).astype(np.uint8)))


def test_many_images_are_encoded_as_few_are(run, toy):
    rows = np.arange(1000)
    few = np.concatenate([run.encode(toy.images(rows[:3])), run.encode(toy.images(rows[3:6]))])
    np.testing.assert_allclose(run.encode_rows(rows)[:6], few, atol=1e-5)


def test_encoding_leaves_the_images_alone_and_repeats_itself(run, toy):
    images = toy.images([3])
    before = images.copy()
    np.testing.assert_array_equal(run.encode(images), run.encode(images))
    np.testing.assert_array_equal(images, before)


def test_posteriors_are_around_the_codes(run, toy):
    images = toy.images([1, 2])
    mean, logvar = run.posterior(images)
    np.testing.assert_array_equal(mean, run.encode(images))
    assert logvar.shape == mean.shape


def test_codes_are_drawn_from_the_posterior_by_their_seed(run, toy):
    images = np.repeat(toy.images([5]), 3000, axis=0)
    mean, logvar = run.posterior(images[:1])
    drawn = run.draw_codes(images, seed=1)
    np.testing.assert_allclose(drawn.mean(0), mean[0], atol=0.1)
    np.testing.assert_allclose(drawn.std(0), np.exp(logvar[0] / 2), rtol=0.1)
    np.testing.assert_array_equal(drawn, run.draw_codes(images, seed=1))
    assert not np.array_equal(drawn, run.draw_codes(images, seed=2))


def test_traversals_vary_one_dimension_at_a_time(run, toy):
    start = run.encode(toy.images([7]))[0]
    grid = run.traverse(start, dimensions=[2, 0], low=-1, high=1, steps=3)
    for line, dimension in enumerate([2, 0]):
        for column, value in enumerate([-1, 0, 1]):
            code = start.copy()
            code[dimension] = value
            np.testing.assert_allclose(grid[line, column], run.decode(code[None])[0], atol=1e-6)
    np.testing.assert_allclose(
        run.traverse(toy.images([7])[0], steps=2), run.traverse(start, steps=2), atol=1e-6
    )


def test_samples_follow_their_seed(run):
    np.testing.assert_array_equal(run.sample(4, seed=1), run.sample(4, seed=1))
    assert not np.array_equal(run.sample(4, seed=1), run.sample(4, seed=2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: run.encode(np.zeros((2, 1, 31, 32))), r"expected images \(row, 1, 32, 32\)"),
        (lambda run: run.encode(np.full((1, 1, 32, 32), 200.0)), r"expected images in \[0, 1\]"),
        (lambda run: run.encode(np.full((1, 1, 32, 32), np.nan)), r"expected images in \[0, 1\]"),
        (lambda run: run.decode(np.zeros((2, 4))), r"expected codes \(row, 3\)"),
        (lambda run: run.traverse(np.zeros(5)), "expected a code of 3 numbers or an image"),
    ],
)
def test_arrays_of_the_wrong_form_are_refused(run, call, message):
    with pytest.raises(DataError, match=message):
        call(run)


def test_dimensions_that_do_not_exist_are_refused(run):
    with pytest.raises(ConfigError, match="from 0 to 2"):
        run.traverse(dimensions=[3])


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(DataError, match="not a run folder"):
        load(tmp_path)


def test_a_run_folder_with_other_settings_than_weights_is_refused(run, tmp_path):
    import shutil

    shutil.copytree(run.path, tmp_path / "copy")
    file = tmp_path / "copy" / "config.json"
    content = json.loads(file.read_text())
    content["settings"]["method"]["latent_dim"] = 5
    file.write_text(json.dumps(content))
    with pytest.raises(DataError, match="do not fit the settings"):
        load(tmp_path / "copy")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 99}', '{"format": 1}', "[" * 5000])
def test_a_broken_config_is_an_error_of_ours(run, tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises((DataError, ConfigError)):
        load(tmp_path)


def test_scores_of_an_earlier_step_make_way_for_fast_ones(run):
    folder = run.folder
    full = {"value": 0.5, "protocol": "p", "made": {"preset": "full"}}
    fast = {"value": 0.4, "protocol": "p", "made": {"preset": "fast"}}
    assert folder.add_scores({"mig": full}, step=10) == []
    assert folder.add_scores({"mig": fast}, step=10, preliminary=True) == ["mig"]
    assert folder.scores()["mig"]["value"] == 0.5
    # Trained further, the networks are no longer those that the full score speaks of.
    assert folder.add_scores({"mig": fast}, step=20, preliminary=True) == []
    assert folder.scores()["mig"] == {**fast, "step": 20}
    assert folder.add_scores({"mig": full}, step=20) == []
    assert folder.scores()["mig"]["made"]["preset"] == "full"


def test_scores_from_before_presets_were_kept_are_not_overwritten_by_fast_ones(run):
    run.folder.write_scores({"mig": {"value": 0.5, "protocol": "p"}})
    fast = {"value": 0.4, "protocol": "p", "made": {"preset": "fast"}}
    assert run.folder.add_scores({"mig": fast}, step=10, preliminary=True) == ["mig"]
    assert run.folder.scores()["mig"]["value"] == 0.5
