"""Run folders of older versions: loaded, continued and reported on by this one."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import unweave as uw
from unweave.evaluation import probes
from unweave.figures.style import Drawing
from unweave.methods import method_named
from unweave.report import report_html
from unweave.runs import config
from unweave.runs.config import Machine
from unweave.runs.folder import FORMAT
from unweave.training import loop

FORMATS = sorted((Path(__file__).parent / "stored_runs").glob("format*"))
STORED = [folder for place in FORMATS for folder in sorted(place.iterdir())]
MORE_STEPS = 3


@pytest.fixture(params=STORED, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def stored(request, tmp_path):
    """A copy of a stored run, and the codes that its own version gave."""
    folder = shutil.copytree(request.param, tmp_path / request.param.name)
    return folder, json.loads((folder / "codes.json").read_text())


def assert_close(codes, expected):
    np.testing.assert_allclose(codes, expected, rtol=1e-3, atol=1e-5)


def test_there_are_stored_runs_of_this_version():
    assert f"format{FORMAT}" in [place.name for place in FORMATS]
    assert len(STORED) >= 6


def test_older_runs_are_loaded_with_their_codes(stored):
    folder, expected = stored
    run = uw.load(folder)
    assert_close(run.encode_rows(np.arange(4)), expected["codes"])
    assert run.folder.status()["state"] == "done"
    assert list(run.folder.record())


def test_older_runs_go_on_as_their_own_version_would_have(stored, toy):
    folder, expected = stored
    steps = uw.load(folder).config.steps
    machine = Machine(evaluations=1, threads=1)
    run = loop.resume(folder, toy, machine, steps=steps + MORE_STEPS)
    assert run.step == steps + MORE_STEPS
    assert_close(run.encode_rows(np.arange(4)), expected["after_more_steps"])


def test_older_runs_are_reported_on(stored, toy, monkeypatch):
    monkeypatch.setattr(Drawing, "content", lambda drawing, *_, **__: b"<svg/>")  # slow to draw
    monkeypatch.setattr(probes, "TREES", 5)
    folder, _ = stored
    few = toy.split(0.05, keep_numbers=True)[1]
    page = report_html(uw.load(folder, data=few))
    assert "How to repeat it" in page
    assert folder.name in page


@pytest.mark.parametrize("name", ["factor_vae", "semi_supervised+factor_vae"])
def test_settings_that_older_runs_lack_are_what_they_were(name):
    new = config.to_json(config.Train(method=method_named(name)(), data="toy_xys", steps=1))
    assert config.from_folder(new).method.scaled_codes
    del new["method"]["scaled_codes"]
    assert not config.from_folder(new).method.scaled_codes
    assert config.from_json(new).method.scaled_codes  # as a user gets it who sets nothing
