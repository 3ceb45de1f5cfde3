"""The sdist and the wheel: what is in them, and that a fresh environment gets on with it."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import requires
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).parent.parent
SITE = Path(numpy.__file__).parents[1]
WALK = """
import sys
from pathlib import Path

import unweave

assert unweave.__file__.startswith(sys.prefix), unweave.__file__
from unweave.cli import main
from unweave.studies import read_study

assert main(["train", "beta_vae", "--data", "toy_xys", "--steps", "3", "--out", "run",
             "--threads", "1", "--evaluations", "1", "--no-evaluation"]) == 0
assert main(["evaluate", "run", "--preset", "fast", "--metrics", "mig,sap"]) == 0
assert main(["report", "run"]) == 0
assert main(["list", "methods"]) == 0
assert read_study("exercises").methods
assert main(["explore", "run", "--no-browser"]) == 2  # an extra, and a line that says so
assert "<html" in Path("run/report.html").read_text("utf-8")
assert not {"starlette", "h5py", "pyarrow", "ray", "onnx"} & set(sys.modules)
"""
BLOCK = """
import sys
from importlib.machinery import PathFinder


class WithoutExtras(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = name.partition(".")[0] in {names}
        return None if hidden else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutExtras
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """An sdist, and a wheel made of what is in the sdist."""
    base = tmp_path_factory.mktemp("built")
    source = base / "source"
    source.mkdir()
    for name in ("docs", "src", "explorer_runtime"):
        unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info", "node_modules", "_build")
        shutil.copytree(ROOT / name, source / name, ignore=unwanted)
    for path in ROOT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            shutil.copyfile(path, source / path.name)
    sdist = base / build("sdist", source, base)
    with tarfile.open(sdist) as archive:
        # The first releases of Python 3.11 know no filters.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(base / "unpacked")
    (unpacked,) = (base / "unpacked").iterdir()
    return sdist, base / build("wheel", unpacked, base)


def build(kind: str, source: Path, target: Path) -> str:
    script = (
        f"import sys; from setuptools import build_meta; "
        f"print(build_meta.build_{kind}(sys.argv[1]))"
    )
    words = [sys.executable, "-c", script, str(target)]
    done = subprocess.run(words, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory) -> Path:
    """A fresh environment with the wheel, what it requires, and no extra."""
    folder = tmp_path_factory.mktemp("fresh") / "environment"
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    pip += ["--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check"]
    subprocess.run([*pip, str(built[1])], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    # What is required is taken from here instead of the network; its own .pth files are not read.
    (site / "required.pth").write_text(f"{SITE}\nimport without_extras\n")
    (site / "without_extras.py").write_text(BLOCK.format(names=extras()))
    return folder


def extras() -> set[str]:
    """Return what to import of the packages that only extras ask for."""
    lines = requires("unweave") or []
    core = {re.match(r"[\w.-]+", line)[0] for line in lines if "extra ==" not in line}
    wanted = {re.match(r"[\w.-]+", line)[0] for line in lines if "extra ==" in line}
    assert {"ray", "onnx", "h5py"} <= wanted
    return {name.replace("-", "_") for name in wanted - core} - {"setuptools", "unweave"}


def test_a_fresh_environment_without_extras_trains_evaluates_and_reports(installed, tmp_path):
    there = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV"))}
    words = [str(installed / "bin" / "python"), "-c", WALK]
    done = subprocess.run(words, cwd=tmp_path, env=there, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pip install 'unweave[explore]'" in done.stderr
    script = subprocess.run(
        [str(installed / "bin" / "unweave"), "--version"],
        env=there,
        capture_output=True,
        text=True,
    )
    assert script.stdout.startswith("unweave 0.")


def test_the_wheel_has_all_that_the_package_has_in_git_and_nothing_else(built):
    here = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "unweave").rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".pyo")
    }
    with zipfile.ZipFile(built[1]) as wheel:
        there = {name for name in wheel.namelist() if not name.startswith("unweave-")}
        metadata = next(n for n in wheel.namelist() if n.endswith("METADATA"))
        told = wheel.read(metadata).decode()
    assert there == here
    assert "Project-URL" not in told or "example.com" not in told
    assert "\nLicense-Expression: Apache-2.0\n" in told


def test_what_the_readme_shows_and_names_is_in_the_sdist(built):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"\]\(([^)#]+)", text)) | set(re.findall(r'src="([^"]+)"', text))
    local = {target for target in targets if not target.startswith(("http:", "https:"))}
    assert any(target.endswith((".png", ".gif", ".webp")) for target in local)
    with tarfile.open(built[0]) as archive:
        files = {Path(name.partition("/")[2]) for name in archive.getnames()}
    inside = {str(place) for file in files for place in (file, *file.parents)}
    assert sorted(local - inside) == []


def test_the_version_is_the_same_everywhere():
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    cited = re.search(r"^version: (.+)", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert version[1] == cited[1]
    assert f"\n## {version[1]}" in changes
