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
    return score(codes, factors, ["mig", "dci", "kl_decomposition"], preset="fast", nulls=2)


def test_frames_have_a_row_for_each_score_and_each_other_part(scores):
    frame = scores.to_frame()
    assert list(frame["metric"]) == ["mig", "dci", "dci", "dci", "kl_decomposition"]
    assert list(frame["part"]) == ["", "", "C", "I", ""]
    assert list(frame["value_of"]) == ["", "D", "C", "I", ""]
    assert frame["value"][0] == scores["mig"].value
    assert frame["value"][2] == scores["dci"].parts["C"]
    assert np.isnan(frame["value"][4])
    assert "not scored" in frame["notes"][4]


def test_frames_say_how_a_score_was_made_and_what_its_nulls_are(scores):
    frame = scores.to_frame()
    made = scores["mig"].made
    assert frame["rows"][0] == made.rows == 400
    assert frame["codes"][0] == 2
    assert frame["preset"][0] == "fast"
    assert frame["seed"][1] == 0
    assert frame["bins"][0] == 20
    assert list(frame["version"][:4]) == [made.version] * 4
    draws = scores["mig"].nulls["rotated"]
    assert frame["null_rotated"][0] == pytest.approx(sum(draws) / 2)
    assert frame["null_rotated_deviation"][0] == pytest.approx(np.std(draws, ddof=1))
    assert np.isnan(frame["null_shuffled"][2])
    assert frame["value"].dtype == frame["null_shuffled"].dtype == float


def test_standardized_and_left_out_codes_have_columns():
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(300, 2))
    codes = np.concatenate([factors + 0.0, np.ones((300, 1))], axis=1)
    frame = score(codes, factors, ["mig", "factor_vae_score"], preset="fast").to_frame()
    assert list(frame["standardized"]) == [False, True]
    assert list(frame["left_out"]) == ["", "code 2"]


def test_without_pandas_the_message_says_what_to_do(scores, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="pip install pandas"):
        scores.to_frame()


def test_markdown_has_a_line_for_each_row_and_as_many_cells(scores):
    table, *below = scores.to_markdown().split("\n\n")
    lines = table.splitlines()
    assert len(lines) == 2 + 5
    assert {line.count("|") for line in lines} == {6}
    assert lines[3].startswith(f"| dci (D) | {scores['dci'].parts['D']:.4f} |")
    assert f"{scores['dci'].parts['I']:.4f}" in lines[5]
    assert "nulls: rotated 0." in lines[2]
    assert "% mig: nulls: rotated 0." in scores.to_latex()
    assert " D  C 1.0000, I 1.0000" in str(scores)
    assert below == [
        f"mig: made of {scores['mig'].made}.",
        f"dci: made of {scores['dci'].made}.",
    ]


def test_latex_escapes_names_says_how_it_was_made_and_keeps_notes_as_comments(scores):
    text = scores.to_latex()
    assert r"mig $\uparrow$ & " in text
    assert r"kl\_decomposition &  & -- \\" in text
    table, comments = text.split("\\end{tabular}\n")
    assert all(line.startswith("% ") for line in comments.splitlines())
    assert f"% dci: made of {scores['dci'].made}" in comments.splitlines()
    note = table.splitlines()[-1]
    assert note.startswith(r"\multicolumn{3}{l}{\footnotesize Made of 400 rows $\times$ 2 codes, ")
    assert f"preset fast, seed 0, unweave {scores['mig'].made.version}." in note
    for line in table.splitlines():
        assert line.startswith("\\") or line.count("&") == 2


def test_what_is_said_of_several_scores_stands_once_below_a_table():
    rng = np.random.default_rng(0)
    first = rng.integers(4, size=400)
    factors = np.stack([first, np.where(rng.random(400) < 0.7, first, 0)], axis=1)
    found = score(factors + 0.0, factors, ["mig", "sap", "dmig"], preset="fast")
    told = found.notes[0]
    assert all(told in result.remarks for result in found.values())
    assert [told in row["notes"] for row in found.rows() if not row["part"]] == [True] * 3
    assert told in found.to_frame()["notes"][0]
    for text in (str(found), found.to_markdown(), found.to_latex()):
        assert text.count("factors depend on each other") == 1
    assert f"Note on mig, sap, dmig: {told}." in found.to_markdown()


def test_a_score_of_fewer_rows_than_its_preset_takes_says_so_wherever_it_stands():
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(300, 2))
    found = score(factors + 0.0, factors, ["mig", "sap"])
    assert "300 of 10,000 rows" in str(found)
    assert found.rows()[1]["protocol"] == "locatello2019_standardized, 300 of 15,000 rows"
    many = np.tile(factors, (50, 1))
    assert [row["protocol"] for row in score(many + 0.0, many, ["mig", "sap"]).rows()] == [
        "locatello2019",
        "locatello2019_standardized",
    ]
    whole = score(factors + 0.0, factors, ["mig"], protocol="lin2020")
    assert whole.rows()[0]["protocol"] == "lin2020"  # which takes what there is
