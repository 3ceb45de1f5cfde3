"""Runs of others: data they name elsewhere on the disk is opened when the user says so."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from explored import TOKEN, Served

import unweave as uw
from unweave import runs as run_folders
from unweave.cli import main
from unweave.explorer.server import in_background
from unweave.files import opened_places
from unweave.runs.foreign_data import ForeignData


@pytest.fixture
def private(tmp_path) -> Path:
    """A file of images that the user has not opened, of the shape of toy_xys."""
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "private.npy"
    np.save(path, np.random.default_rng(0).integers(0, 255, (40, 32, 32), dtype=np.uint8))
    return path


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(opened_places, "cache_folder", lambda: tmp_path / "cache")


@pytest.fixture
def foreign(runs, private, tmp_path) -> Path:
    """A folder of one run of somebody else, which names the private file as its data."""
    folder = Path(shutil.copytree(runs / "vae-s0", tmp_path / "foreign" / "run"))
    name_data(folder, str(private))
    return folder


def name_data(folder: Path, source: str, **options: str) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["settings"]["data"] = source
    config["settings"]["data_options"] |= options
    (folder / "config.json").write_text(json.dumps(config))


def refused(words: list[str], capsys) -> str:
    capsys.readouterr()
    assert main(words) == 2
    return capsys.readouterr().err


def test_data_elsewhere_is_not_opened_by_looking(foreign, private, monkeypatch, capsys):
    monkeypatch.setattr("unweave.data.load_array_file", lambda *a: pytest.fail("it was opened"))
    with pytest.raises(ForeignData, match=r"private\.npy"):
        _ = run_folders.load(foreign).data
    for words in (["figures", str(foreign), "--row", "0"], ["evaluate", str(foreign)]):
        error = refused(words, capsys)
        assert f"--allow-data {private}" in error
        assert error.count("\n") == 1


def test_reports_and_exported_pages_leave_such_data_out_and_say_so(foreign, private, capsys):
    with pytest.warns(match="the page shows no images of the data"):
        page = Path(uw.explorer.export_page(foreign, foreign.parent / "page.html"))
    content = page.read_text()
    assert '"images": []' in content
    assert "--allow-data" in content
    assert main(["report", str(foreign)]) == 0
    assert "names data that you have not opened before" in (foreign / "report.html").read_text()


def test_the_flag_opens_it_once_and_for_all(foreign, private, capsys):
    words = ["figures", str(foreign), "--only", "reconstructions"]
    assert main([*words, "--allow-data", str(private.parent)]) == 0
    assert main(words) == 0
    assert "no such file" in refused([*words, "--allow-data", "/no/such/place"], capsys)


def test_what_the_user_opened_by_name_needs_no_leave(foreign, private):
    uw.load_data(private)
    assert len(run_folders.load(foreign).data) == 40


def test_data_in_what_was_opened_needs_no_leave(foreign, private):
    inside = foreign.parent / "data.npy"
    shutil.copy(private, inside)
    name_data(foreign, str(inside))
    assert len(run_folders.load(foreign, within=foreign.parent).data) == 40
    with pytest.raises(ForeignData):
        _ = run_folders.load(foreign).data  # only the run was opened
    assert opened_places.opened_places() == []


def test_links_do_not_lead_out_of_what_was_opened(foreign, private):
    (foreign / "data.npy").symlink_to(private)
    name_data(foreign, str(foreign / "data.npy"))
    with pytest.raises(ForeignData):
        _ = run_folders.load(foreign).data
    folder = foreign / "images"
    folder.mkdir()
    (folder / "a.png").symlink_to(private)
    name_data(foreign, str(folder))
    with pytest.raises(ForeignData):
        _ = run_folders.load(foreign).data


def test_files_of_factors_and_paths_behind_names_are_asked_for_too(foreign, private):
    inside = foreign / "data.npy"
    shutil.copy(private, inside)
    name_data(foreign, str(inside), factors=str(private))
    with pytest.raises(ForeignData, match=r"private\.npy"):
        _ = run_folders.load(foreign).data
    name_data(foreign, f"dsprites:{private}")
    with pytest.raises(ForeignData, match=r"private\.npy"):
        _ = run_folders.load(foreign).data


def test_sets_that_are_made_here_need_no_leave(foreign):
    name_data(foreign, "toy_xys")
    assert len(run_folders.load(foreign).data) == 1024


def test_a_list_of_places_that_is_damaged_opens_nothing(foreign):
    opened_places.places_file().parent.mkdir()
    for text in ("{", "[1, null]", '{"/": 1}'):
        opened_places.places_file().write_text(text)
        with pytest.raises(ForeignData):
            _ = run_folders.load(foreign).data


def test_the_explorer_asks_and_opens_what_it_showed(foreign, private):
    with in_background(foreign.parent, TOKEN) as (port, _):
        served = Served(foreign.parent, port)
        found = served.json("/runs/run/latents.json")
        assert found["asks"] == [str(private)]
        assert found["rows"] == 0
        assert served.ask("/runs/run/row.json?row=0")[0] == 400
        for body in ({"places": ["/"]}, {"places": str(private)}, {}):
            status, _, _ = served.ask("/runs/run/data", method="POST", body=json.dumps(body))
            assert status == 400
        assert served.json("/runs/run/latents.json")["rows"] == 0
        body = json.dumps({"places": found["asks"]})
        assert served.ask("/runs/run/data", method="POST", body=body, token=False)[0] == 403
        assert served.ask("/runs/run/data", method="POST", body=body)[0] == 200
        assert served.json("/runs/run/latents.json")["rows"] == 40
        assert served.ask("/runs/run/row.json?row=0")[0] == 200


def test_the_page_has_a_button_that_opens_the_data(foreign, private, page):
    with in_background(foreign.parent, TOKEN) as (port, _):
        page.goto(f"http://127.0.0.1:{port}/runs/run?token={TOKEN}")
        page.get_by_role("button", name=f"Open {private}").click()
        page.get_by_role("button", name="Random image").wait_for()
        page.goto("about:blank")  # before nobody answers it any more
