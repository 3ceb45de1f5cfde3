"""Noise against styles: both spaces draw the same images, and only style_gan has them."""

import numpy as np
import pytest

from unweave.errors import ConfigError
from unweave.evaluation.style_spaces import Spaces, path_lengths, separabilities, spaces_of


@pytest.fixture(scope="module")
def run(tiny_run):
    return tiny_run("style_gan")


@pytest.fixture(scope="module")
def spaces(run):
    return spaces_of(run, 200)


def test_noise_and_its_style_draw_one_image(spaces):
    by_noise, by_style = (spaces.generate[name](spaces.codes[name][:5]) for name in "zw")
    np.testing.assert_array_equal(by_noise, by_style)
    assert spaces.images.shape == (200, 1, 32, 32)
    assert np.ptp(spaces.images, axis=0).max() > 1e-3


def test_draws_follow_the_seed_and_leave_the_run_as_it_was(run, spaces):
    again, other = spaces_of(run, 200), spaces_of(run, 200, seed=1)
    np.testing.assert_array_equal(again.codes["w"], spaces.codes["w"])
    assert not np.array_equal(other.codes["z"], spaces.codes["z"])
    assert {p.dtype.itemsize for p in run.nets.parameters()} == {4}


def test_paths_do_not_depend_on_the_length_of_noise_nor_on_the_step(run, spaces):
    lengths = path_lengths(spaces, paths=60)
    assert all(np.isfinite(score.value) and score.value > 0 for score in lengths.values())
    assert lengths["z"].details["spherical"]
    assert not lengths["w"].details["spherical"]
    longer = Spaces({**spaces.codes, "z": 5 * spaces.codes["z"]}, spaces.generate)
    assert path_lengths(longer, paths=60)["z"].value == pytest.approx(lengths["z"].value, rel=1e-4)


def test_a_factor_that_a_plane_in_w_parts_is_perfect_there(spaces):
    w = spaces.codes["w"]
    found = separabilities(spaces, (w @ np.arange(w.shape[1]))[:, None])
    assert found["w"].value < 1.3
    coin = np.random.default_rng(0).random((200, 1))
    assert separabilities(spaces, coin)["w"].value > 1.6


def test_other_methods_have_no_styles(tiny_run):
    with pytest.raises(ConfigError, match="beta_vae has no styles"):
        spaces_of(tiny_run("beta_vae"))
