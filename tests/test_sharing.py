"""Runs as cards, on the Hub, and as examples."""

import json
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import unweave as uw
from unweave import examples, hub
from unweave.cli import main
from unweave.errors import ConfigError, DataError
from unweave.explorer.kept_pictures import has_thumbnail
from unweave.explorer.open_runs import Library
from unweave.report.card import card
from unweave.runs.config import Machine
from unweave.runs.folder import RunFolder

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def run(toy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared") / "my-run"
    trained = uw.train(
        uw.BetaVAE(beta=2, latent_dim=3),
        toy,
        steps=2,
        batch_size=4,
        out=folder,
        machine=Machine(evaluations=0, threads=1),
        evaluate=False,
        progress=False,
    )
    uw.evaluate(trained, ["mig"], preset="fast")
    return trained


def test_the_folder_has_a_card_with_method_data_scores_pictures_and_the_command(run):
    text = (run.path / "README.md").read_text(encoding="utf-8")
    assert text == card(run), "written again once it was scored"
    head, _, body = text.removeprefix("---\n").partition("---\n")
    assert "library_name: unweave" in head
    value = run.scores["mig"]["value"]
    assert f"value: {value:.6g}" in head
    assert f"| `mig` | {value:.4f} | higher |" in body
    assert "toy_xys" in body
    assert "| `beta` | `2.0` |" in body
    assert "unweave train beta_vae --data toy_xys --steps 2" in body
    assert "--threads 1" in body
    for picture in re.findall(r"\]\((figures/[^)]+)\)", body):
        assert (run.path / picture).is_file()
    assert "figures/traversals.png" in body


def test_the_head_of_a_card_is_yaml(run):
    import yaml

    found = yaml.safe_load((run.path / "README.md").read_text().split("---\n")[1])
    assert found["model-index"][0]["results"][0]["metrics"][0]["type"] == "mig"


def test_a_run_that_was_killed_has_a_card_too(toy, tmp_path, monkeypatch):
    def die(*_):
        raise RuntimeError("killed")

    monkeypatch.setattr("unweave.training.loop._Session.make_step", die)
    with pytest.raises(RuntimeError):
        uw.train("vae", toy, steps=2, out=tmp_path / "run", progress=False)
    text = (tmp_path / "run" / "README.md").read_text(encoding="utf-8")
    assert "So far 0 of them are made" in text
    assert "Not scored yet" in text


def test_a_folder_in_the_layout_of_the_hub_leads_back_to_the_run(run, toy, tmp_path, capsys):
    assert main(["push", str(run.path), str(tmp_path / "shared")]) == 0
    there = {str(p.relative_to(tmp_path / "shared")) for p in (tmp_path / "shared").rglob("*")}
    assert {"README.md", "config.json", "model.safetensors", "figures/traversals.png"} <= there
    assert not any("checkpoint" in name or "plugins" in name for name in there)
    assert main(["pull", str(tmp_path / "shared"), "--to", str(tmp_path / "back")]) == 0
    back = uw.load(tmp_path / "back", data=toy)
    images = toy.images([0, 5])
    np.testing.assert_array_equal(back.encode(images), run.encode(images))
    assert back.scores["mig"] == run.scores["mig"]
    assert main(["pull", str(tmp_path / "shared"), "--to", str(tmp_path / "back")]) == 2
    assert "not empty" in capsys.readouterr().err


class StubbedHub:
    """The part of huggingface_hub that we call, with folders of this machine behind it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.asked: list[tuple] = []

    def HfApi(self):  # noqa: N802 - the name is theirs
        return SimpleNamespace(create_repo=self.create_repo, upload_folder=self.upload_folder)

    def create_repo(self, repo_id, *, private, exist_ok):
        self.asked.append(("create", repo_id, private, exist_ok))
        return f"hub/{repo_id}"

    def upload_folder(self, *, repo_id, folder_path, commit_message):
        shutil.copytree(folder_path, self.folder / repo_id)

    def snapshot_download(self, repo_id, *, revision, allow_patterns):
        self.asked.append(("download", revision, tuple(allow_patterns)))
        if not (self.folder / repo_id).is_dir():
            raise OSError("404: no such repository")
        return str(self.folder / repo_id)


def test_push_and_pull_ask_the_hub_for_what_is_ours(run, tmp_path, monkeypatch, capsys):
    stub = StubbedHub(tmp_path / "hub")
    monkeypatch.setitem(sys.modules, "huggingface_hub", stub)
    monkeypatch.chdir(tmp_path)
    assert main(["push", str(run.path), "me/mine", "--private"]) == 0
    assert stub.asked == [("create", "me/mine", True, True)]
    pulled = uw.from_pretrained("me/mine", revision="v1")
    assert pulled.path == Path("runs/mine")
    assert stub.asked[-1][:2] == ("download", "v1")
    assert "model.safetensors" in stub.asked[-1][2]
    with pytest.raises(DataError, match="cannot pull me/none: 404"):
        uw.from_pretrained("me/none")
    with pytest.raises(ConfigError, match="expected USER/NAME, found 'mine'"):
        hub.push(run, "mine")


def test_without_the_extra_the_hub_is_refused_and_a_folder_is_not(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=r"unweave\[hub\]"):
        hub.push(run, "me/mine")
    uw.save_pretrained(run, tmp_path / "a")
    assert uw.from_pretrained(tmp_path / "a", tmp_path / "b").step == 2


def test_a_name_without_a_user_is_told_from_a_folder_before_the_hub_is_asked_for(run, capsys):
    assert main(["push", str(run.path), "mine"]) == 2
    assert "a folder here is ./mine" in capsys.readouterr().err


def test_what_is_no_run_is_not_pulled_and_what_is_not_finished_not_pushed(run, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"expected config\.json and model\.safetensors"):
        uw.from_pretrained(tmp_path / "empty", tmp_path / "to")
    shutil.copytree(run.path, tmp_path / "half")
    (tmp_path / "half" / "networks.safetensors").unlink()
    with pytest.raises(ConfigError, match="is not finished"):
        uw.save_pretrained(tmp_path / "half", tmp_path / "to")


def test_the_examples_that_the_help_names_are_there_and_small():
    assert examples.names() == ["dsprites", "glyphs", "shapes3d"]
    for name in examples.names():
        files = [file for file in (examples.SHIPPED / name).rglob("*") if file.is_file()]
        assert has_thumbnail(RunFolder(examples.SHIPPED / name)), "the list of runs shows it"
        assert sum(file.stat().st_size for file in files) <= 2_000_000
        scores = json.loads((examples.SHIPPED / name / "scores.json").read_text())
        assert scores["mig"]["value"] > 0


def test_the_example_of_glyphs_names_digits_whose_labels_it_was_not_told():
    run = uw.load("example:glyphs")
    told = run.config.method.supervision.table(run.data).rows
    rows = np.setdiff1d(np.arange(0, len(run.data), 101), told)
    named = run.encode(run.data.images(rows))[:, :10].argmax(1)
    assert (named == run.data.column("label_digit", rows)).mean() > 0.97


def test_an_example_is_loaded_by_name_from_a_copy_that_may_be_written_to():
    run = uw.load("example:dsprites")
    assert run.path.is_relative_to(examples.all_folder())
    assert not run.path.is_relative_to(examples.SHIPPED)
    images = run.decode(run.prior_codes(2))
    assert images.shape == (2, 1, 64, 64)
    (run.path / "networks.safetensors").write_bytes(b"spoilt")
    assert uw.load("example:dsprites").decode(run.prior_codes(2)).shape == (2, 1, 64, 64)
    with pytest.raises(ConfigError, match="Did you mean 'dsprites'"):
        uw.load("example:dsprite")


def test_the_explorer_finds_all_examples_in_one_folder():
    library = Library(examples.unpack_all())
    assert sorted(library.names()) == examples.names()


def test_commands_take_an_example_where_they_take_a_run(tmp_path, capsys):
    words = ["push", "example:dsprites", str(tmp_path / "out")]
    assert main(words) == 0
    assert (tmp_path / "out" / "model.safetensors").is_file()
