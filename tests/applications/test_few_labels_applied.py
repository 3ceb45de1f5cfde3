"""Few labels: curves of a code beside those of pixels and of nothing."""

import json

import numpy as np
import pytest

import known_models
from unweave.applications import few_labels
from unweave.cli import main
from unweave.data import load_data
from unweave.errors import ConfigError, DataError
from unweave.runs.wrapped import wrap

SMALL = few_labels.Settings(labels=(10, 30, 100), draws=3, judged=200)


@pytest.fixture(scope="module")
def applied(toy):
    return few_labels.apply(known_models.separated(toy), SMALL)


def mean(applied, given, size, kind="r2"):
    return float(np.mean(applied.numbers[kind][given][size]))


def test_a_code_that_is_the_factors_needs_fewer_labels_than_pixels(applied):
    assert mean(applied, "the code", 30) > 0.95
    assert mean(applied, "the code", 30) >= mean(applied, "pixels", 100)
    assert mean(applied, "the factors themselves", 30) > 0.95


def test_shuffled_rows_tell_nothing_and_more_labels_help_pixels(applied):
    assert abs(mean(applied, "the code, rows shuffled", 100)) < 0.15
    assert mean(applied, "pixels", 100) > mean(applied, "pixels", 10)


def test_labels_that_are_judged_on_are_never_learnt_from(toy):
    """A code that is a different number for each image is of no use for others."""
    ids = {image.tobytes(): i for i, image in enumerate(toy.images(np.arange(len(toy))))}

    def encode(images):
        rng_of = [np.random.default_rng(ids[image.tobytes()]) for image in images]
        return np.stack([rng.standard_normal(40) for rng in rng_of])

    found = few_labels.apply(wrap(encode, toy, name="ids"), SMALL)
    assert mean(found, "the code", 100) < 0.2


def test_classes_are_read_with_chance_beside_them():
    shapes = load_data("toy_shapes")
    model = wrap(lambda images: images.mean(axis=(2, 3)), shapes, name="mean")
    found = few_labels.apply(model, few_labels.Settings(labels=(30,), draws=1, judged=300))
    assert found.numbers["classes"] == ["shape"]
    assert found.numbers["chance"] == pytest.approx(1 / 3, abs=0.08)
    assert mean(found, "the factors themselves", 30, "accuracy") > 0.95
    assert f"chance {found.numbers['chance']:.3f}" in found.tables[1].title
    assert found.numbers["images_judged"] == 300


def test_sizes_that_the_data_do_not_have_are_left_out_and_too_large_ones_refused(toy):
    model = known_models.separated(toy)
    found = few_labels.apply(model, few_labels.Settings(labels=(30, 5000), draws=1, judged=100))
    assert found.numbers["labels"] == [30]
    with pytest.raises(DataError, match="images to label"):
        few_labels.apply(model, few_labels.Settings(labels=(5000,), draws=1))
    with pytest.raises(ConfigError, match="from 2 on"):
        few_labels.apply(model, few_labels.Settings(labels=(1,)))


def test_the_command_compares_with_untrained_networks(tiny_run, tmp_path, capsys):
    words = ["apply", "few-labels", str(tiny_run("vae").path), "--out", str(tmp_path)]
    assert main([*words, "--labels", "10", "30", "--draws", "1", "--judged", "50"]) == 0
    assert "untrained" in capsys.readouterr().out
    content = json.loads((tmp_path / "few_labels.json").read_text())
    assert content["numbers"]["labels"] == [10, 30]
    assert (tmp_path / "few_labels.png").is_file()
