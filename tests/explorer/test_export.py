"""The page as one file: everything inside, nothing that could break out, clear refusals."""

import base64
import gzip
import json
import re

import onnx
import pytest

from unweave.cli import main
from unweave.explorer import page_files
from unweave.explorer.open_runs import Library, OpenRun
from unweave.runs.run import load


def element(text: str, name: str) -> str:
    """Return what stands in an element of the page."""
    (found,) = re.findall(f'<script type="text/plain" id="{name}">(.*?)</script>', text, re.S)
    return found


@pytest.fixture(scope="module")
def text(exported):
    return exported.read_text(encoding="utf-8")


def test_it_holds_the_networks_the_runtime_and_where_to_start(text, runs):
    content = json.loads(element(text, "content"))
    assert content["name"] == "vae-s0"
    assert content["answers"]["/runs/vae-s0.json"]["method"] == "vae"
    assert "/runs/vae-s0/heat_map.json?kind=mi" in content["answers"]
    assert len(content["starts"]["images"]) == len(content["starts"]["prior"]) == 24
    decoder = gzip.decompress(base64.b64decode(element(text, "decoder")))
    assert decoder == OpenRun(load(runs / "vae-s0")).decoder
    encoder = gzip.decompress(base64.b64decode(element(text, "encoder")))
    assert [one.name for one in onnx.load_from_string(encoder).graph.input] == ["images"]
    runtime = base64.b64decode(element(text, "runtime"))
    assert gzip.decompress(runtime)[:4] == b"\0asm"


def test_a_name_cannot_become_a_script(text):
    assert "<script>alert" not in text
    answers = json.loads(element(text, "content"))["answers"]
    assert answers["/runs/vae-s0/latents.json?quick=1"]["names"][0].startswith("</script>")


def test_it_forbids_itself_every_connection(text):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert "http" not in policy
    assert not re.findall(r'(?:src|href)="(?!/"|#|data:)[^"]*"', text)


def test_every_script_is_inside_and_imports_only_what_is(text):
    (found,) = re.findall(r'<script type="importmap">(.*?)</script>', text, re.S)
    inside = json.loads(found)["imports"]
    for name, path in page_files.FILES.items():
        if path.suffix == ".js":
            for wanted in re.findall(
                r'(?:^import .* from |import\()"([^"]+)"', path.read_text(), re.M
            ):
                assert wanted in inside, f"{name} imports {wanted}"


def test_what_cannot_be_exported_is_refused(runs, tmp_path, capsys):
    for words, message in (
        ([str(tmp_path / "p.html"), str(runs)], "not a run folder"),
        ([str(tmp_path / "p.html"), str(runs / "truth")], "has no decoder"),
        ([str(tmp_path), str(runs / "vae-s0")], "name a file"),
        ([str(tmp_path / "none" / "p.html"), str(runs / "vae-s0")], "name a file"),
        ([str(tmp_path / "p.html"), str(runs / "none")], "no such folder"),
    ):
        assert main(["explore", "--export", *words]) == 2
        assert message in capsys.readouterr().err
    assert Library(runs).names()  # and nothing there was touched
    assert list(tmp_path.iterdir()) == []
