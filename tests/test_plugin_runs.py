"""Runs made with plugins: what their folders keep, and that no folder ever runs anything."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import unweave as uw
from plugin_sources import DATA, METHOD, METRIC, NETWORK, write
from unweave.catalog import PluginWarning, plugins
from unweave.cli import main
from unweave.errors import ConfigError, DataError
from unweave.runs.folder import RunFolder

SMALL = ["--steps", "3", "--batch-size", "8", "--evaluations", "1", "--threads", "1"]
SMALL += ["--method.latent-dim", "3"]
QUIET = {"machine": uw.Machine(evaluations=0, threads=1), "evaluate": False, "progress": False}


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch):
    monkeypatch.setattr(plugins, "_given", {})


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("plugins")
    contents = {"mine": METHOD, "row_count": METRIC, "stripes": DATA, "narrow": NETWORK}
    return {name: write(folder, f"{name}.py", text) for name, text in contents.items()}


@pytest.fixture(scope="module")
def trained(files, tmp_path_factory) -> Path:
    """A run of a method, a data set and an architecture in files."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    words = ["train", str(files["mine"]), "--data", "stripes", "--architecture", "narrow", *SMALL]
    words += ["--plugin", str(files["stripes"]), f"--plugin={files['narrow']}"]
    before, plugins._given = plugins._given, {}
    try:
        assert main([*words, "--no-evaluation", "--out", str(folder)]) == 0
    finally:
        plugins._given = before
    return folder


