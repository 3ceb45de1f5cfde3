"""What a method says that lacks something, and that a table as it shows is enough for it."""

import numpy as np
import pytest

from unweave import catalog
from unweave.cli._output import facts_of_method
from unweave.data import from_arrays
from unweave.errors import DataError
from unweave.methods import method_named

ROWS = np.arange(96)
IMAGES = np.random.default_rng(0).integers(0, 256, size=(96, 8, 8), dtype=np.uint8)
FILLED = {
    "label": np.where(ROWS % 2, np.array(["cat", "dog", "owl"])[ROWS % 3], ""),
    "pair": ROWS // 2,
    "group": ROWS % 6,
    "clip": ROWS // 24,
    "time": ROWS % 24,
    "segment": ROWS % 4,
    "azimuth": ROWS // 8,
    "light": ROWS % 8,
}
"""Columns as a user would fill them, labels with gaps."""
ALONE = ("images alone", "features of a frozen network")
NEEDY = [
    name
    for name in catalog.own_names("unweave.methods")
    if facts_of_method(name)["heading"] not in ALONE and name != "ground_truth"
]


def batch_of(name: str, columns: dict | None):
    """Return a batch of a method, if data with such columns give it one."""
    data = from_arrays(IMAGES, columns, name="photos")
    supervision = method_named(name)().settled(100, data).supervision
    supervision.check(data)
    return supervision.at(0).draw(data, 16, np.random.default_rng(0))


@pytest.mark.parametrize("name", NEEDY)
def test_a_table_as_the_message_shows_it_is_enough(name):
    with pytest.raises(DataError) as raised:
        batch_of(name, None)
    sentence, head, line = str(raised.value).splitlines()
    assert sentence.startswith("photos has ")
    assert sentence.endswith("(--factors table.csv):")
    file, *columns = head.strip().split(",")
    assert file == "file"
    assert len(line.strip().partition("   (")[0].split(",")) == 1 + len(columns)
    batch = batch_of(name, {column: FILLED[column] for column in columns})
    assert len(batch.images) > 0
