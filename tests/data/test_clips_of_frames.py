"""Clips made here move as their dynamics say; clips of one's own are read from folders."""

import itertools

import numpy as np
import pytest
from PIL import Image

from unweave.batches import Clips, Transitions
from unweave.data import DataOptions, load_data
from unweave.errors import ConfigError, DataError

NAMES = ("moving_sprites", "moving_shapes3d")


def paths(data, name):
    """Return the values (clip, frame) of a factor."""
    frames = data.columns["time"].factor.size
    return data.column(name).reshape(-1, frames)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dynamics", ["bounce", "straight", "laplace"])
def test_a_clip_has_as_many_frames_as_asked_for_and_one_shape(name, dynamics):
    data = load_data(f"{name}:dynamics={dynamics},clips=12,frames=33")
    assert len(data) == 12 * 33
    assert data.columns["clip"].factor.size == 12
    np.testing.assert_array_equal(data.column("clip"), np.repeat(np.arange(12), 33))
    np.testing.assert_array_equal(data.column("time"), np.tile(np.arange(33), 12))
    assert (np.ptp(paths(data, "shape"), axis=1) == 0).all()


def test_frames_are_the_images_of_the_still_set():
    clips, still = load_data("moving_sprites:clips=5"), load_data("dsprites")
    rows = np.arange(0, len(clips), 3)
    same = still.rows_of(clips.factors(rows))
    np.testing.assert_array_equal(clips.images(rows), still.images(same))


def test_straight_motion_has_one_velocity_and_no_turn():
    data = load_data("moving_sprites:dynamics=straight,clips=50,frames=25")
    for name in ("x", "y"):
        path = paths(data, name)
        steps = np.diff(path, axis=1)
        assert ((steps >= 0).all(axis=1) | (steps <= 0).all(axis=1)).all()
        line = path[:, :1] + (path[:, -1:] - path[:, :1]) * np.arange(25) / 24
        assert abs(path - line).max() <= 1
        assert np.ptp(path, axis=1).max() > 20


def test_bouncing_motion_turns_at_the_walls_and_nowhere_else():
    data = load_data("moving_sprites:dynamics=bounce,clips=50,frames=80")
    for name, last in (("x", 31), ("y", 31)):
        path = paths(data, name)
        assert path.min() == 0
        assert path.max() == last
        steps = np.diff(path, axis=1)
        assert abs(steps).max() <= 2
        turns = 0
        for line, step in zip(path, steps, strict=True):
            moves = np.flatnonzero(step)
            for before, after in itertools.pairwise(moves):
                if step[before] * step[after] < 0:
                    turns += 1
                    assert line[after] in (0, 1, last - 1, last)
        assert turns > 50  # every clip is long enough to meet a wall


def test_sprites_turn_around_and_keep_their_size():
    data = load_data("moving_sprites:clips=30,frames=80")
    turn = paths(data, "orientation")
    assert turn.max() == 38  # value 39 is the picture of value 0
    around = np.diff(turn, axis=1) % 39
    assert np.minimum(around, 39 - around).max() <= 2
    assert (np.ptp(paths(data, "scale"), axis=1) == 0).all()


def test_laplace_steps_have_the_scale_that_was_promised():
    data = load_data("moving_sprites:dynamics=laplace,clips=400,frames=40")
    path = paths(data, "x")
    inside = (path[:, :-1] >= 12) & (path[:, :-1] <= 19)  # where the ends hardly count
    steps = np.diff(path, axis=1)[inside]
    distance = np.arange(1, 8)
    counts = np.array([(abs(steps) == d).sum() for d in distance])
    slope = -np.polyfit(distance, np.log(counts), 1)[0]
    assert slope == pytest.approx(1 / np.log(32), rel=0.1)
    assert abs(steps.mean()) < 0.2
    assert np.ptp(paths(data, "scale"), axis=1).min() > 0


def test_hues_change_by_laplace_steps_only():
    for dynamics, change in (("bounce", False), ("laplace", True)):
        data = load_data(f"moving_shapes3d:dynamics={dynamics},clips=20")
        for name in ("floor_hue", "wall_hue", "object_hue"):
            assert (np.ptp(paths(data, name), axis=1) > 0).all() == change
        assert (np.ptp(paths(data, "orientation"), axis=1) > 0).all()


def test_a_seed_gives_other_clips_and_the_same_one_the_same():
    a, b, c = (load_data(f"moving_sprites:clips=20,seed={seed}").factors() for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).mean() > 0.3


def test_methods_of_clips_and_pairs_are_fed_neighbours():
    data = load_data("moving_sprites:clips=20,frames=10")
    rng = np.random.default_rng(0)
    rows = Clips(frames=4).draw_clip_rows(data, 30, rng)
    assert (np.diff(rows, axis=1) == 1).all()
    first, second = Transitions().draw_pair_rows(data, 30, rng)
    np.testing.assert_array_equal(second, first + 1)
    np.testing.assert_array_equal(data.column("clip", first), data.column("clip", second))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("dynamics=jump", "bounce"),
        ("frames=many", "whole number"),
        ("frames=0", "frames must be 1 or more"),
        ("length=5", "setting of moving_sprites"),
        ("bounce", "dynamics=bounce"),
    ],
)
def test_settings_that_do_not_exist_are_explained(settings, message):
    with pytest.raises(ConfigError, match=message):
        load_data(f"moving_sprites:{settings}")


@pytest.fixture
def walks(tmp_path):
    """Write two clips of 12 and 3 frames, numbered without leading zeros."""
    for clip, count in (("first", 12), ("second", 3)):
        (tmp_path / "walks" / clip).mkdir(parents=True)
        for i in range(count):
            grey = np.full((8, 8), 10 * i + (clip == "second"), np.uint8)
            Image.fromarray(grey).save(tmp_path / "walks" / clip / f"frame_{i}.png")
    return tmp_path / "walks"


def test_folders_of_frames_are_clips_in_the_order_of_their_numbers(walks, empty_cache):
    data = load_data(walks, DataOptions(image_size=8, clips="folders"))
    assert data.columns["clip"].factor.labels == ("first", "second")
    grey = np.rint(data.images(np.arange(len(data)))[:, 0, 0, 0] * 255).astype(int)
    np.testing.assert_array_equal(data.column("time"), grey // 10)
    np.testing.assert_array_equal(data.column("clip"), grey % 10)
    rows = Clips(frames=3).draw_clip_rows(data, 8, np.random.default_rng(0))
    assert (np.diff(grey[rows], axis=1) == 10).all()


def test_folders_and_a_column_of_clips_together_are_refused(walks, tmp_path, empty_cache):
    table = tmp_path / "table.csv"
    table.write_text("clip\n" + "a\n" * 15)
    with pytest.raises(DataError, match="leave one of the two out"):
        load_data(walks, DataOptions(clips="folders", factors=str(table)))


def test_clips_of_what_is_no_folder_are_refused(tmp_path):
    np.save(tmp_path / "images.npy", np.zeros((2, 8, 8), np.uint8))
    for source in ("toy_xys", str(tmp_path / "images.npy")):
        with pytest.raises(ConfigError, match="no folder of frames"):
            load_data(source, DataOptions(clips="folders"))
