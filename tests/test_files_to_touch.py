"""How many files one writes to add a method, a metric, a data set; shown in a copy of the project.

What is derived from the catalog (the tables of the README, the names for type checkers)
is renewed by one command and is not written by hand.
"""

import filecmp
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plugin_sources import DATA, METHOD, METRIC, write

ROOT = Path(__file__).parent.parent
DERIVED = {
    "README.md",
    "docs/methods.md",
    "src/unweave/__init__.py",
    "src/unweave/catalog/methods.json",
    "src/unweave/metrics/__init__.py",
}

# What a contributor writes for each: the entry and its test; a method has a rule of acceptance
# besides, and metrics and data sets are explained in their pages of the documentation.
WRITTEN = {
    "method": {
        "src/unweave/methods/scaled_vae.py": METHOD,
        "tests/methods/test_scaled_vae.py": (
            "import unweave as uw\n\n\n"
            "def test_it_is_at_the_front_door():\n"
            "    assert uw.ScaledVAE(scale=3).scale == 3\n"
        ),
        "tests/acceptance/rules/scaled_vae.py": (
            "from dataclasses import replace\n\n"
            "from rules.vae import RULE as VAE, trained\n"
            "from rules._training import FAST\n"
            "from unweave.methods.scaled_vae import ScaledVAE\n\n"
            "RULE = replace(VAE, covers=('scaled_vae',), method=trained(ScaledVAE(**FAST)))\n"
        ),
    },
    "metric": {
        "src/unweave/metrics/row_count.py": METRIC,
        "tests/metrics/test_row_count.py": (
            "import numpy as np\n\nfrom unweave import metrics\n\n\n"
            "def test_it_is_a_function_of_the_package():\n"
            "    assert metrics.row_count(np.zeros((3, 1)), np.arange(3)[:, None]).value == 3\n"
        ),
        "docs/metrics.md": "\n## Row count\n\n`row_count` counts.\n",
    },
    "data set": {
        "src/unweave/data/stripes.py": DATA,
        "tests/data/test_stripes.py": (
            "import unweave as uw\n\n\n"
            "def test_it_is_opened_by_its_name():\n"
            "    assert len(uw.load_data('stripes')) == 64\n"
        ),
        "docs/data.md": "\n`stripes` are drawn.\n",
    },
}
ENTRIES = {"method": "scaled_vae", "metric": "row_count", "data set": "stripes"}
SHARED = {
    "method": "tests/methods/test_every_method.py",
    "metric": "tests/metrics/test_every_metric.py",
    "data set": "tests/data/test_every_dataset.py",
}

LOOK = """
import contextlib, io, json
import unweave as uw
from unweave import catalog
from unweave.cli import main

def said(*words):
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        main(list(words))
    return " ".join(text.getvalue().split())

print(json.dumps({
    "place": uw.__file__,
    "names": [n for k in ("methods", "metrics", "data") for n in catalog.own_names(f"unweave.{k}")],
    "dir": dir(uw),
    "methods": said("list", "methods"),
    "metrics": said("list", "metrics"),
    "data": said("list", "data"),
    "help": said("train", "scaled_vae", "--help"),
}))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the project with the three entries, and what follows from them renewed."""
    copy = tmp_path_factory.mktemp("project")
    heavy = shutil.ignore_patterns("__pycache__", "pictures", "stored_runs", "results")
    for part in ("src/unweave", "docs", "tests"):
        shutil.copytree(ROOT / part, copy / part, ignore=heavy)
    for file in ("README.md", "CONTRIBUTING.md", "pyproject.toml"):
        shutil.copy(ROOT / file, copy / file)
    for files in WRITTEN.values():
        for path, content in files.items():
            before = (copy / path).read_text(encoding="utf-8") if path.endswith(".md") else ""
            write(copy, path, before + content)
    subprocess.run(
        [sys.executable, "docs/make_tables.py"], cwd=copy, env=environment(copy), check=True
    )
    return copy


def environment(copy: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(copy / "src")}


def changed(copy: Path) -> set[str]:
    """Return the files of the copy that are new or other than here."""
    files = [p for p in copy.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    names = {path.relative_to(copy).as_posix() for path in files}
    return {
        name
        for name in names
        if not (ROOT / name).is_file() or not filecmp.cmp(ROOT / name, copy / name, shallow=False)
    }


def test_each_is_one_file_of_the_package_its_tests_and_at_most_a_page(project):
    for files in WRITTEN.values():
        assert len(files) <= 3
        assert len([path for path in files if path.startswith("src/")]) == 1
    by_hand = {path for files in WRITTEN.values() for path in files}
    assert changed(project) == by_hand | DERIVED


def test_lists_help_completion_and_tables_have_what_was_added(project):
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd=project,
        env=environment(project),
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert Path(found["place"]).is_relative_to(project)
    assert set(ENTRIES.values()) <= set(found["names"])
    assert "ScaledVAE" in found["dir"]
    assert "scaled_vae │ the evidence bound times a number" in found["methods"]
    assert "row_count │ Row count: how many rows" in found["metrics"]
    assert "stripes │ black and white stripes" in found["data"]
    assert "--method.scale FLOAT What the bound is multiplied with" in found["help"].replace(
        "│ ", ""
    )
    readme = (project / "README.md").read_text(encoding="utf-8")
    assert "[`scaled_vae`](docs/methods.md#scaled_vae)" in readme
    assert "`row_count`" in readme
    assert "`stripes`" in readme
    assert "import ScaledVAE as ScaledVAE" in (project / "src/unweave/__init__.py").read_text()


def test_its_own_tests_the_shared_ones_and_those_of_the_documentation_pass(project):
    written = [path for files in WRITTEN.values() for path in files]
    own = [path for path in written if Path(path).name.startswith("test_")]
    # Of the shared tests the quick ones: that they all pass for an entry from elsewhere is
    # shown by the template of a plugin.
    quick = {"method": "json or method_is_documented or loads_back_with", "metric": "describes"}
    quick |= {"data set": "docstring or floats or lead_back"}
    wanted = [f"({ENTRIES[kind]} and ({names}))" for kind, names in quick.items()]
    wanted += [Path(path).stem for path in own] + ["derived", "set_is_documented"]
    wanted += ["downwards", "(scaled_vae and rule_has_saboteurs)"]
    words = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
    words += ["-k", " or ".join(wanted), *own, *SHARED.values()]
    words += ["tests/test_docs.py", "tests/test_layers.py", "tests/acceptance/test_framework.py"]
    done = subprocess.run(
        words, cwd=project, env=environment(project), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    for kind, entry in ENTRIES.items():
        assert f"[{entry}]" in done.stdout, f"no shared test found the {kind}"
