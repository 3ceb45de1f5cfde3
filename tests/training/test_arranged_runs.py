"""Runs keep which combinations they were not shown, and are scored on them."""

import json

import numpy as np
import pytest

import unweave as uw
from unweave import runs, workflows
from unweave.cli import main
from unweave.data import DataOptions, load_data
from unweave.errors import ConfigError
from unweave.methods.beta_vae import BetaVAE
from unweave.runs.config import Machine, Train
from unweave.training.loop import training_part

RULE = "side=14,x>0.5"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Train for a few steps on what a rule leaves, with two factors correlated."""
    out = tmp_path_factory.mktemp("arranged") / "run"
    words = ["train", "beta_vae", "--data", "toy_xys", "--split", RULE, "--correlate", "x~y:0.2"]
    small = ["--steps", "4", "--batch-size", "16", "--threads", "1", "--evaluations", "1"]
    assert main([*words, *small, "--no-evaluation", "--out", str(out)]) == 0
    return out


def test_the_run_keeps_its_split_and_its_correlation(folder):
    options = json.loads((folder / "config.json").read_text())["settings"]["data_options"]
    assert options["split"] == RULE
    assert options["correlate"] == "x~y:0.2"
    data = runs.load(folder).data
    assert data.held_out.sum() == 8 * 16
    assert data.weights is not None


def test_a_run_without_either_has_the_name_it_had():
    plain = Train(method=BetaVAE(), data="toy_xys")
    again = Train(
        method=BetaVAE(), data="toy_xys", data_options=DataOptions(split="", correlate="")
    )
    other = Train(method=BetaVAE(), data="toy_xys", data_options=DataOptions(split=RULE))
    assert plain.run_name == again.run_name
    assert plain.run_name != other.run_name


@pytest.mark.parametrize("validation", [0.0, 0.2])
def test_what_is_held_out_is_in_neither_part_of_training(validation):
    data = load_data("toy_xys", DataOptions(split=RULE))
    config = Train(method=BetaVAE(), data="toy_xys", validation=validation)
    for part in training_part(config, data):
        assert not data.held_out[part.row_numbers].any()


def test_a_run_that_goes_on_is_shown_the_same(folder, tmp_path):
    whole = tmp_path / "whole"
    settings = {"method": BetaVAE(), "data": "toy_xys", "batch_size": 16, "evaluate": False}
    options = DataOptions(split=RULE, correlate="x~y:0.2")
    quiet = {"machine": Machine(threads=1, evaluations=1), "progress": False}
    first = uw.train(**settings, steps=6, out=whole, data_options=options, **quiet)
    uw.train(**settings, steps=3, out=tmp_path / "part", data_options=options, **quiet)
    second = uw.resume(tmp_path / "part", steps=6, evaluate=False, **quiet)
    for a, b in zip(first.nets.parameters(), second.nets.parameters(), strict=True):
        assert (a == b).all()


def test_a_set_in_memory_is_split_as_one_by_name(tmp_path):
    run = uw.train(
        BetaVAE(),
        load_data("toy_xys"),
        steps=1,
        batch_size=4,
        out=tmp_path / "run",
        data_options=DataOptions(split=RULE),
        machine=Machine(threads=1, evaluations=0),
        evaluate=False,
        progress=False,
    )
    assert run.data.held_out.sum() == 8 * 16
    again = runs.load(tmp_path / "run", data=load_data("toy_xys"))
    assert again.data.held_out.sum() == 8 * 16
    quiet = {"machine": Machine(threads=1, evaluations=0), "evaluate": False, "progress": False}
    further = uw.resume(tmp_path / "run", data=load_data("toy_xys"), steps=2, **quiet)
    assert further.data.held_out.sum() == 8 * 16


@pytest.mark.parametrize("part", ["train", "held_out", "correlated", "inverse"])
def test_every_part_is_scored_into_a_file_of_its_own(folder, part, capsys):
    words = ["evaluate", str(folder), "--part", part, "--preset", "fast", "--metrics", "mig"]
    assert main(words) == 0
    scores = json.loads((folder / f"scores.{part}.json").read_text())
    assert 0 <= scores["mig"]["value"] <= 1
    assert scores["reconstruction"]["value"] > 0
    assert scores["reconstruction"]["higher_is_better"] is False
    assert f"scores.{part}.json" in capsys.readouterr().out
    assert not (folder / "scores.json").exists()


def test_scores_of_a_part_are_of_its_rows(folder, monkeypatch):
    from unweave.evaluation import encode

    run = runs.load(folder)
    held_out = encode.encode_run(run, part="held_out")
    assert len(held_out.factors) == 8 * 16
    assert set(np.unique(held_out.factors[:, 2])) == {3}
    inverse = encode.encode_run(run, part="inverse").factors
    assert np.corrcoef(inverse[:, 0], inverse[:, 1])[0, 1] < -0.7
    whole = encode.encode_run(run).factors
    assert len(whole) == 1024


def test_a_part_that_there_is_not_is_a_mistake(tmp_path, capsys):
    words = ["evaluate", "--model", "math:floor", "--data", "toy_xys", "--part", "held_out"]
    assert main(words) == 2
    assert "no part of toy_xys named 'held_out'" in capsys.readouterr().err


def test_a_part_cannot_be_drawn_as_in_the_papers(folder, capsys):
    assert main(["evaluate", str(folder), "--part", "train", "--sampler", "paper"]) == 2
    assert "leave --part or --sampler out" in capsys.readouterr().err


def test_an_impossible_split_leaves_no_folder_behind(tmp_path, capsys):
    out = tmp_path / "run"
    words = ["train", "beta_vae", "--data", "toy_xys", "--split", "x>5", "--out", str(out)]
    assert main(words) == 2
    assert not out.exists()
    with pytest.raises(ConfigError, match="holds no image out"):
        workflows.train(BetaVAE(), "toy_xys", data_options=DataOptions(split="x>5"))
