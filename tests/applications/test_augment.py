"""Copies of labelled images in which nuisance is drawn anew."""

import json

import numpy as np
import pytest

import known_models
from unweave.applications import augment
from unweave.cli import main
from unweave.errors import ConfigError, DataError
from unweave.runs.wrapped import wrap

SMALL = {"target": "side", "labels": 20, "copies": 15, "draws": 2, "judged": 200, "pool": 400}


@pytest.fixture(scope="module")
def applied(toy):
    return augment.apply(known_models.separated(toy), augment.Settings(**SMALL))


def mean(applied, name):
    return float(np.mean(applied.numbers["accuracy"][name]))


def test_nuisance_drawn_anew_helps_and_everything_drawn_anew_hurts(applied):
    alone = mean(applied, augment.NONE)
    assert mean(applied, augment.NUISANCE) > alone + 0.03
    assert mean(applied, augment.ALL) < alone
    assert mean(applied, augment.ALL) < applied.numbers["chance"] + 0.15
    assert applied.numbers["kept"] == [2]


def test_copies_that_are_only_decoded_add_nothing(applied):
    assert mean(applied, augment.DECODED) == pytest.approx(mean(applied, augment.NONE), abs=0.12)


def test_copies_keep_the_target_and_change_the_rest(toy):
    rng = np.random.default_rng(0)
    codes = known_models.standard(toy.images(np.arange(0, 1024, 100)))
    others = known_models.standard(toy.images(np.arange(1024)))
    made = augment.resampled(codes, others, [0, 1, 3], 5, rng)
    assert np.array_equal(made[:, 2], np.repeat(codes[:, 2], 5))
    assert (made[:, 0] != np.repeat(codes[:, 0], 5)).mean() > 0.8


def test_shifted_copies_move_the_square_and_nothing_else(toy):
    images = toy.images(toy.rows_of([[7, 7, 0]]))
    made = augment.shifted(images, 2, 40, np.random.default_rng(0))
    found = known_models.read_factors(made)
    assert set(found[:, 0]) <= {5, 6, 7, 8, 9}
    assert len(set(found[:, 0])) > 2
    assert set(found[:, 2]) == {0}


def test_labelled_images_are_of_every_class():
    classes = np.array([0] * 90 + [1] * 6 + [2] * 4)
    chosen = augment._some_of_each(classes, 9, np.random.default_rng(0))
    assert np.bincount(classes[chosen]).tolist() == [3, 3, 3]


def test_what_cannot_be_done_is_refused(toy):
    with pytest.raises(ConfigError, match="has no decoder"):
        augment.apply(wrap(known_models.standard, toy, name="encoder"))
    model = known_models.separated(toy)
    with pytest.raises(DataError, match="images to learn from"):
        augment.apply(model, augment.Settings(labels=600, judged=10))
    with pytest.raises(ConfigError, match="copies must be 1"):
        augment.apply(model, augment.Settings(copies=0))


def test_the_command_writes_what_it_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "augmenting_squares.py").write_text(
        "import known_models\nfrom unweave.data import load_data\n"
        "toy = load_data('toy_xys')\n"
        "class Exact:\n"
        "    def encode(self, images):\n        return known_models.standard(images)\n"
        "    def decode(self, codes):\n        return known_models.draw(toy, codes)\n"
    )
    words = ["apply", "augment", "--model", "augmenting_squares:Exact", "--data", "toy_xys"]
    few = ["--labels", "8", "--copies", "2", "--draws", "1", "--judged", "50", "--pool", "100"]
    assert main([*words, *few, "--target", "side"]) == 0
    assert json.loads((tmp_path / "applications/augment.json").read_text())["numbers"]["gain"]
    assert (tmp_path / "applications/augment.png").is_file()
