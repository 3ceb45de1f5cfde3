"""Columns beside the factors: what says which rows belong together, and labels with gaps."""

import numpy as np
import pytest

from unweave.data import DataOptions, from_arrays, load_data
from unweave.errors import ConfigError, DataError

IMAGES = np.zeros((4, 8, 8), np.uint8)


def test_pairs_clips_and_times_are_no_factors():
    data = from_arrays(IMAGES, {"clip": [7, 7, 9, 9], "time": [0, 1, 0, 1], "kind": [0, 1, 0, 1]})
    assert data.factor_names == ("kind",)
    assert data.column("clip").tolist() == [0, 0, 1, 1]
    assert data.column("time", [3]).tolist() == [1]
    assert data.column("kind").tolist() == [0, 1, 0, 1]
    assert data.summary.column_sizes == {"kind": 2, "clip": 2, "time": 2}


def test_a_label_with_gaps_is_a_column_and_a_complete_one_a_factor(tmp_path):
    np.save(tmp_path / "images.npy", IMAGES)
    table = tmp_path / "labels.csv"
    table.write_text("label,label_size\nsquare,1\n,2\ndisc,1\nsquare,2\n")
    data = load_data(tmp_path / "images.npy", DataOptions(factors=str(table)))
    assert data.factor_names == ("label_size",)
    assert data.column("label").tolist() == [1, -1, 0, 1]
    assert data.columns["label"].factor.labels == ("disc", "square")


def test_a_continuous_label_marks_gaps_as_not_a_number():
    data = from_arrays(IMAGES, {"label": np.array([0.5, np.nan, 1.5, 0.25])})
    assert np.isnan(data.column("label")[1])
    assert data.column("label")[2] == 1.5


def test_a_subset_keeps_its_columns():
    data = from_arrays(IMAGES, {"pair": [0, 0, 1, 1]}).subset([1, 2])
    assert data.column("pair").tolist() == [0, 1]


def test_a_gap_in_a_factor_is_an_error_that_names_the_way_out():
    with pytest.raises(DataError, match=r"'kind' is nan in row 1.*label_kind"):
        from_arrays(IMAGES, {"kind": [0.0, np.nan, 1.0, 1.0]})


def test_an_empty_label_column_is_refused():
    with pytest.raises(DataError, match="'label' is empty in every row"):
        from_arrays(IMAGES, {"label": np.full(4, np.nan)})


def test_an_unknown_column_is_named_with_a_suggestion():
    data = from_arrays(IMAGES, {"clip": [0, 0, 1, 1]})
    with pytest.raises(ConfigError, match="clip"):
        data.column("clips")
