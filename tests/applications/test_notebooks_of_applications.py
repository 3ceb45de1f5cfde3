"""Every application has a notebook, which runs at a size that takes a moment."""

import json
import re
from pathlib import Path

import pytest

import unweave as uw
from unweave import applications
from unweave.applications import correlated, impossibility
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine

NOTEBOOKS = Path(__file__).parent.parent.parent / "docs" / "notebooks"
SMALL = {"STEPS": 2, "ROWS": 120, "REPEATS": 1, "FURTHER": 2}
TRAINED = {"lecture-ada": (uw.AdaGVAE, 250), "lecture-vae": (uw.VAE, 150)}
"""Runs that applications must find a code in, and for how long they are trained."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with short trainings of what the notebooks would train for longer."""
    folder = tmp_path_factory.mktemp("lecture")
    for name, (method, steps) in TRAINED.items():
        uw.train(
            method(latent_dim=6, optimizer=uw.Adam(2e-3)),
            "toy_xys",
            steps=steps,
            batch_size=32,
            architecture=MLP64(hidden=128, decoder_activation="relu"),
            machine=Machine(evaluations=0, threads=1),
            out=folder / "runs" / name,
            evaluate=False,
            progress=False,
        )
    return folder


def cells_of(name: str) -> list[dict]:
    file = NOTEBOOKS / f"applications_{name}.ipynb"
    return json.loads(file.read_text(encoding="utf-8"))["cells"]


def code_of(cell: dict) -> str:
    """Return the code of a cell, with our sizes where it names sizes."""
    source = "".join(cell["source"])
    if "parameters" in cell["metadata"].get("tags", []):
        return re.sub(r"^(\w+) = .+$", lambda m: f"{m[1]} = {SMALL[m[1]]!r}", source, flags=re.M)
    return source


@pytest.mark.parametrize("name", applications.names())
def test_a_notebook_runs_and_tells_what_the_application_found(name, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    monkeypatch.setattr(impossibility, "METRICS", ("mig",))  # DCI takes longest of all
    monkeypatch.setattr(correlated, "METRICS", ("mig",))
    space: dict = {"__name__": "__notebook__"}
    for number, cell in enumerate(cells_of(name)):
        if cell["cell_type"] == "code":
            exec(compile(code_of(cell), f"{name}, cell {number}", "exec"), space)
    applied = space["applied"]
    assert applied.application == name
    told = capsys.readouterr().out
    assert applied.paragraph in told
    assert all(caveat in told for caveat in applied.caveats)
    assert all(table.title in told for table in applied.tables)


@pytest.mark.parametrize("name", applications.names())
def test_a_notebook_is_a_lesson_with_its_outputs(name):
    cells = cells_of(name)
    words = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert words.startswith("# ")
    assert "**Questions.**" in words
    outputs = [out for cell in cells for out in cell.get("outputs", [])]
    assert any("image/png" in out.get("data", {}) for out in outputs)
    assert not [out for out in outputs if out["output_type"] == "error"]
    assert "/tmp/" not in json.dumps(cells)
