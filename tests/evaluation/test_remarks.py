"""What is said with a score that no metric sees by itself."""

import json

import numpy as np
import pytest

from unweave.cli import main
from unweave.evaluation.score import score

ROWS = 600


@pytest.fixture
def dependent(tmp_path, monkeypatch):
    """Tables of two factors of which one is mostly the other, and codes that are both."""
    rng = np.random.default_rng(0)
    first = rng.integers(4, size=ROWS)
    second = np.where(rng.random(ROWS) < 0.6, first, rng.integers(4, size=ROWS))
    monkeypatch.chdir(tmp_path)
    lines = [f"{a},{b}" for a, b in zip(first, second, strict=True)]
    for name, header in (("codes.csv", "z0,z1"), ("factors.csv", "place,size")):
        (tmp_path / name).write_text("\n".join([header, *lines]), encoding="utf-8")
    return tmp_path


def test_the_command_says_and_keeps_that_factors_depend_on_each_other(dependent, capsys):
    words = "evaluate --codes codes.csv --factors factors.csv --metrics mig,dmig"
    assert main(words.split()) == 0
    out = capsys.readouterr().out
    assert out.count("factors depend on each other") == 1
    assert "note on mig, dmig: factors depend" in out
    assert "size and place 0." in out
    kept = json.loads((dependent / "scores.json").read_text())
    for name in ("mig", "dmig"):
        assert any("factors depend on each other" in note for note in kept[name]["notes"])
    assert kept["mig"]["value"] < 0.9 < kept["dmig"]["value"]


def test_independent_factors_and_metrics_of_codes_alone_get_no_note():
    rng = np.random.default_rng(1)
    factors = rng.integers(4, size=(ROWS, 2))
    assert not score(factors + 0.0, factors, ["mig"])["mig"].notes
    dependent = np.stack([factors[:, 0], factors[:, 0]], axis=1)
    codes = factors + 0.1 * rng.standard_normal(factors.shape)
    found = score(codes, dependent, ["mig", "gaussian_total_correlation"])
    assert found["mig"].notes
    assert not found["gaussian_total_correlation"].notes


def test_dead_codes_that_lower_modularity_are_counted():
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(ROWS, 5))
    codes = np.concatenate([factors + 0.0, np.zeros((ROWS, 2))], axis=1)
    found = score(codes, factors, ["modularity"])["modularity"]
    assert found.value < 0.72
    whole = score(factors + 0.0, factors, ["modularity"])["modularity"]
    told = f"the mean over the others is {whole.value:.3f}"
    assert [told in note for note in found.remarks] == [True]
    assert found.remarks[0].startswith("2 of 7 codes know nothing of any factor (each counts 0")
    assert not whole.remarks
    other = score(codes, factors, ["modularity"], protocol="ridgeway2018")["modularity"]
    assert other.value == pytest.approx(whole.value, abs=0.01)
    assert not any("counts 0" in note for note in other.remarks)


@pytest.mark.parametrize("called", ["shape", "form"])
def test_sap_of_lin2020_says_when_no_factor_is_called_shape(called):
    rng = np.random.default_rng(0)
    factors = rng.integers(3, size=(ROWS, 2))
    codes = factors + 0.1 * rng.standard_normal(factors.shape)
    found = score(codes, factors, ["sap"], protocol="lin2020", factor_names=[called, "x"])["sap"]
    assert any("no factor is called 'shape'" in note for note in found.notes) == (called != "shape")
