"""Any images, with the labels that each of them has."""

import numpy as np
import torch

from unweave.batches import AllLabels
from unweave.data import from_arrays


def numbered(columns):
    """Return images whose first pixel is their row."""
    images = np.zeros((40, 4, 4), dtype=np.uint8)
    images[:, 0, 0] = np.arange(40)
    images[:, 1, 1] = 255
    return from_arrays(images, columns)


def rows_of(images: torch.Tensor) -> np.ndarray:
    return np.rint(images[:, 0, 0, 0].numpy() * 255).astype(int)


def test_labels_are_those_of_the_images_they_are_with_and_gaps_are_not_a_number():
    n = np.arange(40)
    data = numbered({"label_a": np.where(n % 4, n % 3, np.nan), "label_b": n % 5})
    batch = AllLabels(("label_a", "label_b")).draw(data, 40, np.random.default_rng(0))
    rows = rows_of(batch.images)
    assert sorted(rows) == list(range(40)), "those without a label are drawn as well"
    wanted = np.where(rows % 4, rows % 3, np.nan)
    np.testing.assert_array_equal(batch.labels[:, 0].numpy(), wanted)
    np.testing.assert_array_equal(batch.labels[:, 1].numpy(), rows % 5)
    assert batch.labelled == 40
    assert len(batch.unlabelled.images) == 40
    assert not torch.equal(batch.unlabelled.images, batch.images)


def test_images_follow_the_weights_of_correlated_data(toy):
    together = toy.arranged(correlate="x~y:0.05")
    batch = AllLabels(("x", "y")).draw(together, 256, np.random.default_rng(0))
    assert np.corrcoef(batch.labels.numpy().T)[0, 1] > 0.9
