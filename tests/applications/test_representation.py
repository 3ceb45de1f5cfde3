"""Four criteria of a representation, by codes of which the answers are known."""

import json

import numpy as np
import pytest

import known_models
from unweave.applications import representation
from unweave.cli import main
from unweave.errors import ConfigError
from unweave.runs.wrapped import wrap

SMALL = {"rows": 1024, "task": "side", "nuisance": "x"}


def test_information_is_what_it_is_where_it_is_known():
    rng = np.random.default_rng(0)
    classes = rng.integers(4, size=2000)
    same = classes[:, None] + 0.0
    assert representation.information_of(same, classes) == pytest.approx(np.log(4), abs=0.05)
    half = (classes // 2)[:, None] + 0.0
    assert representation.information_of(half, classes) == pytest.approx(np.log(2), abs=0.05)
    noise = rng.standard_normal((2000, 3))
    assert representation.information_of(noise, classes) < 0.05
    assert representation.entropy(classes) == pytest.approx(np.log(4), abs=0.01)


def test_a_code_of_the_task_alone_is_sufficient_and_invariant(toy):
    only = wrap(lambda images: known_models.standard(images)[:, 2:], toy, name="side alone")
    numbers = representation.apply(only, representation.Settings(**SMALL)).numbers
    own = numbers["information"]["the code"]
    assert own["task"] > 0.9 * numbers["entropy_of_task"]
    assert own["nuisance"] < 0.1
    both = representation.apply(known_models.separated(toy), representation.Settings(**SMALL))
    found = both.numbers["information"]
    assert found["the code"]["nuisance"] > 1.0
    assert found["the code, rows shuffled"]["task"] < 0.1
    assert found["pixels"]["task"] > 0.5


def test_rate_and_total_correlation_are_those_of_the_posterior(toy):
    """Four independent Gaussians of known width: information is that of their channels."""
    model = known_models.separated(toy)
    numbers = representation.apply(model, representation.Settings(**SMALL)).numbers
    rate = numbers["rate"]
    assert 0 < rate["i_xz"] <= rate["kl"]
    assert rate["i_xz"] < numbers["most_that_can_be_seen"]
    assert abs(rate["tc"]) < 0.3
    bound = rate["i_xz"] - numbers["entropy_of_task"]
    assert numbers["bound_of_nuisance"] == pytest.approx(bound)
    own = numbers["information"]["the code"]["nuisance"]
    assert own <= numbers["bound_of_nuisance"], "the theorem holds on a sufficient code"


def test_codes_without_noise_have_no_finite_rate(toy):
    model = wrap(known_models.standard, toy, name="plain")
    found = representation.apply(model, representation.Settings(**SMALL))
    assert found.numbers["rate"]["i_xz"] is None
    assert "no noise" in found.paragraph


def test_codes_that_repeat_each_other_have_total_correlation(toy):
    def encode(images):
        codes = known_models.standard(images)
        noise = 0.1 * codes[:, [1]]
        return np.concatenate([codes[:, [0]], codes[:, [0]] + noise], axis=1)

    found = representation.apply(wrap(encode, toy, name="twice"), representation.Settings(**SMALL))
    assert found.numbers["rate"]["tc"] > 1


def test_an_insufficient_code_is_said_to_be_one(toy):
    model = wrap(lambda images: known_models.standard(images)[:, :2], toy, name="blind")
    found = representation.apply(model, representation.Settings(**SMALL))
    assert "not known to be sufficient" in found.paragraph


def test_the_command_and_its_mistakes(tiny_run, tmp_path, capsys):
    words = ["apply", "representation", str(tiny_run("vae").path), "--out", str(tmp_path)]
    assert main([*words, "--rows", "120"]) == 0
    assert "Four criteria" in capsys.readouterr().out
    content = json.loads((tmp_path / "representation.json").read_text())
    assert content["numbers"]["rate"]["kl"] is not None
    both = representation.Settings(task="x", nuisance="x")
    with pytest.raises(ConfigError, match="both the task and the nuisance"):
        representation.apply(tiny_run("vae"), both)
    with pytest.raises(ConfigError, match="80 rows"):
        representation.apply(tiny_run("vae"), representation.Settings(rows=10))
