"""Pixels, the untrained VAE and the ground truth."""

import numpy as np
import pytest
import torch

from unweave.data import DataSummary, from_arrays
from unweave.errors import ConfigError, DataError
from unweave.evaluation.encode import encode_run
from unweave.methods.ground_truth import GroundTruth
from unweave.methods.pixels import Pixels
from unweave.methods.untrained_vae import UntrainedVAE
from unweave.methods.vae import VAE
from unweave.runs.config import Machine, Train
from unweave.training import loop

QUIET = Machine(evaluations=1, threads=1)


def run_of(method, toy, folder, **settings):
    config = Train(method=method, data="toy_xys", **settings)
    return loop.start(config, toy, folder, QUIET)


def test_every_pixel_is_the_flattened_image(toy, tmp_path):
    run = run_of(Pixels(side=0), toy, tmp_path / "run")
    images = toy.images(np.arange(3))
    np.testing.assert_array_equal(run.encode(images), images.reshape(3, -1))
    assert run.latent_dim == 1024


def test_a_grid_averages_its_cells(toy, tmp_path):
    run = run_of(Pixels(side=4), toy, tmp_path / "run")
    images = toy.images(np.arange(3))
    cells = images.reshape(3, 1, 4, 8, 4, 8).mean((3, 5)).reshape(3, 16)
    np.testing.assert_allclose(run.encode(images), cells, atol=1e-6)


def test_a_grid_finer_than_the_image_is_the_image():
    summary = DataSummary((3, 4, 20), 16, {})
    nets = Pixels(side=16).networks(None, summary)
    assert Pixels().code(nets, summary).size == 3 * 4 * 16
    with pytest.raises(ConfigError, match="side must be 0"):
        Pixels(side=-1)


def test_the_untrained_vae_is_a_vae_before_its_first_step(toy, tmp_path):
    run = run_of(UntrainedVAE(latent_dim=5), toy, tmp_path / "run", seed=3)
    fresh = loop.make_networks(Train(method=VAE(latent_dim=5), data="toy_xys", seed=3), toy)
    assert fresh.state_dict().keys() == run.nets.state_dict().keys()
    for key, tensor in fresh.state_dict().items():
        assert torch.equal(tensor, run.nets.state_dict()[key])
    other = run_of(UntrainedVAE(latent_dim=5), toy, tmp_path / "other", seed=4)
    images = toy.images(np.arange(3))
    assert (run.encode(images) != other.encode(images)).all()


def test_the_codes_of_the_ground_truth_are_the_factors_of_the_same_rows(toy, tmp_path):
    run = run_of(GroundTruth(), toy, tmp_path / "run")
    encoded = encode_run(run, rows=200, seed=1)
    assert run.latent_dim == 3
    np.testing.assert_array_equal(encoded.codes, encoded.factors)
    rows = np.array([5, 900, 17])
    np.testing.assert_array_equal(run.encode_rows(rows), toy.factors(rows))


def test_data_without_factors_have_no_ground_truth(tmp_path):
    data = from_arrays(np.random.default_rng(0).random((20, 8, 8, 1), dtype=np.float32))
    with pytest.raises(DataError, match="ground_truth needs factors"):
        loop.start(Train(method=GroundTruth(), data="arrays"), data, tmp_path / "run", QUIET)
