"""Codes that nothing was learnt for, scored as a run was."""

import json
import shutil

import pytest

from unweave.evaluation import baselines
from unweave.evaluation.baselines import PIXELS, TRUTH, UNTRAINED, baselines_of
from unweave.evaluation.encode import encode_run
from unweave.evaluation.score import score
from unweave.runs.run import load
from unweave.runs.wrapped import wrap
from unweave.workflows import evaluate

METRICS = ["mig", "modularity"]


@pytest.fixture(scope="module")
def folder(tiny_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("baselines") / "run"
    shutil.copytree(tiny_run("vae").path, folder)
    evaluate(load(folder), METRICS)
    return folder


@pytest.fixture(scope="module")
def found(folder):
    return baselines_of(load(folder))


def test_truth_is_best_and_pixels_are_nothing(found):
    assert set(found.values) == set(found.nulls) == set(METRICS)
    assert found.rows == 1024
    by = found.values["mig"]
    assert by[TRUTH] == pytest.approx(1, abs=1e-6)
    assert by[PIXELS] < 0.1
    assert 0 <= by[UNTRAINED] < 0.5


def test_baselines_are_of_the_rows_that_the_run_was_scored_on(found, folder, toy):
    encoded = encode_run(load(folder))
    truth = score(encoded.factors.astype(float), encoded.factors, ["modularity"])
    assert found.values["modularity"][TRUTH] == pytest.approx(truth["modularity"].value)


def test_nulls_of_shuffled_factors_know_nothing(found):
    assert len(found.nulls["mig"]["shuffled"]) == baselines.DRAWS
    assert max(found.nulls["mig"]["shuffled"]) < 0.05


def test_they_are_kept_with_the_run_and_made_once(folder, found, monkeypatch):
    def never(*_):
        raise AssertionError("made again")

    monkeypatch.setattr(baselines, "_made", never)
    assert baselines_of(load(folder)) == found
    assert baselines_of(load(folder), make=False) == found
    monkeypatch.setattr(baselines, "FILE", "elsewhere.json")
    assert baselines_of(load(folder), make=False).values == {}


def test_other_scores_or_a_spoilt_file_make_them_anew(folder, found, tmp_path, monkeypatch):
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    file = copy / baselines.FILE
    content = json.loads(file.read_text())
    content["values"]["mig"]["pixels"] = "<script>"
    file.write_text(json.dumps(content))
    made = []
    monkeypatch.setattr(baselines, "_made", lambda *_: made.append(1) or found)
    assert baselines_of(load(copy)) == found
    assert made == [1]
    assert json.loads(file.read_text())["values"] == found.values
    run = load(copy)
    scores = run.scores
    scores["mig"]["value"] = 0.5
    run.folder.write_scores(scores)
    baselines_of(load(copy))
    assert made == [1, 1]


def test_a_slow_metric_is_left_out_of_what_would_take_minutes(folder, found, monkeypatch):
    monkeypatch.setattr(baselines, "SLOW", {"mig": 0})
    run = load(folder)
    assert set(baselines._made(run, baselines._wanted(run)).values) == {"modularity"}


def test_a_model_of_the_users_has_baselines_but_no_untrained_twin(toy):
    model = wrap(lambda images: images.mean((1, 2))[:, ::8], toy, takes="arrays")
    assert baselines_of(model).values == {}
    evaluate(model, ["modularity"])
    assert set(baselines_of(model).values["modularity"]) == {PIXELS, "PCA", TRUTH}
