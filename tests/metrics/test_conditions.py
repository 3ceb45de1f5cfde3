"""What docs/metrics.md says of units, outliers, rows and nulls is what the command prints."""

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from representations import representation  # noqa: E402

from marked_pages import part_of  # noqa: E402
from metric_conditions import ROWS, Given, conditions, score_of  # noqa: E402
from unweave import catalog  # noqa: E402
from unweave.errors import DataError  # noqa: E402


@pytest.fixture(scope="module")
def printed() -> dict[str, dict[str, str]]:
    lines = part_of(ROOT / "docs" / "metrics.md", "conditions").strip().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}


@pytest.fixture(scope="module")
def given() -> dict[str, Given]:
    drawn = representation("noisy_0.3", ROWS, sizes=(3, 4, 5, 4, 4))
    return conditions(Given(drawn.codes.astype(np.float64), drawn.factors, np.ones(5)))


def test_every_metric_has_its_line_and_nothing_else_has(printed) -> None:
    assert list(printed) == list(catalog.own_names("unweave.metrics"))


@pytest.mark.parametrize("name", ["mig", "med", "irs", "mcc", "modularity", "flatness", "sap"])
def test_numbers_on_the_page_are_those_of_the_scores(name: str, printed, given) -> None:
    for head, cell in printed[name].items():
        try:
            found = f"{score_of(name, given[head]):.3f}"
        except DataError:
            found = "refused"
        if cell == "refused" or found == "refused":
            assert found == cell, head
        else:
            assert float(found) == pytest.approx(float(cell), abs=0.003), head


@pytest.mark.parametrize("name", catalog.own_names("unweave.metrics"))
def test_units_matter_only_where_the_page_says_so(name: str, printed) -> None:
    row = printed[name]
    if name in ("flatness", "factored_components", "infomec", "irs"):
        assert row["other units"] != row["value"]
    else:
        assert row["other units"] == row["value"]
