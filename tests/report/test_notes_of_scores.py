"""What is said of scores stands in reports and cards too, once where it is said of several."""

from types import SimpleNamespace

from stored_score import score

from unweave.evaluation.baselines import Baselines
from unweave.report.card import _scores
from unweave.report.score_sections import scores_section

DEPENDENT = "factors depend on each other (size and place 0.400)"


def stored():
    return {
        "mig": score(0.5) | {"notes": [DEPENDENT]},
        "sap": score(0.4) | {"notes": [DEPENDENT, "worse than chance, 0.500"]},
    }


def test_a_report_says_of_several_scores_what_is_said_of_each():
    page = str(scores_section(SimpleNamespace(scores=stored()), Baselines()))
    assert page.count(DEPENDENT) == 1
    assert f"Of mig, sap: {DEPENDENT}." in page
    assert page.index("worse than chance") < page.index(DEPENDENT)


def test_a_card_has_the_notes_below_its_table():
    card = _scores(stored(), SimpleNamespace(step=0))
    *_, first, second = card.splitlines()
    assert first == f"- `mig`, `sap`: {DEPENDENT}"
    assert second == "- `sap`: worse than chance, 0.500"


def test_a_part_that_is_the_score_is_shown_as_such():
    parts = {"dci": score(0.5) | {"parts": {"D": 0.5, "C": 0.25}}}
    page = str(scores_section(SimpleNamespace(scores=parts), Baselines()))
    assert "0.500 D" in page
    assert "C 0.250" in page
    assert "D 0.500" not in page
