"""Clips: frames in order, scenes that stay."""

import numpy as np
import pytest

from unweave.batches import Clips
from unweave.data import from_arrays, load_data
from unweave.errors import ConfigError, DataError

IMAGES = np.zeros((6, 8, 8), np.uint8)


def test_a_scene_stays_and_the_rest_moves_by_one_step_at_most():
    data = load_data("toy_shapes")
    rows = Clips(frames=5).draw_clip_rows(data, 400, np.random.default_rng(0))
    factors = data.factors(rows.reshape(-1)).reshape(400, 5, 4)
    steps = np.diff(factors, axis=1)
    assert (steps[..., 0] == 0).all()
    assert set(steps[..., 1:].reshape(-1)) == {-1, 0, 1}
    inside = (factors[:, :-1, 2] > 0) & (factors[:, :-1, 2] < 12)
    moves = np.bincount(steps[..., 2][inside] + 1) / inside.sum()
    np.testing.assert_allclose(moves, 1 / 3, atol=0.05)


def test_the_fixed_factor_can_be_named(toy):
    rows = Clips(frames=3, fixed="x").draw_clip_rows(toy, 50, np.random.default_rng(0))
    factors = toy.factors(rows.reshape(-1)).reshape(50, 3, 3)
    assert (factors[..., 0] == factors[:, :1, 0]).all()
    assert (factors[..., 2] != factors[:, :1, 2]).any()


def test_an_incomplete_set_stands_still_rather_than_jumps(toy):
    part = toy.subset(np.arange(0, len(toy), 3))
    rows = Clips(frames=6).draw_clip_rows(part, 100, np.random.default_rng(0))
    factors = part.factors(rows.reshape(-1)).reshape(100, 6, 3)
    assert abs(np.diff(factors, axis=1)).max() == 1


def test_columns_give_every_run_of_frames_in_order_of_time():
    data = from_arrays(IMAGES, {"clip": [1, 0, 1, 0, 1, 0], "time": [2, 5, 0, 4, 1, 9]})
    kind = Clips(frames=2)
    rows = kind.draw_clip_rows(data, 40, np.random.default_rng(0))
    assert {tuple(r) for r in rows.tolist()} == {(2, 4), (4, 0), (3, 1), (1, 5)}
    batch = kind.draw(data, 5, np.random.default_rng(0))
    assert batch.images.shape == (4, 1, 8, 8)
    assert batch.clips.tolist() == [0, 0, 1, 1]
    assert batch.frames == 2


def test_data_without_clips_are_told_of_the_columns_by_example():
    with pytest.raises(DataError, match=r"no factors to draw clips from.*\n +file,clip,time\n"):
        Clips().check(from_arrays(IMAGES))
    with pytest.raises(DataError, match=r"'time' but none called 'clip'"):
        Clips().check(from_arrays(IMAGES, {"time": np.arange(6)}))
    short = {"clip": [0, 0, 0, 1, 1, 1], "time": [0, 1, 2, 0, 1, 2]}
    with pytest.raises(DataError, match=r"no clip with 4 images.*\n +file,clip,time"):
        Clips(frames=4).check(from_arrays(IMAGES, short))
    with pytest.raises(DataError, match=r"no ordered factor besides 'kind'"):
        Clips().check(from_arrays(IMAGES, {"kind": list("abcabc")}))


def test_long_clips_hold_a_frame_each_step_of_the_walk():
    data = load_data("toy_shapes")
    batch = Clips(frames=12).draw(data, 40, np.random.default_rng(0))
    assert batch.images.shape == (36, 1, *data.image_shape[1:])
    assert batch.clips.tolist() == np.repeat([0, 1, 2], 12).tolist()


@pytest.mark.parametrize("from_columns", [True, False])
def test_frames_may_be_drawn_from_a_longer_span_in_order(from_columns):
    if from_columns:
        time = np.concatenate([np.random.default_rng(0).permutation(20) for _ in range(3)])
        images = np.zeros((60, 8, 8), np.uint8)
        data = from_arrays(images, {"clip": np.repeat([4, 2, 7], 20), "time": time})
        rows = Clips(frames=4, span=10).draw_clip_rows(data, 300, np.random.default_rng(0))
        assert (data.column("clip")[rows] == data.column("clip")[rows[:, :1]]).all()
        gaps = np.diff(data.column("time")[rows], axis=1)
        assert gaps.min() == 1
        assert gaps.max() > 3
        assert gaps.sum(1).max() == 9
    else:
        data = load_data("toy_shapes")
        rows = Clips(frames=3, span=9).draw_clip_rows(data, 300, np.random.default_rng(0))
        steps = np.diff(data.factors(rows.reshape(-1)).reshape(300, 3, 4), axis=1)
        assert (steps[..., 0] == 0).all()
        assert abs(steps[..., 2]).max() > 1
        assert abs(steps[..., 2]).max() <= 7


@pytest.mark.parametrize("wrong", [{"frames": 0}, {"frames": 4, "span": 3}])
def test_a_clip_fits_its_span(wrong):
    with pytest.raises(ConfigError, match="a span of"):
        Clips(**wrong)
