"""Run folders of others, or damaged ones: one line that says what was found, and exit code 2."""

import json
import os
import shutil
from pathlib import Path

import pytest

from unweave import views
from unweave.cli import main
from unweave.errors import DataError
from unweave.explorer import page_data, run_list
from unweave.explorer.answers import as_json
from unweave.explorer.open_runs import Library
from unweave.files.writing import write_atomically
from unweave.runs.folder import RunFolder
from unweave.runs.run import load

SMALL = [
    "--steps",
    "3",
    "--batch-size",
    "8",
    "--evaluations",
    "1",
    "--threads",
    "1",
    "--method.latent-dim",
    "3",
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "run"
    words = ["train", "beta_vae", "--data", "toy_xys", "--no-evaluation", "--out", str(folder)]
    assert main([*words, *SMALL]) == 0
    return folder


@pytest.fixture
def run(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "runs" / "bad"))


def refused(words: list[str], capsys) -> str:
    """Run a command that must end with one line and exit code 2; return the line."""
    capsys.readouterr()
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1, error
    return error


BAD_LINES = {
    "no JSON": ("{nonsense\n", "line 4 is not JSON"),
    "no table": ("[1, 2]\n", "line 4: expected a step"),
    "no step": ('{"loss": 1.0}\n', "line 4: expected a step"),
    "a negative step": ('{"step": -1}\n', "line 4: expected a step"),
    "an endless step": ('{"step": 1' + "0" * 400 + "}\n", "line 4: expected a step"),
    "a player that is no name": ('{"step": 1, "player": 3}\n', "'player' is 3"),
    "a bound that is no number": (
        '{"step": 1, "kind": "diagnostics", "elbo": "low"}\n',
        "'elbo' is 'low'",
    ),
    "KL that is no list": ('{"step": 1, "kl_per_dimension": {"a": 1}}\n', "'kl_per_dimension'"),
    "nested without end": ("[" * 100_000 + "\n", "line 4 is not JSON"),
}


@pytest.mark.parametrize(("line", "said"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_of_the_record_is_named(run, line, said, capsys):
    folder = RunFolder(run)
    lines = folder.record_file.read_text().splitlines(keepends=True)[:3]
    folder.record_file.write_text("".join(lines) + line + lines[0])
    with pytest.raises(DataError, match="line 4") as found:
        page_data.curves(folder)
    assert said in str(found.value)
    assert said in refused(["resume", str(run), "--steps", "5"], capsys)


def test_figures_and_reports_name_a_bad_line_of_the_record(run, capsys):
    with RunFolder(run).record_file.open("a") as file:
        file.write("{nonsense\n")
    said = "is not JSON: '{nonsense'"
    capsys.readouterr()
    assert main(["figures", str(run), "--only", "curves"]) == 0
    assert said in capsys.readouterr().out
    assert said in refused(["report", str(run)], capsys)


def test_evaluations_of_different_numbers_of_latents_are_refused(run):
    folder = RunFolder(run)
    with folder.record_file.open("a") as file:
        for kl in ([1.0], [1.0, 2.0]):
            entry = {"step": 2, "kind": "diagnostics", "kl_per_dimension": kl}
            file.write(json.dumps(entry) + "\n")
    with pytest.raises(DataError, match="different numbers of latents"):
        page_data.curves(folder)


BAD_SCORES = {
    "no table": [1],
    "a score that is no table": {"mig": 3},
    "a score without a value": {"mig": {}},
    "a value in words": {"mig": {"value": "high"}},
    "a value that is no number": {"mig": {"value": float("nan")}},
    "an endless value": {"mig": {"value": 10**400}},
    "a value that is a truth": {"mig": {"value": True}},
    "parts in words": {"mig": {"value": 0.5, "parts": {"a": "b"}}},
    "nulls that are no list": {"mig": {"value": 0.5, "nulls": {"rotated": 3}}},
    "nulls without draws": {"mig": {"value": 0.5, "nulls": {"rotated": []}}},
    "an odd interval": {"mig": {"value": 0.5, "details": {"interval": [1]}}},
    "notes in one word": {"mig": {"value": 0.5, "notes": 7}},
    "made of a list": {"mig": {"value": 0.5, "made": [1]}},
    "a protocol that is a table": {"mig": {"value": 0.5, "protocol": {}}},
}
BAD_STATUSES = [[], {}, {"state": 3}, {"state": "done", "step": "x"}, {"state": "done", "step": -1}]


def spoil(run: Path, name: str, content: object) -> None:
    (run / name).write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(pytest.param("scores.json", content, id=key) for key, content in BAD_SCORES.items()),
        *(pytest.param("status.json", content, id=f"{content}") for content in BAD_STATUSES),
    ],
)
def test_one_bad_run_hides_no_other(trained, run, name, content, capsys):
    shutil.copytree(trained, run.with_name("good"))
    spoil(run, name, content)
    capsys.readouterr()
    assert main(["list", "runs", str(run.parent)]) == 0
    out = capsys.readouterr().out
    assert "not shown: " in out
    assert name in out
    assert "good" in out
    lines = {line["name"]: line for line in run_list.all_runs(Library(run.parent))["runs"]}
    assert lines["good"]["state"] == "done"
    assert name in lines["bad"]["problem"]


