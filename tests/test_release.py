"""What a package index is given: addresses, and a README whose links work away from its files."""

import importlib.util
import re
import shutil
import subprocess
import sys
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ADDRESS = "https://code.example.org/somebody/unweave"


@pytest.fixture(scope="module")
def release():
    found = importlib.util.spec_from_file_location("release", ROOT / "packaging" / "release.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_metadata_of_a_release_names_addresses_and_shows_pictures(release, tmp_path):
    source = tmp_path / "source"
    (source / "src" / "unweave").mkdir(parents=True)
    for name in ("README.md", "pyproject.toml", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copyfile(ROOT / name, source / name)
    for name in ("SECURITY.md", "CITATION.cff"):
        shutil.copyfile(ROOT / name, source / name)
    (source / "docs").symlink_to(ROOT / "docs")
    (source / "src" / "unweave" / "__init__.py").touch()
    release.prepare(source, ADDRESS)
    script = (
        "import sys; from setuptools import build_meta as b; "
        "print(b.prepare_metadata_for_build_wheel(sys.argv[1]))"
    )
    words = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(words, cwd=source, capture_output=True, text=True, check=True)
    metadata = tmp_path / done.stdout.split()[-1] / "METADATA"
    told = message_from_string(metadata.read_text(encoding="utf-8"))
    assert f"Repository, {ADDRESS}" in told.get_all("Project-URL")
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", told.get_payload())
    assert links
    assert all(place.startswith("https://") for _, place in links)
    pictures = [place for shown, place in links if shown]
    assert f"{ADDRESS}/raw/v0.1.0/docs/pictures/traversals.gif" in pictures


def test_links_that_lead_nowhere_are_refused(release, tmp_path):
    with pytest.raises(SystemExit, match=r"names docs/gone\.md, which is not there"):
        release.with_addresses("[here](docs/gone.md)", ADDRESS, "v1", tmp_path)


def test_addresses_and_parts_of_pages_stay(release, tmp_path):
    (tmp_path / "page.md").touch()
    text = "[a](https://example.org/x) [b](page.md#part)"
    expected = f"[a](https://example.org/x) [b]({ADDRESS}/blob/v1/page.md#part)"
    assert release.with_addresses(text, ADDRESS, "v1", tmp_path) == expected


def test_a_release_asks_for_an_address(tmp_path):
    words = [sys.executable, str(ROOT / "packaging" / "release.py"), "unweave"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1
    assert "expected an address like https://HOST/OWNER/unweave, found 'unweave'" in done.stderr
