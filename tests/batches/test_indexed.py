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


def test_of_many_images_some_are_chosen_once_and_numbered_from_0():
    data = from_arrays(IMAGES, {"kind": np.arange(12) % 3})
    some, rng = Indexed("kind", most=5), np.random.default_rng(0)
    shown: dict[int, set[int]] = {}
    for _ in range(20):
        batch = some.draw(data, 4, rng)
        assert batch.classes.tolist() == [row % 3 for row in rows_seen(batch)]
        for number, row in zip(batch.rows.tolist(), rows_seen(batch), strict=True):
            shown.setdefault(number, set()).add(row)
    assert sorted(shown) == list(range(some.table_rows(len(data)))) == list(range(5))
    assert all(len(rows) == 1 for rows in shown.values())


@pytest.mark.parametrize("most", [1, 8, 9, 10, 12, 0])
def test_numbers_of_a_part_fit_the_table_of_the_whole(most):
    data = from_arrays(IMAGES, {"kind": np.arange(12) % 3})
    part, _ = data.split(0.25, seed=1, keep_numbers=True)
    some = Indexed("kind", most=most)
    batch = some.draw(part, min(len(part), most or 12), np.random.default_rng(0))
    assert batch.rows.max() < some.table_rows(len(data))
    assert len(set(batch.rows.tolist())) == len(batch.rows)


def test_chosen_images_are_drawn_by_their_weights():
    data = from_arrays(IMAGES, {"kind": np.arange(12) % 3})
    chosen = {
        row
        for _ in range(20)
        for row in rows_seen(Indexed("kind", most=6).draw(data, 6, np.random.default_rng(0)))
    }
    data.weights = np.isin(np.arange(12), [min(chosen)]).astype(float)
    batch = Indexed("kind", most=6).draw(data, 6, np.random.default_rng(1))
    assert set(rows_seen(batch)) == {min(chosen)}
