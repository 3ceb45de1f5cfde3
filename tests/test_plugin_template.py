"""The template package of docs/: installed by pip, and used in all that unweave does."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import unweave
from unweave import catalog
from unweave.cli import main

ROOT = Path(__file__).parent.parent
ENTRIES = "ordered_vae or largest_correlation or rings or two_layers"
SMALL = ["--batch-size", "8", "--evaluations", "1", "--threads", "1", "--method.latent-dim", "3"]
TRAIN = ["train", "ordered_vae", "--data", "rings", "--architecture", "two_layers", *SMALL]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder where pip has installed the template, as it would into site-packages."""
    base = tmp_path_factory.mktemp("template")
    shutil.copytree(ROOT / "docs" / "plugin_template", base / "package")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(base / "site")]
    subprocess.run([*pip, str(base / "package")], check=True)
    return base / "site"


@pytest.fixture
def installed(site, monkeypatch) -> dict[str, str]:
    """The template on this process's path; the environment of others that shall have it."""
    monkeypatch.syspath_prepend(site)
    source = str(Path(unweave.__file__).parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), source])}


@pytest.fixture(scope="module")
def run(site, tmp_path_factory) -> Path:
    """A run that was killed while it trained, and resumed."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    source = str(Path(unweave.__file__).parent.parent)
    there = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), source])}
    words = [*TRAIN, "--steps", "100000", "--checkpoint-seconds", "0", "--out", str(folder)]
    training = subprocess.Popen([sys.executable, "-m", "unweave", *words], env=there)
    deadline = time.monotonic() + 120
    while not (folder / "checkpoint.previous.safetensors").is_file():
        assert training.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    training.send_signal(signal.SIGKILL)
    training.wait()
    sys.path.insert(0, str(site))
    try:
        step = json.loads((folder / "status.json").read_text())["step"]
        words = ["resume", str(folder), "--threads", "1", "--no-evaluation"]
        assert main([*words, "--steps", str(step + 100)]) == 0
    finally:
        sys.path.remove(str(site))
    return folder


def test_the_lists_name_the_package_that_each_entry_is_of(installed, capsys):
    for kind, name in {
        "methods": "ordered_vae",
        "metrics": "largest_correlation",
        "data": "rings",
        "architectures": "two_layers",
    }.items():
        assert main(["list", kind]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        # In a narrow column the package stands below the name, after the rest of its line.
        assert re.search(rf"{name}\b[^()]*\(unweave-template", shown), shown


def test_its_own_tests_and_those_of_every_entry_of_the_catalog_pass(installed):
    files = ["tests/methods/test_every_method.py", "tests/metrics/test_every_metric.py"]
    files += ["tests/data/test_every_dataset.py", "tests/networks/test_architectures.py"]
    words = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
    words += ["-k", f"{ENTRIES} or test_plugin", *files, "docs/plugin_template/tests"]
    done = subprocess.run(words, cwd=ROOT, env=installed, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    for entry in ENTRIES.split(" or "):
        assert f"[{entry}" in done.stdout, f"no shared test found {entry}"
    assert done.stdout.count("test_plugin.py::") == 5


def test_a_killed_run_was_resumed_to_its_end(run):
    assert json.loads((run / "status.json").read_text())["state"] == "done"
    kept = json.loads((run / "config.json").read_text())["plugins"]
    assert kept[0] == {
        "kind": "method",
        "name": "ordered_vae",
        "object": "unweave_template.ordered_vae:OrderedVAE",
        "distribution": "unweave-template",
        "version": "0.1.0",
    }


FRESH = """
import json, sys
import numpy as np
import unweave as uw
from unweave.explorer import page_data, run_list
from unweave.explorer.open_runs import Library

folder = sys.argv[1]
run = uw.load(folder)
scores = uw.evaluate(run, ["mig", "largest_correlation"], preset="fast")
report = uw.write_report(run).read_text()
library = Library(folder)
opened = library.open(library.names()[0])
print(json.dumps({
    "codes": run.encode_rows(np.arange(4)).tolist(),
    "score": scores["largest_correlation"].value,
    "report": "each further dimension of the code costs more" in report,
    "line": run_list.all_runs(library)["runs"][0]["method"],
    "meaning": page_data.run_facts(library, library.names()[0])["meanings"],
    "latents": len(page_data.latents(opened)["order"]),
}))
"""


def test_a_fresh_process_loads_scores_reports_and_explores_the_run(run, installed):
    words = [sys.executable, "-c", FRESH, str(run)]
    done = subprocess.run(words, env=installed, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    import unweave as uw

    np.testing.assert_array_equal(found["codes"], uw.load(run).encode_rows(np.arange(4)).tolist())
    assert 0 < found["score"] <= 1
    assert found["report"]
    assert found["line"] == "ordered_vae"
    assert "follows each factor along a line" in found["meaning"]["largest_correlation"]
    assert found["latents"] == 3
    kept = json.loads((run / "scores.json").read_text())["largest_correlation"]
    assert kept["plugin"] == "unweave-template 0.1.0"


def test_without_the_package_the_run_says_how_to_get_it(run, capsys):
    assert "ordered_vae" not in catalog.names("unweave.methods")
    assert main(["report", str(run)]) == 2
    said = capsys.readouterr().err
    assert "pip install unweave-template==0.1.0" in said
    assert said.count("\n") == 1


def test_a_study_of_it_runs_in_processes_of_their_own(installed, tmp_path):
    from unweave.studies import Study

    study = Study(
        name="tiny",
        data="rings",
        methods=[{"name": "ordered_vae", "settings": {"latent_dim": 3}}],
        seeds=2,
        settings={"architecture": "two_layers"},
        metrics=["largest_correlation"],
        preset="fast",
        budget={"steps": 2, "batch_size": 8, "evaluations": 1},
    )
    outcome = study.run(tmp_path, workers=2, quiet=True)
    assert outcome.failures() == []
    assert outcome.done == 2
    assert all(0 < row["largest_correlation"] <= 1 for row in study.table(tmp_path).rows)
    report = study.report(tmp_path, with_selection=False).read_text()
    assert "ordered_vae" in report
