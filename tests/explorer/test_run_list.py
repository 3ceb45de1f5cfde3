"""The list of runs: only changes are sent, the best is one of its kind, pictures are the run's."""

import io
import json
import shutil

import pytest
from explored import TOKEN, Served
from PIL import Image

from unweave.explorer.open_runs import Library
from unweave.explorer.run_list import all_runs
from unweave.explorer.server import in_background


@pytest.fixture
def folder(runs, tmp_path):
    """Four scored runs: two of one protocol, one of another, one of other data."""
    root = tmp_path / "runs"
    scores = {"a": (0.2, "one"), "b": (0.3, "one"), "c": (0.9, "two"), "d": (0.8, "one")}
    for name, (value, protocol) in scores.items():
        shutil.copytree(runs / "vae-s0", root / name)
        score = {"value": value, "protocol": protocol, "higher_is_better": True, "details": {}}
        (root / name / "scores.json").write_text(json.dumps({"mig": score}))
    config = json.loads((root / "d" / "config.json").read_text())
    config["settings"]["data"] = "toy_shapes"
    (root / "d" / "config.json").write_text(json.dumps(config))
    return root


def test_only_what_changed_is_listed_again(folder):
    library = Library(folder)
    first = all_runs(library)
    assert [line["name"] for line in first["runs"]] == ["a", "b", "c", "d"]
    again = all_runs(library, first["version"])
    assert (again["runs"], again["gone"], again["version"]) == ([], [], first["version"])
    (folder / "b" / "scores.json").unlink()
    shutil.rmtree(folder / "c")
    (folder / "d" / "config.json").write_text("no JSON")
    later = all_runs(library, again["version"])
    assert {line["name"]: line["state"] for line in later["runs"]} == {
        "b": "done",
        "d": "unreadable",
    }
    assert later["gone"] == ["c"]
    assert later["runs"][0]["scores"] == {}
    unchanged = all_runs(library, later["version"])
    assert (unchanged["runs"], unchanged["gone"]) == ([], [])
    assert len(all_runs(library)["runs"]) == 3  # a list that begins anew gets all


def test_the_best_is_one_of_its_data_and_protocol(page, folder):
    with in_background(folder, TOKEN) as (port, _):
        page.goto(f"http://127.0.0.1:{port}/?token={TOKEN}")
        page.wait_for_selector("html[data-ready]")
        best = page.locator("td .best").evaluate_all("all => all.map(one => one.textContent)")
        assert best == ["0.300"]  # 0.9 is by another protocol, 0.8 of other data
        page.get_by_label("Filter runs").fill("b")
        page.get_by_text("1 of 4 runs").wait_for()
        assert page.locator("td .best").count() == 0
        page.get_by_label("Filter runs").fill("")
        (folder / "a" / "scores.json").write_text(
            (folder / "b" / "scores.json").read_text().replace("0.3", "0.4")
        )
        page.locator("td .best", has_text="0.400").wait_for()  # followed without reloading
    gone = page.locator(".live.gone")
    gone.wait_for()
    assert "the explorer does not answer" in gone.inner_text()
    page.goto("about:blank")
    page.complaints.clear()  # browsers note every request that nobody answers


def test_a_thumbnail_is_a_picture_of_the_run_and_never_a_link(runs, folder, tmp_path):
    secret = tmp_path / "secret.png"
    Image.new("RGB", (300, 200), (255, 0, 0)).save(secret)
    figures = folder / "a" / "figures"
    figures.mkdir(exist_ok=True)
    with in_background(folder, TOKEN) as (port, _):
        served = Served(folder, port)
        for file in figures.rglob("*.png"):
            file.unlink()
        assert served.ask("/runs/a/thumbnail.png")[0] == 404
        (figures / "traversals.png").symlink_to(secret)
        assert served.ask("/runs/a/thumbnail.png")[0] == 404
        (figures / "traversals.png").unlink()
        library = Library(folder)
        assert not all_runs(library)["runs"][0]["has_picture"]
        Image.new("RGB", (300, 200), (0, 0, 255)).save(figures / "traversals.png")
        assert all_runs(library)["runs"][0]["has_picture"]  # it came after all else
        status, headers, content = served.ask("/runs/a/thumbnail.png")
        assert (status, headers["content-type"]) == (200, "image/png")
        with Image.open(io.BytesIO(content)) as small:
            assert (small.size, small.convert("RGB").getpixel((60, 40))) == (
                (120, 80),
                (0, 0, 255),
            )
        (figures / "traversals.png").write_bytes(b"<script>")
        assert served.ask("/runs/a/thumbnail.png")[0] == 400


def test_pictures_of_training_are_listed_and_shown(folder):
    training = folder / "a" / "figures" / "training"
    shutil.rmtree(training, ignore_errors=True)
    training.mkdir(parents=True)
    for step in (20, 3):
        Image.new("L", (8, 8), step).save(training / f"traversals-{step:07}.png")
    (training / "notes.txt").write_text("no picture")
    with in_background(folder, TOKEN) as (port, _):
        served = Served(folder, port)
        kinds = served.json("/runs/a/training_pictures.json")["kinds"]
        assert [entry["step"] for entry in kinds["traversals"]] == [3, 20]
        file = kinds["traversals"][0]["file"]
        status, _, content = served.ask(f"/runs/a/training/{file}")
        assert status == 200
        assert content == (training / file).read_bytes()
        for name in ("notes.txt", "..%2f..%2fconfig.json", "none-1.png"):
            assert served.ask(f"/runs/a/training/{name}")[0] == 404, name
