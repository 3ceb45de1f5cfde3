"""Batches with rows and classes."""

import numpy as np
import pytest
import torch

from unweave.batches import Indexed
from unweave.data import from_arrays
from unweave.errors import ConfigError, DataError

# Every image is as bright as its row number.
IMAGES = np.repeat(np.arange(12, dtype=np.uint8), 64).reshape(12, 8, 8)


def rows_seen(batch) -> list[int]:
    return (batch.images[:, 0, 0, 0] * 255).round().long().tolist()


def test_rows_and_classes_are_those_of_the_images():
    data = from_arrays(IMAGES, {"kind": np.arange(12) % 3, "place": np.arange(12)})
    batch = Indexed("kind").draw(data, 8, np.random.default_rng(0))
    assert rows_seen(batch) == batch.rows.tolist()
    assert batch.classes.tolist() == (batch.rows % 3).tolist()
    assert batch.rows.dtype == batch.classes.dtype == torch.int64


def test_a_part_that_keeps_its_numbers_names_rows_of_the_whole():
    data = from_arrays(IMAGES, {"kind": np.arange(12) % 3})
    for part in data.split(0.25, seed=1, keep_numbers=True):
        batch = Indexed().draw(part, len(part), np.random.default_rng(0))
        assert rows_seen(batch) == batch.rows.tolist()
        assert batch.classes.tolist() == (batch.rows % 3).tolist()
        # A set of its own, cut from the part, counts from 0 again.
        assert part.subset([1, 2]).row_numbers.tolist() == [0, 1]
    training, _ = data.split(0.25, seed=1)
    assert training.row_numbers.tolist() == list(range(9))


def test_what_is_missing_is_named_with_an_example():
    rng = np.random.default_rng(0)
    example = r"\n    file,group\n    anna_1.png,anna"
    with pytest.raises(DataError, match=f"neither a column 'group' nor a factor.*{example}"):
        Indexed().check(from_arrays(IMAGES))
    with pytest.raises(DataError, match=f"'angle', which is continuous.*{example}"):
        Indexed("angle").check(from_arrays(IMAGES, {"angle": rng.random(12)}))
    gaps = np.array(["cat", ""] * 6)
    with pytest.raises(DataError, match=f"6 images without a value of 'label'.*{example}"):
        Indexed().check(from_arrays(IMAGES, {"label": gaps}))
    with pytest.raises(ConfigError, match="kind"):
        Indexed("kinds").check(from_arrays(IMAGES, {"kind": np.arange(12) % 3}))
    Indexed().check(from_arrays(IMAGES, {"kind": np.arange(12) % 3}))