@pytest.fixture
def run(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


def test_the_folder_keeps_what_is_needed_to_load_the_run_again(trained, files):
    kept = json.loads((trained / "config.json").read_text())["plugins"]
    assert [entry["kind"] for entry in kept] == ["method", "architecture", "data set"]
    method = kept[0]
    assert method["object"] == "mine:ScaledVAE"
    assert method["file"] == "mine.py"
    copy = trained / "plugins" / method["sha256"][:8] / "mine.py"
    assert copy.read_bytes() == files["mine"].read_bytes()


def test_every_verb_takes_the_plugin_of_a_run(run, files, capsys):
    given = [word for name in ("mine", "stripes", "narrow") for word in ("--plugin", files[name])]
    metric = ["--metrics", "mig,row_count", "--plugin", files["row_count"]]
    for words in (
        ["resume", run, "--steps", "5", "--no-evaluation", "--threads", "1"],
        ["evaluate", run, *metric],
        ["figures", run, "--only", "traversals"],
        ["report", run],
        ["list", "runs", run.parent],
    ):
        assert main([str(word) for word in [*words, *given]]) == 0, capsys.readouterr().err
        plugins._given.clear()
    scores = json.loads((run / "scores.json").read_text())
    assert scores["row_count"]["value"] == 64
    assert scores["row_count"]["plugin"] == "row_count.py"
    report = (run / "report.html").read_text()
    assert "Scaled VAE: the evidence bound times a number" in report
    assert "plugin mine.py" in report
    assert "--plugin mine.py --plugin narrow.py --plugin stripes.py" in report
    assert "scaled_vae" in capsys.readouterr().out


def test_in_python_a_run_is_loaded_with_its_plugins(run, files):
    loaded = uw.load(run, plugins=[files["mine"], files["narrow"]])
    codes = loaded.encode(np.zeros((2, 1, 16, 16), dtype=np.float32))
    assert codes.shape == (2, 3)
    with pytest.raises(ConfigError, match=r"data set 'stripes' of the file stripes.py \(a copy"):
        loaded.data  # noqa: B018 - asking for it is the test
    uw.add_plugin(files["stripes"])
    assert loaded.data.name == "stripes"
    further = uw.resume(run, steps=4, plugins=list(files.values()), **QUIET)
    assert further.step == 4


def test_the_file_of_the_documentation_trains(tmp_path):
    page = Path(__file__).parent.parent / "docs" / "plugins.md"
    first = page.read_text(encoding="utf-8").split("```python\n")[1].partition("```")[0]
    mine = write(tmp_path, "mine.py", first)
    trained = uw.train(str(mine), "toy_xys", steps=2, out=tmp_path / "run", **QUIET)
    assert trained.config.method.cap == 3
    assert trained.config.run_name.startswith("capped_vae-toy_xys-")


def test_a_missing_file_is_named_with_the_way_to_give_it(run, capsys):
    message = rf"needs the method 'scaled_vae' of the file mine.py \(a copy.*{run}/plugins/"
    with pytest.raises(ConfigError, match=message):
        uw.load(run)
    assert main(["evaluate", str(run)]) == 2
    assert "--plugin PATH" in capsys.readouterr().err
    shutil.rmtree(run / "plugins")
    with pytest.raises(ConfigError, match=r"the file mine.py: name it with --plugin PATH"):
        uw.load(run)


def test_a_missing_package_is_named_with_its_version(run):
    change(run, [{"kind": "method", "name": "scaled_vae", "object": "strange.mine:ScaledVAE"}
                 | {"distribution": "strange-vae", "version": "1.4"}])  # fmt: skip
    with pytest.raises(ConfigError, match=r"strange-vae 1.4, .*: pip install strange-vae==1.4"):
        uw.load(run)


def test_a_class_of_a_notebook_is_asked_for(tmp_path):
    @dataclass(frozen=True, kw_only=True)
    class NotebookVAE(uw.VAE):
        """A VAE of a notebook."""

    NotebookVAE.__module__ = "__main__"
    folder = tmp_path / "run"
    uw.train(NotebookVAE(latent_dim=3), "toy_xys", steps=1, out=folder, **QUIET)
    codes = uw.load(folder).encode_rows(np.arange(4))  # in the same session it is known
    plugins._given.clear()
    with pytest.raises(ConfigError, match=r"define it, and give plugins=\[NotebookVAE\]"):
        uw.load(folder)
    again = uw.load(folder, plugins=[NotebookVAE]).encode_rows(np.arange(4))
    np.testing.assert_array_equal(codes, again)


def test_a_file_that_changed_since_is_warned_of(run, files, tmp_path):
    changed = write(tmp_path, "mine.py", METHOD + "# changed\n")
    with pytest.warns(PluginWarning, match=r"of mine.py, which has changed since \(sha256"):
        uw.load(run, plugins=[changed, files["narrow"]])
    assert main(["list", "runs", str(run.parent), "--plugin", str(files["narrow"])]) == 0


def test_a_run_whose_plugin_is_missing_hides_no_other_in_the_list(run, capsys):
    uw.train("pca", "toy_xys", steps=1, out=run.parent / "other", **QUIET)
    assert main(["list", "runs", str(run.parent)]) == 0
    shown = capsys.readouterr().out
    assert "pca" in shown
    assert "needs the method 'scaled_vae'" in shown


def change(run: Path, kept: object, **method: str) -> None:
    file = run / "config.json"
    content = json.loads(file.read_text())
    content["plugins"] = kept
    content["settings"]["method"] |= method
    file.write_text(json.dumps(content))


MARK = "import pathlib\npathlib.Path(__file__).with_name('it-was-run').touch()\n"
EVIL = MARK + METHOD.replace("from __future__ import annotations\n", "")
FORGED = {
    "names": {"name": "os:system"},
    "file": {"name": "evil", "file": "evil.py", "sha256": "0" * 64, "object": "evil:Evil"},
    "module": {"name": "evil", "object": "evil:Evil"},
    "path": {"name": "./evil.py"},
    "package": {"name": "evil", "object": "evil:Evil", "distribution": "evil", "version": "1"},
    "command": {"name": "evil", "distribution": "evil; touch it-was-run", "version": "1"},
    "entry": {"name": "scaled_vae", "object": "os:system", "file": "evil.py"},
}


@pytest.mark.parametrize("kind", sorted(FORGED))
@pytest.mark.parametrize("with_facts", [True, False])
def test_no_run_folder_ever_runs_anything(kind, with_facts, run):
    """Not in the folder itself, where a module beside the run could be imported, either."""
    forged = FORGED[kind]
    for place in (run, run / "plugins" / "00000000", run.parent):
        write(place, "evil.py", EVIL)
    change(run, [{"kind": "method", **forged}] if with_facts else [], name=forged["name"])
    here = os.getcwd()
    os.chdir(run)
    before = set(sys.modules)
    try:
        for folder in (run, Path(".")):
            with pytest.raises((ConfigError, DataError)) as refused:
                uw.load(folder)
            assert "\n" not in str(refused.value)
            assert "; touch" not in str(refused.value)
            with pytest.raises((ConfigError, DataError)):
                uw.resume(folder, **QUIET)
        assert main(["list", "runs", str(run.parent)]) == 0
        with pytest.raises((ConfigError, DataError)):
            uw.write_report(run)
    finally:
        os.chdir(here)
    assert not list(run.parent.rglob("it-was-run"))
    assert not [name for name in set(sys.modules) - before if "evil" in name]


def test_a_folder_beside_which_a_module_lies_runs_nothing_in_a_fresh_process(run):
    evil = write(run, "evil.py", EVIL)
    change(run, [{"kind": "method", "name": "evil", "object": "evil:ScaledVAE"}], name="evil")
    words = [sys.executable, "-m", "unweave", "evaluate", "."]
    done = subprocess.run(words, cwd=run, capture_output=True, text=True)
    assert done.returncode == 2
    assert "needs the method 'evil'" in done.stderr
    assert not (run / "it-was-run").exists()
    uw.add_plugin(evil)
    assert (run / "it-was-run").exists(), "had it been run, it would have been seen"


@pytest.mark.parametrize(
    "kept", [3, {}, "x", [3], [{}], [{"kind": "method"}], [{"kind": "verb", "name": "x"}]]
)
def test_damaged_words_on_plugins_are_refused(run, kept):
    change(run, kept)
    with pytest.raises(DataError, match=r"config.json: expected"):
        RunFolder(run).read_config()


def test_runs_without_plugins_keep_nothing_of_them(tmp_path):
    uw.train("pca", "toy_xys", steps=1, out=tmp_path / "run", **QUIET)
    assert "plugins" not in json.loads((tmp_path / "run" / "config.json").read_text())
    assert not (tmp_path / "run" / "plugins").exists()


STUDY = """
data = "stripes"
seeds = 2
methods = ["scaled_vae"]
metrics = ["mig", "row_count"]
preset = "fast"
settings = { architecture = "narrow", method.latent_dim = 3 }

[budget]
steps = 2
batch_size = 8
evaluations = 1
"""


def test_a_study_sends_its_workers_the_files_that_it_was_given(files, tmp_path, capsys):
    study = write(tmp_path, "tiny.toml", STUDY)
    flags = ["--out", str(tmp_path / "runs"), "--workers", "2"]
    flags += [word for file in files.values() for word in ("--plugin", str(file))]
    assert main(["study", "run", str(study), *flags]) == 0, capsys.readouterr().err
    assert "2 new runs" in capsys.readouterr().out
    results = list((tmp_path / "runs").glob("scaled_vae-*/results/*.json"))
    assert [json.loads(file.read_text())["scores"]["row_count"] for file in results] == [64, 64]