def test_a_heat_map_of_a_stored_score_without_its_table_is_that_of_codes(run, capsys):
    spoil(run, "scores.json", {"mig": {"value": 0.5, "details": {"factor_names": ["x"]}}})
    capsys.readouterr()
    assert main(["figures", str(run), "--only", "heat_map_mi"]) == 0
    assert (run / "figures" / "heat_map_mi.png").is_file()
    with pytest.raises(DataError, match="no table of its 3 latents"):
        views.heat_map(load(run))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("image_shape", [-1, 64, 64], "image_shape"),
        ("image_shape", [1, 0, 64], "image_shape"),
        ("image_shape", [1, 64, 10**400], "image_shape"),
        ("image_shape", [3, 10**7, 10**7], "more than"),
        ("rows", -1, "rows"),
        ("column_sizes", {"label": "many"}, "column_sizes"),
        ("column_sizes", {"label": -5}, "column_sizes"),
        ("settings", [], "expected a table of settings"),
    ],
)
def test_impossible_sizes_of_data_are_refused(run, key, value, said, capsys):
    content = json.loads((run / "config.json").read_text())
    spoil(run, "config.json", content | {key: value})
    line = refused(["figures", str(run)], capsys)
    assert said in line
    assert "config.json" in line


@pytest.mark.parametrize(
    ("key", "value"),
    [("seed", 2**63), ("steps", 10**30), ("batch_size", 10**30), ("validation", 10**400)],
)
def test_settings_beyond_all_sizes_are_refused(run, key, value, capsys):
    content = json.loads((run / "config.json").read_text())
    content["settings"][key] = value
    spoil(run, "config.json", content)
    assert key in refused(["silence", str(run)], capsys)


def test_texts_that_no_encoding_knows_are_shown_escaped(run):
    spoil(run, "status.json", {"state": "\ud800"})
    shutil.copytree(run, run.with_name("\udc80"))
    answer = as_json(run_list.all_runs(Library(run.parent)))
    names = [line["name"] for line in json.loads(answer.body)["runs"]]
    assert names == ["bad", "\udc80"]
    assert main(["list", "runs", str(run.parent)]) == 0


def test_a_folder_that_may_not_be_read_hides_no_run(trained, run, monkeypatch, capsys):
    shutil.copytree(trained, run.with_name("good"))
    usual = Path.read_text

    def refuse(path: Path, *more: object, **others: object) -> str:
        if path.parent == run:
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path, *more, **others)

    monkeypatch.setattr(Path, "read_text", refuse)
    lines = {line["name"]: line for line in run_list.all_runs(Library(run.parent))["runs"]}
    assert lines["good"]["state"] == "done"
    assert "Permission denied" in lines["bad"]["problem"]


@pytest.mark.parametrize("latents", ['{"latents": "z"}', "[]", '{"latents": [-1]}', "{}"])
def test_odd_words_on_silenced_latents_are_refused(run, latents, capsys):
    (run / "silenced.json").write_text(latents)
    assert "silenced.json" in refused(["silence", str(run), "--undo"], capsys)


def test_names_of_latents_that_are_none_are_refused(run):
    for names in ({"1" * 5000: "x"}, {"1": 3}, [1]):
        spoil(run, "latent_names.json", names)
        with pytest.raises(DataError, match=r"latent_names\.json"):
            RunFolder(run).latent_names()


def test_a_lock_that_is_a_folder_is_named(run, capsys):
    (run / ".lock").unlink(missing_ok=True)
    (run / ".lock").mkdir()
    assert "cannot lock" in refused(["resume", str(run), "--steps", "5"], capsys)


@pytest.mark.parametrize(
    "words",
    [
        ["train", "vae", "--data", "toy_xys", "--out", "o" * 300],
        ["train", "vae", "--data", "./" + "d" * 300],
        ["data", "dsprites:/" + "d" * 300],
        ["report", "r" * 300],
        ["resume", "r" * 300],
        ["list", "runs", "r" * 300],
        ["explore", "r" * 300],
        ["study", "run", "s" * 300],
        ["evaluate", "--codes", "c" * 300 + ".npy"],
        ["evaluate", "--codes", "c" * 300 + ".csv"],
        ["figures", "r" * 300],
        ["silence", "r" * 300],
    ],
    ids=lambda words: " ".join(words)[:14],
)
def test_names_that_no_disk_can_hold_are_refused(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = refused(words, capsys)
    assert "too long" in said or "no such file" in said.lower() or "no file" in said, said


def test_a_disk_that_cannot_be_written_to_is_named_once(tmp_path, monkeypatch):
    def refuse(path: object, *more: object, **others: object) -> None:
        raise OSError(30, "Read-only file system", str(path))

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(DataError, match=r"cannot write .*Read-only file system"):
        write_atomically(tmp_path / "file", "content")


def test_names_of_runs_are_shown_as_they_are(trained, tmp_path, capsys):
    shutil.copytree(trained, tmp_path / "[red]a[b] :smile: \x1b[31m")
    capsys.readouterr()
    assert main(["list", "runs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "[red]a[b] :smile: \\x1b[31m" in out
    assert "\x1b[31m" not in out
