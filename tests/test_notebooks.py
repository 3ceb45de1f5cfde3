"""The notebooks run, at a size that takes seconds, and keep outputs of their full size."""

import json
import re
import sys
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "docs" / "notebooks"
FILES = sorted(NOTEBOOKS.glob("*.ipynb"))
SMALL = {"STEPS": 2, "PRESET": "fast", "SEEDS": (0, 1), "ROWS": 400, "REPEATS": 1}
OTHERS = "applications_"  # have a test of their own


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """One folder for all, so that an exercise finds what the one before it trained."""
    return tmp_path_factory.mktemp("notebooks")


def cells(file: Path) -> list[dict]:
    return json.loads(file.read_text(encoding="utf-8"))["cells"]


def code_of(cell: dict) -> str:
    """Return the code of a cell; of parameters, with our sizes in the place of the full ones."""
    source = "".join(cell["source"])
    if "parameters" not in cell["metadata"].get("tags", []):
        return source
    names = re.findall(r"^(\w+) =", source, re.MULTILINE)
    return "\n".join(f"{name} = {SMALL[name]!r}" for name in names)


@pytest.mark.docs
@pytest.mark.parametrize(
    "file", [f for f in FILES if not f.name.startswith(OTHERS)], ids=lambda file: file.stem
)
def test_a_notebook_runs_at_reduced_size(file, place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(NOTEBOOKS)
    sys.modules.pop("lesson", None)
    space: dict = {"__name__": "__notebook__"}
    ran = 0
    for number, cell in enumerate(cells(file)):
        if cell["cell_type"] == "code":
            exec(compile(code_of(cell), f"{file.name}, cell {number}", "exec"), space)
            ran += 1
    assert ran >= 3


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_notebook_keeps_its_outputs_and_no_error(file):
    code = [cell for cell in cells(file) if cell["cell_type"] == "code"]
    outputs = [output for cell in code for output in cell["outputs"]]
    assert [o for o in outputs if o["output_type"] == "error"] == []
    assert any("image/png" in o.get("data", {}) for o in outputs), "python docs/run_notebooks.py"
    assert all(cell["execution_count"] for cell in code)
    assert len(file.read_bytes()) < 1_500_000
    assert "/home/" not in file.read_text(encoding="utf-8")
