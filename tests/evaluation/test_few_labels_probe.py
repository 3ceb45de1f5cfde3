"""M1: classifiers that learn from a few labels and from nothing else."""

import json

import numpy as np
import pytest

from unweave.cli import main
from unweave.data import load_data
from unweave.errors import ConfigError, DataError
from unweave.evaluation import few_labels
from unweave.evaluation.few_labels import CLASSIFIERS, accuracy, draw_labelled, probe_few_labels
from unweave.methods.pixels import Pixels
from unweave.methods.vae import VAE
from unweave.runs.config import Machine, Train
from unweave.training import loop


@pytest.fixture(scope="module")
def shapes():
    return load_data("toy_shapes")


@pytest.fixture(scope="module")
def identity(shapes, tmp_path_factory):
    """Return a run whose codes are the pixels."""
    config = Train(method=Pixels(side=32), data="toy_shapes", steps=1)
    folder = tmp_path_factory.mktemp("identity") / "run"
    return loop.start(config, shapes, folder, Machine(evaluations=0))


def test_of_an_identity_the_codes_are_named_as_the_pixels_are(identity):
    found = probe_few_labels(identity, 12, "shape", draws=2, rows=100)
    assert found.codes == found.pixels
    assert set(found.codes) == set(CLASSIFIERS)
    assert all(len(of) == 2 for of in found.codes.values())
    assert found.judged == 88
    assert found.chance == pytest.approx(1 / 3, abs=0.12)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_what_tells_the_class_is_found_and_noise_is_not(classifier):
    rng = np.random.default_rng(0)
    classes = rng.integers(3, size=400)
    told = draw_labelled(classes, 60, rng)
    telling = np.eye(3)[classes] + 0.1 * rng.standard_normal((400, 3))
    assert accuracy(telling, classes, told, classifier) > 0.95
    assert accuracy(rng.standard_normal((400, 3)), classes, told, classifier) < 0.5


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_labels_of_the_other_images_and_their_codes_change_nothing(classifier, monkeypatch):
    """Neither scaling nor any choice sees the images that are judged."""
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=100)
    table = rng.standard_normal((100, 3)) + classes[:, None]
    told = draw_labelled(classes, 20, rng)
    others = np.setdiff1d(np.arange(100), told)
    seen = []

    class Spied:
        def __init__(self, model):
            self.model = model

        def fit(self, x, y):
            seen.append((x.copy(), y.copy()))
            return self.model.fit(x, y)

    maker = few_labels.MAKERS[classifier]
    monkeypatch.setitem(few_labels.MAKERS, classifier, lambda of: Spied(maker(of)))
    accuracy(table, classes, told, classifier)
    table[others] *= 1000
    accuracy(table, np.where(np.isin(np.arange(100), told), classes, 1 - classes), told, classifier)
    (first, first_classes), (second, second_classes) = seen
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first_classes, second_classes)
    assert len(first) == 20


def test_labels_are_drawn_evenly_from_the_classes_as_far_as_there_are():
    classes = np.repeat([0, 1, 2], [100, 100, 4])
    told = draw_labelled(classes, 30, np.random.default_rng(0))
    assert np.bincount(classes[told]).tolist() == [13, 13, 4]
    assert len(np.unique(told)) == 30
    other = draw_labelled(classes, 30, np.random.default_rng(1))
    assert not np.array_equal(told, other)


def test_one_label_of_a_class_leaves_nothing_to_validate_by_and_still_names():
    classes = np.array([0, 1, 0, 1, 0, 1])
    table = classes[:, None] * 5.0 + np.arange(6)[:, None] * 0.01
    for classifier in CLASSIFIERS:
        assert accuracy(table, classes, np.array([0, 1]), classifier) == 1
    assert accuracy(table, classes, np.array([0, 2]), "svm") == 0.25, "one class told, of 4 one"


def test_too_few_labels_or_images_are_refused(identity):
    with pytest.raises(ConfigError, match="2 labels and 1 draw of them or more, found 1 and 5"):
        probe_few_labels(identity, 1)
    with pytest.raises(DataError, match="a probe with 5000 labels needs more images"):
        probe_few_labels(identity, 5000)


def test_the_command_shows_codes_beside_pixels_and_keeps_them(shapes, tmp_path, capsys):
    config = Train(method=VAE(latent_dim=3), data="toy_shapes", steps=2, batch_size=8)
    loop.start(config, shapes, tmp_path / "run", Machine(evaluations=0))
    few = ["evaluate", str(tmp_path / "run"), "--probe", "labels=10,column=side,draws=1"]
    assert main(few) == 0
    out = capsys.readouterr().out
    for word in ("logistic", "svm", "neighbours", "of codes", "of pixels", "chance 0.2"):
        assert word in out
    kept = json.loads((tmp_path / "run" / "probe.10_labels.json").read_text())
    assert kept["column"] == "side"
    assert len(kept["codes"]["svm"]) == 1
    assert main([*few[:3], "labels=many"]) == 2
    assert "--probe labels expects a whole number, found 'many'" in capsys.readouterr().err
    assert main([*few[:3], "label=20"]) == 2
    assert "setting of --probe" in capsys.readouterr().err
    assert main(["evaluate", "--codes", "x.npy", "--probe", "labels=9"]) == 2
