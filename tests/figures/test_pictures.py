"""Pictures show what they say."""

import numpy as np
import pytest

from unweave.data import from_arrays
from unweave.figures import (
    clip_strips,
    data_overview,
    factor_traversals,
    prior_samples,
    reconstructions,
    samples,
    traversals,
)
from unweave.figures.pictures import GAP, MARGIN, tile
from unweave.methods.vae import VAE
from unweave.runs.config import Machine, Train
from unweave.training import loop


def test_every_image_is_at_its_place_in_the_grid():
    rng = np.random.default_rng(0)
    images = rng.random((2, 3, 1, 64, 64)).astype(np.float32)
    page = np.asarray(tile(images))
    left = page.shape[1] - 3 * (64 + GAP) - 6
    top = page.shape[0] - 2 * (64 + GAP) - 6
    for line in range(2):
        for column in range(3):
            y, x = top + line * (64 + GAP), left + column * (64 + GAP)
            shown = page[y : y + 64, x : x + 64, 0] / 255
            np.testing.assert_allclose(shown, images[line, column, 0], atol=1 / 255)


@pytest.mark.parametrize("letter", "–βÅж")
def test_labels_are_drawn_in_letters_and_not_as_empty_boxes(letter):
    image = np.zeros((1, 1, 1, 64, 64), dtype=np.float32)
    drawn, unknown = (np.asarray(tile(image, row_labels=[text])) for text in (letter, "\uffff"))
    height, width = (min(sides) for sides in zip(drawn.shape[:2], unknown.shape[:2], strict=True))
    assert (drawn[:height, :width] != unknown[:height, :width]).any()


def test_small_images_are_enlarged_and_color_is_kept():
    image = np.zeros((1, 1, 3, 16, 16), dtype=np.float32)
    image[0, 0, 1] = 1
    page = np.asarray(tile(image))
    assert page.shape[0] >= 64
    green = (page == [0, 255, 0]).all(axis=2).sum()
    assert green == 64 * 64


@pytest.fixture(scope="module")
def run(toy, tmp_path_factory):
    config = Train(method=VAE(latent_dim=3), data="toy_xys", steps=2, batch_size=8)
    return loop.start(config, toy, tmp_path_factory.mktemp("r") / "run", Machine(evaluations=0))


def test_a_traversal_has_a_line_per_dimension_and_a_column_per_step(run):
    tall = traversals(run, steps=4)
    wide = traversals(run, steps=8)
    assert wide.width - tall.width == 4 * (64 + GAP)
    assert tall.height > 3 * 64
    assert reconstructions(run, count=5).height > 2 * 64
    assert prior_samples(run).width > 8 * 64


def test_data_pictures_work_on_grids_tables_and_without_factors(toy):
    assert factor_traversals(toy).height > 3 * 64
    rng = np.random.default_rng(0)
    images = rng.integers(0, 255, (30, 8, 8), dtype=np.uint8)
    table = from_arrays(
        images, np.stack([rng.integers(0, 3, 30), rng.normal(size=30)], 1), ("kind", "size")
    )
    assert data_overview(table).height > samples(table).height
    plain = from_arrays(images)
    assert data_overview(plain).size == samples(plain).size


def test_clips_are_shown_in_the_order_of_time():
    images = np.zeros((12, 8, 8), np.uint8)
    time = np.tile(np.arange(6)[::-1], 2)  # the last frame comes first in the file
    images[:] = (40 * time)[:, None, None]
    data = from_arrays(images, {"clip": np.repeat(["a", "b"], 6), "time": time})
    strip = np.asarray(clip_strips(data, clips=2, frames=6))[-10, :, 0].astype(int)
    shades = [strip[MARGIN + 32 + frame * (64 + GAP)] for frame in range(6)]
    assert shades == [0, 40, 80, 120, 160, 200]
    assert data_overview(data).height > samples(data).height


def test_the_factor_traversal_of_a_grid_changes_that_factor_only(toy):
    first = np.asarray(factor_traversals(toy, columns=4, seed=1))
    again = np.asarray(factor_traversals(toy, columns=4, seed=1))
    np.testing.assert_array_equal(first, again)
