"""Everything that the page shows, as JSON."""

import base64
import http.client
import io
import json
import re
import shutil
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from unweave import views
from unweave.errors import ConfigError, DataError
from unweave.explorer import page_files
from unweave.explorer.open_runs import Library
from unweave.explorer.server import listen
from unweave.runs.run import load

HERE = "/runs/vae-s0"


def pixels(url: str) -> np.ndarray:
    """Read a PNG data URL back into bytes."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))))


def as_bytes(image: np.ndarray) -> np.ndarray:
    return np.round(image[0] * 255).astype(np.uint8)


@pytest.fixture(scope="module")
def run(runs):
    return load(runs / "vae-s0")


def test_the_list_names_every_run_with_its_scores(served):
    content = served.json("/runs.json")
    lines = {line["name"]: line for line in content["runs"]}
    assert {"vae-s0", "study/vae-s1", "truth"} <= set(lines)
    assert lines["study/vae-s1"]["scores"]["mig"]["value"] == 0.25
    assert lines["study/vae-s1"]["seed"] == 1
    assert lines["vae-s0"] | {"method": "vae", "state": "done", "step": 4} == lines["vae-s0"]
    assert {"name": "mig", "higher_is_better": True} in content["metrics"]
    assert "unfairness" not in lines["study/vae-s1"]["scores"]  # it could not be computed


def test_studies_say_how_far_they_are(served):
    folder = served.root / "studies" / "grid"
    folder.mkdir(parents=True)
    try:
        status = {
            "state": "running",
            "total": 12,
            "done": 5,
            "failed": 1,
            "running": [{"run": "a"}],
        }
        (folder / "status.json").write_text(json.dumps(status))
        (folder.parent / "torn").mkdir()
        (folder.parent / "torn" / "status.json").write_text("{")
        grid, torn = served.json("/runs.json")["studies"]
        assert grid | {"name": "grid", "done": 5, "total": 12, "running": 1} == grid
        assert "not valid JSON" in torn["problem"]
    finally:
        shutil.rmtree(folder.parent)


def test_a_run_that_cannot_be_read_says_why_and_leaves_the_others(served):
    broken = served.root / "broken"
    broken.mkdir()
    try:
        (broken / "config.json").write_text("{")
        lines = {line["name"]: line for line in served.json("/runs.json")["runs"]}
        assert "not valid JSON" in lines["broken"]["problem"]
        assert lines["vae-s0"]["problem"] is None
        assert served.ask("/runs/broken.json")[0] == 400
    finally:
        shutil.rmtree(broken)


def test_a_running_run_says_its_newest_step_or_that_it_is_lost(served):
    copy = served.root / "live"
    shutil.copytree(served.root / "vae-s0", copy)
    try:
        for pid, state in ((__import__("os").getpid(), "running"), (2**22 + 1, "lost")):
            (copy / "status.json").write_text(
                json.dumps({"state": "running", "step": 1, "pid": pid})
            )
            found = served.json("/runs/live/status.json")
            assert (found["state"], found["step"]) == (state, 4)
    finally:
        shutil.rmtree(copy)


def test_latents_carry_names_kl_and_the_ends_of_their_sliders(served, run):
    content = served.json(f"{HERE}/latents.json")
    assert content["order"] == np.argsort(-np.array(content["kl"]), kind="stable").tolist()
    assert content["rows"] == len(run.data)
    assert content["factors"] == list(run.data.factor_names)
    low, high = np.array(content["low"]), np.array(content["high"])
    # Most draws of the prior lie within, few outside.
    inside = (run.prior_codes(4000, seed=5) > low) & (run.prior_codes(4000, seed=5) < high)
    assert 0.97 < inside.mean() < 1


def test_a_row_a_draw_and_an_upload_give_their_codes(served, run):
    row = served.json(f"{HERE}/row.json?row=7")
    image = run.data.images([7])
    np.testing.assert_allclose(row["code"], run.encode(image)[0], atol=1e-6)
    np.testing.assert_array_equal(pixels(row["picture"]), as_bytes(image[0]))
    assert set(row["factors"]) == set(run.data.factor_names)
    drawn = served.json(f"{HERE}/prior.json?seed=3")
    np.testing.assert_allclose(drawn["code"], run.prior_codes(1, 3)[0], atol=1e-6)
    file = io.BytesIO()
    Image.fromarray(as_bytes(image[0])).save(file, "PNG")
    sent = served.json(f"{HERE}/encode", method="POST", body=file.getvalue())
    np.testing.assert_allclose(sent["code"], row["code"], atol=1e-5)
    assert sent["picture"] == row["picture"]


def test_a_large_photograph_is_cut_to_what_the_model_takes(served):
    file = io.BytesIO()
    Image.new("RGB", (300, 200), (255, 0, 0)).save(file, "JPEG")
    sent = served.json(f"{HERE}/encode", method="POST", body=file.getvalue())
    assert pixels(sent["picture"]).shape == (32, 32)


def test_decoded_images_and_traversals_are_those_of_the_run(served, run):
    code = [0.5, -1.25, 2]
    shown = served.json(f"{HERE}/decoded.json?code={','.join(map(str, code))}")
    expected = as_bytes(run.decode(np.array([code]))[0])
    np.testing.assert_array_equal(pixels(shown["picture"]), expected)
    lines = served.json(f"{HERE}/traversals.json?code={','.join(map(str, code))}")["lines"]
    latents = served.json(f"{HERE}/latents.json")
    assert [line["latent"] for line in lines] == latents["order"]
    moved = np.array(code)
    moved[lines[1]["latent"]] = lines[1]["values"][8]
    expected = as_bytes(run.decode(moved[None])[0])
    np.testing.assert_array_equal(pixels(lines[1]["pictures"][8]), expected)


def test_heat_maps_scatters_responses_and_warnings_are_the_views(served, run):
    codes = views.sample_codes(run)
    found = served.json(f"{HERE}/heat_map.json?kind=mi")
    assert found == views.heat_map(run, "mi", codes).to_json()
    points = served.json(f"{HERE}/scatter.json?latent=1&factor={run.data.factor_names[0]}")
    assert points["latent"] == 1
    assert len(points["codes"]) == len(points["values"]) == 1_000
    assert served.json(f"{HERE}/warnings.json") == views.warnings(run, codes).to_json()
    assert served.json(f"{HERE}/response.json")["labels"] == ["z0", "z1", "z2"]


def test_curves_come_from_the_record(served):
    content = served.json(f"{HERE}/curves.json")
    names = {curve["name"] for curve in content["curves"]}
    assert {"loss", "kl"} <= names
    assert len(content["kl"]["steps"]) == len(content["kl"]["kl"]) >= 1


def test_names_of_latents_are_kept_in_the_run_folder(served, run):
    body = json.dumps({"latent": 2, "name": " x position "})
    said = served.json(f"{HERE}/name", method="POST", body=body)
    assert said["names"] == ["", "", "x position"]
    assert load(run.path).latent_names == {2: "x position"}
    assert served.json(f"{HERE}/latents.json")["labels"][2] == "z2 x position"
    served.json(f"{HERE}/name", method="POST", body=json.dumps({"latent": 2, "name": ""}))
    assert load(run.path).latent_names == {}


def test_runs_are_compared_by_scores_settings_and_seeds(served):
    content = served.json("/compare.json?run=vae-s0&run=study/vae-s1")
    assert list(content["settings"]) == ["seed"]
    assert content["settings"]["seed"] == {"vae-s0": 0, "study/vae-s1": 1}
    assert content["scores"]["study/vae-s1"]["mig"]["value"] == 0.25
    (score,) = content["comparison"]["scores"]
    assert (score["metric"], score["values"], score["deviation"]) == ("mig", [0.25], None)
    assert [run["seed"] for run in content["comparison"]["runs"]] == [0, 1]
    assert len(content["comparison"]["groups"]) == 1  # they differ by nothing but the seed


def test_a_method_without_decoder_shows_what_it_can(served):
    facts = served.json("/runs/truth.json")
    assert (facts["decodes"], facts["codes_from"]) == (False, "rows")
    assert max(max(line) for line in served.json("/runs/truth/heat_map.json")["values"]) > 0.9
    assert served.ask("/runs/truth/decoder.onnx")[0] == 400
    assert served.ask("/runs/truth/encode", method="POST", body=b"x")[0] == 400


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"{HERE}/row.json", "needs ?row="),
        (f"{HERE}/row.json?row=-1", "whole number from 0"),
        (f"{HERE}/row.json?row=99999999", "rows 0 to"),
        (f"{HERE}/decoded.json?code=1,2", "code of 3 numbers"),
        (f"{HERE}/decoded.json?code=1,2,nan", "finite"),
        (f"{HERE}/decoded.json?code=a", "numbers with commas"),
        (f"{HERE}/scatter.json?latent=9&factor=side", "from 0 to 2"),
        (f"{HERE}/scatter.json?latent=0&factor=taste", "taste"),
        (f"{HERE}/heat_map.json?kind=colour", "mi or dci"),
        ("/compare.json", "1 to 8 different runs"),
        ("/compare.json?run=vae-s0&run=vae-s0", "1 to 8 different runs"),
    ],
)
def test_what_cannot_be_answered_says_why(served, path, message):
    status, _, content = served.ask(path)
    assert status == 400
    assert message in json.loads(content)["error"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"latent": "0", "name": "x"}', b"[" * 9000])
def test_a_name_that_is_none_is_refused(served, body):
    assert served.ask(f"{HERE}/name", method="POST", body=body)[0] == 400


def test_a_run_whose_data_is_gone_can_still_be_slid(served):
    copy = served.root / "dataless"
    shutil.copytree(served.root / "vae-s0", copy)
    try:
        config = json.loads((copy / "config.json").read_text())
        config["settings"]["data"] = "/no/such/folder"
        (copy / "config.json").write_text(json.dumps(config))
        content = served.json("/runs/dataless/latents.json")
        assert "no such file or folder" in content["problem"]
        assert content["order"] == [0, 1, 2]
        assert all(high > low for low, high in zip(content["low"], content["high"], strict=True))
    finally:
        shutil.rmtree(copy)


def test_one_run_can_be_explored_by_itself(runs):
    library = Library(runs / "vae-s0")
    assert library.is_one_run
    assert library.names() == ["vae-s0"]
    assert library.folder("vae-s0").path == (runs / "vae-s0").resolve()
    with pytest.raises(DataError, match="only 'vae-s0'"):
        library.folder("truth")


def test_folders_and_ports_that_cannot_be_used_are_refused(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        Library(tmp_path / "none")
    with listen(0) as taken, pytest.raises(ConfigError, match="cannot listen"):
        listen(taken.getsockname()[1])
    with pytest.raises(ConfigError, match="65535"):
        listen(70_000)


def test_the_command_serves_until_it_is_interrupted(runs):
    program = [sys.executable, "-m", "unweave", "explore", str(runs), "--no-browser"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline() for _ in range(2)]
        assert "runs in" in lines[0]
        address = urlsplit(lines[1].removeprefix("open ").strip())
        assert address.hostname == "127.0.0.1"
        connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=60)
        connection.request("GET", f"/runs.json?{address.query}")
        assert connection.getresponse().status == 303  # to the same without the token
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_every_address_the_scripts_ask_for_is_served(served):
    """A twin that is renamed on one side only would show up as an empty part of the page."""
    asked = set()
    for name, path in page_files.FILES.items():
        if name.endswith(".js"):
            asked |= set(re.findall(r"/\w+(?:\.json|\.onnx|\.gz)", path.read_text()))
    asked |= {"/encode", "/name"}
    for rest in asked - {"/runs.json", "/compare.json", "/ort.wasm.gz"}:
        status, _, content = served.ask(HERE + rest)
        assert status in (200, 400, 405), f"{rest}: {content[:200]!r}"
        assert b"Not Found" not in content
