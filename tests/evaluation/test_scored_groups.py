"""Several codes that form one concept, scored by all metrics that know of them."""

import json

import numpy as np
import pytest

import unweave as uw
from unweave import metrics
from unweave.cli import main
from unweave.errors import ConfigError, DataError
from unweave.evaluation.plan import GROUPED, takes_groups
from unweave.evaluation.score import score

ROWS = 700


@pytest.fixture(scope="module")
def vectors():
    """Three concepts of three codes: two hold a factor in directions of their own, one noise."""
    rng = np.random.default_rng(3)
    factors = np.stack([rng.integers(4, size=ROWS), rng.integers(5, size=ROWS)], axis=1)
    parts = [np.outer(factors[:, k], rng.standard_normal(3)) for k in range(2)]
    parts.append(rng.standard_normal((ROWS, 3)))
    return np.concatenate(parts, axis=1) + 0.4 * rng.standard_normal((ROWS, 9)), factors


def test_the_metrics_that_know_of_groups_are_made_and_are_those_of_the_functions(vectors):
    codes, factors = vectors
    found = score(codes, factors, groups=3, components=1, preset="fast")
    assert set(found) == set(GROUPED) == {n for n in uw.metrics.__all__ if _takes_groups(n)}
    assert not found.reasons
    alone = metrics.mig(codes, factors, groups=3, components=1)
    assert found["mig"].value == alone.value
    assert found["mig"].value > score(codes, factors, ["mig"], preset="fast")["mig"].value + 0.1
    for result in found.values():
        assert (result.made.codes, result.made.concepts, result.made.components) == (9, 3, 1)
        assert "3 concepts of 1 principal component," in str(result.made)
    assert found.rows()[0]["concepts"] == 3
    assert "3 concepts" in found.rows()[0]["protocol"]


def _takes_groups(name):
    return name in uw.catalog.own_names("unweave.metrics") and takes_groups(name)


def test_others_say_why_they_are_not_made(vectors):
    codes, factors = vectors
    found = score(codes, factors, ["mig", "sap"], groups=3, preset="fast")
    assert list(found) == ["mig"]
    assert "sap knows no groups of codes; dci, factor_vae_score, mig do" in found.reasons["sap"]
    with pytest.raises(DataError, match="cannot be divided into groups of 4"):
        score(codes, factors, groups=4)
    with pytest.raises(ConfigError, match="say groups as well"):
        score(codes, factors, components=2)


def test_groups_have_nulls_of_their_own(vectors):
    codes, factors = vectors
    result = score(codes, factors, ["mig"], groups=3, components=1, nulls=2, preset="fast")["mig"]
    assert [len(result.nulls[null]) for null in ("rotated", "shuffled")] == [2, 2]
    assert max(result.nulls["shuffled"]) < 0.1
    assert result.above("rotated")


def test_the_command_takes_groups_and_keeps_what_they_were(vectors, tmp_path, monkeypatch, capsys):
    codes, factors = vectors
    monkeypatch.chdir(tmp_path)
    np.save("codes.npy", codes)
    np.save("factors.npy", factors)
    words = "evaluate --codes codes.npy --factors factors.npy --components 1 --groups"
    kept = []
    for groups in ("3", "a,a,a,b,b,b,c,c,c"):
        assert main([*words.split(), groups, "--nulls", "1"]) == 0
        kept.append(json.loads((tmp_path / "scores.json").read_text()))
        assert "3 concepts" in capsys.readouterr().out
    assert {name: entry["value"] for name, entry in kept[0].items()} == {
        name: entry["value"] for name, entry in kept[1].items()
    }
    assert set(kept[0]) == set(GROUPED)
    assert kept[0]["mig"]["made"]["concepts"] == 3
    assert set(kept[0]["mig"]["nulls"]) == {"rotated", "shuffled"}
    for wrong, told in (("x", "--groups expects a number of codes"), ("0,1", "2 of 9 codes")):
        assert main([*words.split(), wrong]) == 2
        assert told in capsys.readouterr().err


def test_a_wrapped_model_is_scored_by_concepts(toy):
    model = uw.wrap(lambda images: images[:, 0, ::8, 3], toy)
    found = uw.evaluate(model, ["mig"], groups=2, preset="fast")["mig"]
    assert found.made.concepts == 2
    with pytest.raises(ConfigError, match="leave out sampler"):
        uw.evaluate(model, groups=2, sampler="paper")
