"""A further observation of every image."""

import numpy as np
import pytest
import torch

from unweave.batches import Auxiliary
from unweave.data import from_arrays
from unweave.errors import ConfigError, DataError
from unweave.methods.i_vae import IVAE
from unweave.runs.config import Train
from unweave.training import loop

IMAGES = (np.arange(6 * 64) % 251).astype(np.uint8).reshape(6, 8, 8)


def rows_of(data, images):
    """Return which rows images are."""
    every = data.images(np.arange(len(data)))
    return [int(np.abs(every - image.numpy()).sum((1, 2, 3)).argmin()) for image in images]


def test_a_discrete_column_is_one_hot_and_belongs_to_its_image(toy):
    kind = Auxiliary(("side",))
    batch = kind.draw(toy, 32, np.random.default_rng(0))
    assert batch.auxiliary.shape == (32, 4)
    assert torch.equal(batch.auxiliary.sum(1), torch.ones(32))
    rows = rows_of(toy, batch.images)
    np.testing.assert_array_equal(batch.auxiliary.argmax(1), toy.column("side", rows))
    assert kind.width(toy.summary.column_sizes) == 4


def test_a_continuous_column_is_standardised_and_joins_others():
    data = from_arrays(IMAGES, {"angle": np.arange(6) / 4, "segment": [0, 0, 1, 1, 2, 2]})
    kind = Auxiliary(("angle", "segment"))
    u = kind.values(data, np.arange(6))
    assert u.shape == (6, kind.width(data.summary.column_sizes)) == (6, 4)
    assert u[:, 0].mean() == pytest.approx(0, abs=1e-6)
    assert u[:, 0].std() == pytest.approx(1, rel=1e-6)
    np.testing.assert_array_equal(u[:, 1:].argmax(1), [0, 0, 1, 1, 2, 2])


def test_a_segment_is_no_factor_and_is_observed_by_default():
    data = from_arrays(IMAGES, {"kind": [0, 1, 0, 1, 0, 1], "segment": [5, 5, 6, 6, 7, 7]})
    assert data.factor_names == ("kind",)
    assert Auxiliary().names_among(data.summary.column_sizes) == ("segment",)
    without = from_arrays(IMAGES, {"kind": [0, 1, 0, 1, 0, 1]})
    assert Auxiliary().names_among(without.summary.column_sizes) == ("kind",)


def test_images_without_a_value_are_never_drawn():
    data = from_arrays(IMAGES, {"label": np.array([0, np.nan, 1, np.nan, 1, 0])})
    batch = Auxiliary(("label",)).draw(data, 40, np.random.default_rng(0))
    assert set(rows_of(data, batch.images)) == {0, 2, 4, 5}


def test_what_is_missing_is_named_with_an_example_before_a_folder_is_made(tmp_path):
    config = Train(method=IVAE(), data="arrays", steps=1)
    with pytest.raises(DataError, match=r"'segment' nor a factor(.|\n)*file,segment\n *001.png,0"):
        loop.start(config, from_arrays(IMAGES), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(ConfigError, match="no column of the data named 'minute'"):
        Auxiliary(("minute",)).check(from_arrays(IMAGES, {"second": range(6)}))
