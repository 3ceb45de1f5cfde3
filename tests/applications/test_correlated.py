"""Trained on correlated factors, judged on independent ones."""

import json

import numpy as np
import pytest

import known_models
from unweave.applications import correlated
from unweave.cli import main
from unweave.errors import ConfigError
from unweave.runs.wrapped import wrap

SMALL = correlated.Settings(rows=1000, labels=(10, 100), draws=2)


@pytest.fixture(scope="module")
def together(toy):
    return toy.arranged(correlate="x~y:0.1")


def mixing(together):
    """A code whose latents are x + y and x − y, as those trained on correlated factors are."""
    return wrap(known_models.entangled(together).encode, together, name="mixing")


def test_a_separated_code_keeps_the_pair_apart(together):
    numbers = correlated.apply(known_models.separated(together), SMALL).numbers
    assert set(numbers["pair"]) == {"x", "y"}
    assert numbers["of_the_pair"] < 0.1
    assert numbers["scores"]["mig"]["all"] > 0.9
    assert numbers["scores"]["mig"]["correlated"] < numbers["scores"]["mig"]["all"] - 0.2


def test_a_mixed_code_is_entangled_in_the_pair_and_labels_undo_it(together):
    numbers = correlated.apply(mixing(together), SMALL).numbers
    assert numbers["of_the_pair"] > 3 * numbers["chance"]
    assert numbers["of_the_pair"] > numbers["of_other_pairs"] + 0.1
    assert np.mean(numbers["undone"][100]) < 0.5 * numbers["of_the_pair"]


def test_the_strength_of_a_pair_is_that_of_training(together, toy):
    found = correlated.correlated_pairs(together)
    assert found[0, 1] > 0.8
    assert abs(found[0, 2]) < 0.05
    turned = correlated.correlated_pairs(toy.arranged(correlate="x~-y:0.1"))
    assert turned[0, 1] < -0.8


def test_knowledge_is_of_the_best_code_of_the_first_factor():
    shares = np.array([[0.9, 0.1], [0.4, 0.8]])  # (factor, code)
    assert correlated.cross_knowledge(shares).tolist() == [[0.9, 0.4], [0.1, 0.8]]


def test_independent_factors_have_nothing_to_undo(toy):
    with pytest.raises(ConfigError, match="train with --correlate"):
        correlated.apply(known_models.separated(toy))


def test_the_command_takes_the_correlation_of_the_run(tmp_path, capsys):
    out = tmp_path / "run"
    small = ["--steps", "2", "--batch-size", "8", "--evaluations", "1", "--threads", "1"]
    words = ["train", "vae", "--data", "toy_xys", "--correlate", "x~y:0.1", *small]
    assert main([*words, "--method.latent-dim", "3", "--no-evaluation", "--out", str(out)]) == 0
    assert main(["apply", "correlated", str(out), "--rows", "100", "--draws", "1"]) == 0
    assert "turned around" in capsys.readouterr().out
    content = json.loads((out / "applications/correlated.json").read_text())
    assert set(content["numbers"]["pair"]) == {"x", "y"}
    assert (out / "applications/correlated.png").is_file()
