"""M1+M2 on codes of any model: what the codes of images without a label are good for."""

import json

import numpy as np
import pytest
import torch

import known_models
from unweave.cli import main
from unweave.data import load_data
from unweave.evaluation import stacked
from unweave.evaluation.few_labels import CLASSIFIERS, accuracy, draw_labelled
from unweave.evaluation.stacked import gaussian_codes, probe_with_stack, stacked_accuracy
from unweave.methods.vae import VAE
from unweave.runs.config import Machine, Train
from unweave.runs.wrapped import wrap
from unweave.training import loop

QUICK = 300


def clusters(seed: int = 0):
    """Return codes whose three classes lie apart, among four numbers that say nothing."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=600)
    apart = 3 * np.eye(3)[classes] + 0.7 * rng.standard_normal((600, 3))
    codes = np.concatenate([apart, rng.standard_normal((600, 4))], axis=1).astype(np.float32)
    return codes, np.full_like(codes, -20.0), classes, draw_labelled(classes, 6, rng)


def test_codes_without_labels_tell_classes_that_lie_apart_where_labels_are_too_few():
    codes, logvar, classes, told = clusters()
    assert stacked_accuracy(codes, logvar, classes, told, steps=QUICK) > 0.97
    assert max(accuracy(codes, classes, told, c) for c in CLASSIFIERS) < 0.9


def test_codes_that_say_nothing_of_the_class_are_named_by_chance():
    codes, logvar, classes, told = clusters()
    codes = codes[np.random.default_rng(1).permutation(len(codes))]
    assert stacked_accuracy(codes, logvar, classes, told, steps=QUICK) < 0.45


def test_classes_of_the_other_images_change_nothing(monkeypatch):
    codes, logvar, classes, told = clusters()
    trained, train = [], stacked.second_stage

    def spied(*given):
        trained.append(train(*given))
        return trained[-1]

    monkeypatch.setattr(stacked, "second_stage", spied)
    right = stacked_accuracy(codes, logvar, classes, told, steps=5)
    others = np.setdiff1d(np.arange(len(classes)), told)
    wrong = classes.copy()
    wrong[others] = (wrong[others] + 1) % 3
    stacked_accuracy(codes, logvar, wrong, told, steps=5)
    first, second = (nets.state_dict() for nets in trained)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert 0 < right < 1


def test_the_class_of_a_single_value_told_is_named_everywhere():
    codes, logvar, classes, _ = clusters()
    told = np.flatnonzero(classes == 1)[:2]
    assert stacked_accuracy(codes, logvar, classes, told) == pytest.approx(
        (np.delete(classes, told) == 1).mean()
    )


def test_codes_are_drawn_where_there_is_a_posterior(toy):
    rows = np.arange(0, len(toy), 50)
    mean, logvar = gaussian_codes(known_models.separated(toy), rows)
    np.testing.assert_allclose(mean, known_models.standard(toy.images(rows)))
    assert np.unique(logvar, axis=0).tolist() == [[-4.0, -3.0, -2.0, 0.0]]
    _, logvar = gaussian_codes(known_models.entangled(toy), rows)
    assert (logvar == -20).all()


def test_of_a_model_with_a_latent_for_the_side_it_is_named(toy, monkeypatch):
    monkeypatch.setattr(stacked, "STEPS", QUICK)
    settings = {"labels": 40, "column": "side", "draws": 2, "rows": 400}
    found = probe_with_stack(known_models.separated(toy, posterior=None), **settings)
    assert len(found.codes["m1_m2"]) == 2
    assert min(found.codes["m1_m2"]) > 0.8
    assert set(found.pixels) == set(CLASSIFIERS), "what the first stage is there to replace"

    def blind(images: np.ndarray) -> np.ndarray:
        return known_models.standard(images)[:, :2]

    found = probe_with_stack(wrap(blind, toy, name="blind"), **settings)
    assert max(found.codes["m1_m2"]) < 0.5


def test_the_command_shows_and_keeps_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(stacked, "STEPS", 5)
    config = Train(method=VAE(latent_dim=3), data="toy_shapes", steps=2, batch_size=8)
    loop.start(config, load_data("toy_shapes"), tmp_path / "run", Machine(evaluations=0))
    assert main(["evaluate", str(tmp_path / "run"), "--probe", "labels=9,draws=1"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "m1_m2" in line]
    assert "–" in line
    kept = json.loads((tmp_path / "run" / "probe.9_labels.json").read_text())
    assert len(kept["codes"]["m1_m2"]) == 1
    assert "m1_m2" not in kept["pixels"]
