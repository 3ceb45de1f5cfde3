"""The page as one file: everything inside, nothing that could break out, clear refusals."""

import base64
import gzip
import json
import re

import pytest

from unweave.cli import main
from unweave.explorer import export_page, page_files
from unweave.explorer.library import Library, OpenRun
from unweave.runs import load


def element(text: str, name: str) -> str:
    """Return what stands in an element of the page."""
    (found,) = re.findall(f'<script type="text/plain" id="{name}">(.*?)</script>', text, re.S)
    return found


@pytest.fixture(scope="module")
def exported(runs, tmp_path_factory):
    run = load(runs / "vae-s0")
    run.name_latent(0, "</script><script>alert(1)</script>")
    try:
        path = export_page(run.path, tmp_path_factory.mktemp("export") / "page.html")
    finally:
        run.name_latent(0, "")
    return path.read_text(encoding="utf-8")


def test_it_holds_the_decoder_the_runtime_and_where_to_start(exported, runs):
    content = json.loads(element(exported, "content"))
    assert content["run"]["name"] == "vae-s0"
    assert len(content["starts"]["images"]) == len(content["starts"]["prior"]) == 24
    decoder = gzip.decompress(base64.b64decode(element(exported, "decoder")))
    assert decoder == OpenRun(load(runs / "vae-s0")).decoder
    runtime = base64.b64decode(element(exported, "runtime"))
    assert gzip.decompress(runtime)[:4] == b"\0asm"


def test_a_name_cannot_become_a_script(exported):
    assert "<script>alert" not in exported
    assert json.loads(element(exported, "content"))["latents"]["names"][0].startswith("</script>")


def test_it_forbids_itself_every_connection(exported):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', exported)
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert "http" not in policy
    assert not re.findall(r'(?:src|href)="(?!/"|#|data:)[^"]*"', exported)


def test_every_script_is_inside_and_imports_only_what_is(exported):
    (text,) = re.findall(r'<script type="importmap">(.*?)</script>', exported, re.S)
    inside = json.loads(text)["imports"]
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
