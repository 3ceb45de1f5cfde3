"""The runtime that the page evaluates decoders with is what its lock file builds, with notices."""

import hashlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "explorer_runtime"
RUNTIME = ROOT / "src" / "unweave" / "explorer" / "runtime"
BUILT = json.loads((BUILD / "built.json").read_text())


@pytest.mark.parametrize("name", sorted(BUILT))
def test_what_is_shipped_was_built_from_what_is_here(name):
    folder = RUNTIME if name.startswith("ort.") else BUILD
    found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    assert found == BUILT[name], f"{name} has changed: run `make explorer-runtime`"


def test_all_that_is_shipped_and_built_from_is_recorded():
    shipped = {path.name for path in RUNTIME.iterdir() if path.suffix != ".txt"}
    sources = {path.name for path in BUILD.iterdir() if path.is_file()} - {"built.json"}
    assert set(BUILT) == shipped | sources


def test_the_works_of_others_in_the_runtime_are_named():
    version = json.loads((BUILD / "package.json").read_text())["devDependencies"]["onnxruntime-web"]
    licence = (RUNTIME / "LICENSE.txt").read_text()
    assert f"ONNX Runtime Web {version}" in licence
    assert f"ONNX Runtime {version} contains" in licence
    notices = (RUNTIME / "ThirdPartyNotices.txt").read_text()
    for work in ("protobuf", "eigen", "flatbuffers", "abseil", "onnx/onnx", "emscripten"):
        assert work in notices.lower(), work
