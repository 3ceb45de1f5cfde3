"""Scores as tables that people paste."""

import sys

import numpy as np
import pytest

from unweave.errors import ConfigError
from unweave.evaluation.score import score


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(400, 2))
    codes = factors + 0.1 * rng.standard_normal((400, 2))
    return score(codes, factors, ["mig", "dci", "kl_decomposition"], preset="fast")


def test_frames_have_a_row_for_each_score_and_part(scores):
    frame = scores.to_frame()
    assert list(frame["metric"]) == ["mig", "dci", "dci", "dci", "dci", "kl_decomposition"]
    assert list(frame["part"]) == ["", "", "D", "C", "I", ""]
    assert frame["value"][0] == scores["mig"].value
    assert frame["value"][3] == scores["dci"].parts["C"]
    assert np.isnan(frame["value"][5])
    assert "not scored" in frame["notes"][5]


def test_without_pandas_the_message_says_what_to_do(scores, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="pip install pandas"):
        scores.to_frame()


def test_markdown_has_a_line_for_each_row_and_as_many_cells(scores):
    lines = scores.to_markdown().splitlines()
    assert len(lines) == 2 + 6
    assert {line.count("|") for line in lines} == {6}
    assert f"{scores['dci'].parts['I']:.4f}" in lines[6]


def test_latex_escapes_names_and_keeps_notes_as_comments(scores):
    text = scores.to_latex()
    assert r"mig $\uparrow$ & " in text
    assert r"kl\_decomposition &  & -- \\" in text
    table, comments = text.split("\\end{tabular}\n")
    assert all(line.startswith("% ") for line in comments.splitlines())
    for line in table.splitlines():
        assert line.startswith("\\") or line.count("&") == 2
