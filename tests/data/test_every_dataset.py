"""What holds for every set in the catalog."""

import numpy as np
import pytest
from written_sets import WRITERS

from unweave import catalog
from unweave.data import DataOptions, known_places, load_data
from unweave.errors import ConfigError, DataError, UnweaveError

EVERY = catalog.names("unweave.data")
MADE_OR_READ = ("dsprites", "shapes3d", "scream_dsprites")
"""Made on this machine unless a file is given."""
NEED_FILES = sorted(set(WRITERS) - set(MADE_OR_READ))
MADE_HERE = [name for name in EVERY if name not in WRITERS]


@pytest.fixture(params=EVERY)
def data(request, tmp_path, monkeypatch):
    if request.param in MADE_HERE:
        return load_data(request.param)
    monkeypatch.setenv("UNWEAVE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "files"
    folder.mkdir()
    path, _ = WRITERS[request.param](folder, monkeypatch)
    return load_data(f"{request.param}:{path}")


@pytest.fixture
def rows(data):
    return np.random.default_rng(0).integers(len(data), size=40)


def test_factors_lead_back_to_a_row_with_the_same_factors(data, rows):
    factors = data.factors(rows)
    found = data.rows_of(factors)
    np.testing.assert_array_equal(data.factors(found), factors)
    if data.is_grid:
        np.testing.assert_array_equal(found, rows)


def test_every_factor_takes_the_values_it_claims(data):
    table = data.factors()
    assert table.shape == (len(data), len(data.factor_names))
    discrete = [not factor.continuous for factor in data.factor_list]
    assert table.dtype == (np.int64 if all(discrete) else np.float64)
    assert np.isfinite(table).all()
    for factor, column in zip(data.factor_list, table.T, strict=True):
        if factor.continuous:
            assert len(np.unique(column)) > len(column) / 2
            continue
        assert column.min() >= 0
        assert column.max() < factor.size
        assert factor.labels is None or len(factor.labels) == factor.size
    assert data.factor_sizes == tuple(factor.size for factor in data.factor_list)


def test_images_are_floats_between_0_and_1(data, rows):
    images = data.images(rows)
    assert images.shape == (len(rows), *data.image_shape)
    assert images.dtype == np.float32
    assert images.min() >= 0
    assert images.max() <= 1
    assert images.max() > images.min()


def test_the_same_call_gives_the_same_images(data, rows):
    np.testing.assert_array_equal(data.images(rows), data.images(rows))
    first, second = (data.images(rows, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_no_rows_give_no_images(data):
    assert data.images([]).shape == (0, *data.image_shape)


def test_rows_drawn_with_a_fixed_factor_have_it(data, rng):
    factor = data.factor_list[0]
    value = data.factors([0])[0, 0]
    drawn = data.sample_rows(30, rng, {factor.name: value})
    assert (data.factors(drawn)[:, 0] == value).all()
    assert factor.continuous or len(np.unique(drawn)) > 1


def test_partitions_do_not_overlap(data):
    rows = np.concatenate([np.arange(0), *data.partitions.values()])
    assert len(np.unique(rows)) == len(rows)
    assert len(rows) in (0, len(data))


@pytest.mark.parametrize("name", EVERY)
def test_docstring_says_what_the_set_is(name):
    module = catalog.load("unweave.data", name, "data set")
    summary = catalog.summary(module)
    assert ": " in summary
    assert summary.endswith(".")
    assert module.load.__doc__


@pytest.mark.parametrize("name", NEED_FILES)
def test_a_set_that_needs_files_says_how_to_give_them(name):
    with pytest.raises(DataError, match=f"{name}:/path/to"):
        load_data(name)


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_a_missing_file_is_named(name, tmp_path):
    with pytest.raises(DataError, match=r"no such file or folder: .*nowhere"):
        load_data(f"{name}:{tmp_path / 'nowhere'}")


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_the_wrong_kind_of_file_is_refused(name, tmp_path, empty_cache):
    path = tmp_path / "file"
    path.write_bytes(b"these bytes are no data set" * 100)
    with pytest.raises(DataError, match="file"):
        load_data(f"{name}:{path}")


@pytest.mark.parametrize("name", sorted(set(MADE_HERE) - set(MADE_OR_READ)))
def test_a_set_made_here_takes_no_file(name, tmp_path):
    with pytest.raises(UnweaveError, match="takes no file"):
        load_data(f"{name}:{tmp_path}")


def test_a_mistyped_name_gets_a_suggestion():
    with pytest.raises(ConfigError, match="'dsprites'"):
        load_data("dsprite")
    with pytest.raises(ConfigError, match="'toy_xys'"):
        load_data("toy-xys")


def test_a_missing_path_is_not_taken_for_a_name(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        load_data(tmp_path / "nothing.npz")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (DataOptions(image_size=17), "image_size"),
        (DataOptions(color="rgb"), "color"),
        (DataOptions(factors="table.csv"), "factors"),
    ],
)
def test_options_a_known_set_cannot_follow_are_refused(options, word):
    with pytest.raises(ConfigError, match=word):
        load_data("toy_xys", options)


def test_a_file_that_is_neither_folder_nor_array_is_explained(tmp_path):
    path = tmp_path / "data.h5"
    path.write_bytes(b"")
    with pytest.raises(DataError, match="given as NAME:"):
        load_data(path)


def test_every_set_of_original_files_says_where_they_are_known_to_be():
    for name in WRITERS:
        places = known_places(name)
        assert all(place.address.startswith(("http://", "https://")) for place in places)
        assert all(len(place.md5) in (0, 32) for place in places)
    with pytest.raises(ConfigError, match="made on this machine"):
        known_places("toy_xys")
    with pytest.raises(ConfigError, match="Did you mean 'shapes3d'"):
        known_places("shape3d")
