"""Batches in which one factor varies: the others are held, whatever the data hold."""

import numpy as np
import pytest
from scipy.stats import chisquare

from unweave.batches import OneVaries
from unweave.data import from_arrays, load_data
from unweave.errors import ConfigError, DataError

IMAGES = np.arange(8)[:, None, None] * np.ones((1, 8, 8)) / 8  # each tells its row


def factors_of(batch, data) -> np.ndarray:
    """Return the factors of a batch's images, found by comparing pixels."""
    known = data.images(np.arange(len(data))).reshape(len(data), -1)
    drawn = batch.images.numpy().reshape(len(batch.images), -1)
    return data.factors([int(np.argmin(abs(known - image).sum(1))) for image in drawn])


@pytest.mark.parametrize("complete", [True, False])
def test_the_named_factor_varies_and_all_others_are_held(toy, complete):
    kept = np.random.default_rng(1).random(len(toy)) < 0.5
    data = toy if complete else toy.subset(np.flatnonzero(kept))
    kind = OneVaries()
    kind.check(data)
    seen = []
    for seed in range(30):
        batch = kind.draw(data, 8, np.random.default_rng(seed))
        found = factors_of(batch, data)
        differs = (found != found[0]).any(axis=0)
        assert differs.tolist() == [i == batch.varying for i in range(3)]
        reach = min(8, len(set(found[:, batch.varying])))
        assert reach >= 2
        if complete:
            assert reach == min(8, data.factor_sizes[batch.varying]), "no value twice without need"
        seen.append(batch.varying)
    assert set(seen) == {0, 1, 2}


def test_factors_are_named_and_drawn_equally_often(toy):
    kind = OneVaries(("side", "x"))
    drawn = [kind.draw(toy, 4, np.random.default_rng(seed)) for seed in range(400)]
    assert chisquare(np.bincount([batch.varying for batch in drawn])).pvalue > 1e-4
    found = factors_of(drawn[0], toy)
    name = kind.names(toy)[drawn[0].varying]
    assert (found != found[0]).any(axis=0).tolist() == [n == name for n in toy.factor_names]


def test_the_rest_varies_together_as_often_as_asked():
    data = load_data("toy_shapes")
    kind = OneVaries(("shape",), rest=3.0)
    kind.check(data)
    batches = [kind.draw(data, 6, np.random.default_rng(seed)) for seed in range(200)]
    of_rest = [batch for batch in batches if batch.varying == 1]
    assert len(of_rest) / 200 == pytest.approx(0.75, abs=0.1)
    found = factors_of(of_rest[0], data)
    shape = data.factor_names.index("shape")
    assert len(set(found[:, shape])) == 1
    assert (found != found[0]).any(axis=0).sum() > 1


def test_a_table_of_ones_own_may_lack_combinations_and_repeat_them():
    columns = {"light": [0, 1, 0, 1, 0, 0, 1, 2], "face": [0, 0, 1, 2, 3, 3, 4, 4]}
    data = from_arrays(IMAGES, {name: np.array(values) for name, values in columns.items()})
    kind = OneVaries(("light",))
    kind.check(data)
    rows = set()
    for seed in range(40):
        batch = kind.draw(data, 5, np.random.default_rng(seed))
        rows |= {round(float(image.mean()) * 8) for image in batch.images}
    assert rows == {0, 1, 6, 7}, "faces 0 and 4 alone are seen in two lights"


@pytest.mark.parametrize(
    ("columns", "kind", "problem"),
    [
        (None, OneVaries(), "no factors to draw batches in which one factor varies"),
        ({"a": np.linspace(0, 1, 8)}, OneVaries(), "a continuous factor 'a'"),
        (
            {"a": np.arange(8) % 2, "b": np.arange(8)},
            OneVaries(("a",)),
            "no two images that differ in 'a' alone",
        ),
        (
            {"a": np.arange(8) // 2, "b": np.arange(8) // 2},
            OneVaries(("a",)),
            "no two images that differ in 'a' alone",
        ),
        (
            {"a": np.repeat([0, 1], 4), "b": np.repeat([0, 1], 4)},
            OneVaries((), rest=1.0),
            "no two images that differ in 'a' alone",
        ),
        (
            {"a": np.arange(8) % 2, "b": np.zeros(8, int)},
            OneVaries(("a",), rest=1.0),
            "alike in a and differ",
        ),
    ],
)
def test_data_that_lack_such_images_are_told_by_example(columns, kind, problem):
    with pytest.raises(DataError, match=rf"{problem}.*\n +file,azimuth,light\n +face_1"):
        kind.check(from_arrays(IMAGES.astype(np.float32), columns))


def test_wrong_names_and_shares_are_refused(toy):
    with pytest.raises(ConfigError, match="Did you mean 'side'"):
        OneVaries(("sides",)).check(toy)
    with pytest.raises(ConfigError, match="rest must be 0 or more"):
        OneVaries(rest=-1.0)
