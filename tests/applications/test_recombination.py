"""Combinations that training held out."""

import json

import numpy as np
import pytest

import known_models
import unweave as uw
from unweave.applications import recombination
from unweave.applications.recombination import HELD_OUT, TRAINED
from unweave.cli import main
from unweave.errors import ConfigError, DataError
from unweave.runs.wrapped import wrap

RULE = "x>0.5,side=14"
SMALL = recombination.Settings(rows=100)


@pytest.fixture(scope="module")
def split(toy):
    return toy.arranged(split=RULE)


@pytest.fixture(scope="module")
def exact(split):
    return recombination.apply(known_models.separated(split), SMALL)


def test_a_model_that_knows_the_rule_recombines(exact):
    numbers = exact.numbers
    assert numbers["share_held_out"] == pytest.approx(0.125)
    assert numbers["squared_error"][HELD_OUT] < 1e-9
    assert numbers["squared_error_of_nearest"][HELD_OUT] > 0.001
    assert np.min(numbers["r2"][HELD_OUT]["code"]) > 0.95
    assert numbers["nll"][HELD_OUT] < 0.1 * numbers["nll_of_mean_image"][HELD_OUT]


def test_composition_takes_one_factor_and_leaves_the_others(exact):
    found = exact.numbers["composition"]
    assert set(found) == {"x", "y", "side"}
    for by in found.values():
        for numbers in by.values():
            assert numbers["composed"] < 1e-9
            assert numbers["left as it was"] > 0.001


def test_a_model_that_remembers_is_told_by_its_ratio(toy, split):
    """Decodes what it has not seen to the nearest image that it has seen."""
    seen = split.images(np.flatnonzero(~split.held_out))
    flat = seen.reshape(len(seen), -1)

    def decode(codes):
        wanted = known_models.draw(toy, codes).reshape(len(codes), -1)
        away = (flat**2).sum(1)[None] - 2 * wanted @ flat.T
        return seen[away.argmin(axis=1)]

    memory = wrap(known_models.standard, split, decode=decode, name="memory")
    numbers = recombination.apply(memory, SMALL).numbers
    assert numbers["squared_error"][TRAINED] < 1e-9
    assert numbers["nll_ratio"] > 3
    assert numbers["squared_error"][HELD_OUT] > 0.001
    composed = numbers["composition"]["x"][HELD_OUT]
    assert composed["composed"] == pytest.approx(composed["decoded from itself"], rel=0.01)


def test_r2_is_in_units_of_the_whole_set():
    rng = np.random.default_rng(0)
    codes, truth = rng.standard_normal((200, 1)), rng.standard_normal((200, 1))
    found = recombination.r2_on((codes, 0 * truth), (codes, truth), np.array([4.0]))
    assert found[0] == pytest.approx(1 - (truth**2).mean() / 4, abs=1e-6)


def test_without_a_split_it_says_how_to_get_one(toy):
    model = known_models.separated(toy)
    with pytest.raises(ConfigError, match="train with --split"):
        recombination.apply(model)
    bare = wrap(
        lambda images: images.mean(axis=(2, 3)),
        uw.from_arrays(toy.images(np.arange(50)), name="bare"),
        name="bare",
    )
    with pytest.raises(DataError, match="no factors"):
        recombination.apply(bare, SMALL)


def test_an_encoder_alone_is_read(split):
    found = recombination.apply(wrap(known_models.standard, split, name="encoder"), SMALL)
    (axes,) = found.figure.axes
    heights = [bar.get_height() for bar in axes.patches]
    r2 = found.numbers["r2"]
    assert heights[: len(r2["factors"])] == pytest.approx(list(r2[TRAINED]["code"]))
    assert "nll" not in found.numbers
    assert any("has no decoder" in caveat for caveat in found.caveats)


def test_the_command_takes_the_split_of_the_run(tmp_path, capsys):
    out = tmp_path / "run"
    small = ["--steps", "2", "--batch-size", "8", "--evaluations", "1", "--threads", "1"]
    words = ["train", "vae", "--data", "toy_xys", "--split", RULE, *small, "--no-evaluation"]
    assert main([*words, "--method.latent-dim", "3", "--out", str(out)]) == 0
    assert main(["apply", "recombination", str(out), "--rows", "40"]) == 0
    assert "held out" in capsys.readouterr().out
    content = json.loads((out / "applications/recombination.json").read_text())
    assert content["numbers"]["share_held_out"] == pytest.approx(0.125)
