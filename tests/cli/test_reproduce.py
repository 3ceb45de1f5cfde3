"""unweave reproduce: a table of a paper in one command, kept as CSV, counted on a board."""

import pytest

from unweave.cli import main
from unweave.studies.define import study as studies
from unweave.studies.report.table import read_csv

TINY = """
title = "A table"
notes = "What do baselines give?"
full_size = "this is it"
data = "toy_xys"
seeds = 3
metrics = ["mig"]
budget = { steps = 50, batch_size = 8, evaluations = 1 }
methods = ["pca", "pixels"]
[[published]]
method = "pca"
metric = "mig"
value = 0.9
source = "a paper"
reason = "the paper's images are others"
[[published]]
method = "ICA"
metric = "mig"
value = 0.1
source = "a paper"
[[published]]
method = "pca"
metric = "mig"
value = 0.5
source = "a paper"
from_memory = true
"""


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Ship one tiny table in place of the large ones."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    (folder / "tiny.toml").write_text(TINY)
    monkeypatch.setattr(studies, "SHIPPED", folder)
    monkeypatch.chdir(tmp_path)


def test_a_table_is_run_kept_printed_and_counted(shipped, tmp_path, capsys):
    assert main(["reproduce", "tiny", "--quick", "--to", "tables", "--workers", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    quick = "2 published cells: 1 quick: not judged, 1 not run; 1 more for orientation"
    assert quick in said
    table = read_csv(tmp_path / "tables" / "tiny-quick.csv")
    assert len(table.done.where(method="pca")) == 3
    assert table.where(method="pca").rows[0]["steps"] == 5
    assert 0 <= table.done.column("mig").min() <= table.done.column("mig").max() <= 1
    page = (tmp_path / "tables" / "tiny-quick.md").read_text()
    assert "| quick: not judged | a paper |" in page
    assert "eproduced" not in page
    assert "Protocols: mig by `locatello2019`." in page

    # The board counts tables at full size alone; of this one nothing is there yet.
    assert main(["reproduce", "--board", "tables"]) == 0
    board = (tmp_path / "tables" / "README.md").read_text()
    assert "Of 2 published cells: 0 beaten, 0 reproduced, 0 with" in board
    assert "for orientation and no cells: 1." in board
    assert "| A table | 0 of 6 | 0 | 0 | 0 | 0 | 0 | 2 | 1 |" in board

    (tmp_path / "tables" / "tiny.csv").write_bytes(
        (tmp_path / "tables" / "tiny-quick.csv").read_bytes()
    )
    assert main(["reproduce", "--board", "tables"]) == 0
    board = (tmp_path / "tables" / "README.md").read_text()
    assert "| [A table](tiny.md) | 6 of 6 | 0 | 0 | 0 | 1 | 0 | 1 | 1 |" in board


def test_studies_without_numbers_to_mark_stand_below_the_board(shipped, tmp_path):
    unmarked = TINY.split("[[published]]")[0].replace("A table", "Only figures")
    (tmp_path / "shipped" / "figures.toml").write_text(unmarked)
    (tmp_path / "tables").mkdir()
    assert main(["reproduce", "--board", "tables"]) == 0
    assert "Only figures" not in (tmp_path / "tables" / "README.md").read_text()
    (tmp_path / "tables" / "figures.csv").write_text("run,state\n")
    assert main(["reproduce", "--board", "tables"]) == 0
    board = (tmp_path / "tables" / "README.md").read_text()
    assert board.endswith("and no numbers to mark:\n\n- [Only figures](figures.md)\n")
    shares = unmarked + "[published_variance.toy_xys]\nmig = [0.1, 0.2]\n"
    (tmp_path / "shipped" / "figures.toml").write_text(shares)
    assert main(["reproduce", "--board", "tables"]) == 0
    board = (tmp_path / "tables" / "README.md").read_text()
    assert board.endswith("(figures.md), with 2 published shares of the variance\n")


def test_without_a_published_number_medians_are_printed(shipped, tmp_path, capsys):
    (tmp_path / "shipped" / "figures.toml").write_text(TINY.split("[[published]]")[0])
    assert main(["reproduce", "figures", "--quick", "--workers", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "mig: median (range)" in said
    assert "│ toy_xys │ pca │ 0." in said
    assert "no published number to set beside them" in said


def test_tables_are_listed_and_mistakes_are_told_in_a_line(shipped, tmp_path, capsys):
    assert main(["reproduce"]) == 0
    assert "tiny" in capsys.readouterr().out
    assert main(["reproduce", "tinny"]) == 2
    assert "Did you mean 'tiny'" in capsys.readouterr().err
    (tmp_path / "own.toml").write_text(TINY)
    assert main(["reproduce", "own.toml"]) == 2
    assert "a study of your own" in capsys.readouterr().err
    assert main(["reproduce", "--board", "nowhere"]) == 2
    assert "nowhere is not a folder" in capsys.readouterr().err


def test_the_shipped_tables_are_listed(capsys):
    assert main(["reproduce"]) == 0
    assert "higgins_table" in capsys.readouterr().out
