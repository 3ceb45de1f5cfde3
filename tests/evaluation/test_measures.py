"""Measures of whole runs: each is right where the answer is known, and says why it has none."""

import dataclasses
import re

import numpy as np
import pytest

from unweave.data import load_data
from unweave.errors import ConfigError, UnweaveError
from unweave.evaluation import measures
from unweave.evaluation.encode import encode_run
from unweave.evaluation.measures import higher_is_better, measure_named
from unweave.evaluation.score import score
from unweave.methods.m2 import M2
from unweave.methods.ml_vae import MLVAE
from unweave.methods.pixels import Pixels
from unweave.methods.vae import VAE
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.studies.run.job import score_run
from unweave.studies.run.ledger import Scoring
from unweave.training import loop

NETWORK = MLP64(hidden=32)


@pytest.fixture(scope="module")
def shapes():
    return load_data("toy_shapes")


@pytest.fixture(scope="module")
def runs(shapes, tmp_path_factory) -> dict[str, Run]:
    """Runs that learnt nothing, for what they do to be put in their place."""
    methods = {
        "m2": M2(latent_dim=3, labels=60),
        "ml_vae": MLVAE(latent_dim=3, content_dim=2),
        "pixels": Pixels(side=0),
        "vae": VAE(latent_dim=3),
    }
    folder = tmp_path_factory.mktemp("measured")
    return {
        name: loop.start(
            Train(method=method, data="toy_shapes", architecture=NETWORK, steps=1, batch_size=10),
            shapes,
            folder / name,
            Machine(evaluations=0),
        )
        for name, method in methods.items()
    }


def of(name: str, run: Run) -> float:
    measure = measure_named(name)
    assert measure is not None
    return measure.of(run)


def test_an_oracle_misnames_nothing_and_one_that_always_says_the_same_two_of_three(
    runs, shapes, monkeypatch
):
    classes = shapes.column("shape")
    named = np.eye(3)

    def codes(self, rows, *more):
        found = np.zeros((len(rows), self.latent_dim))
        found[:, list(self.code.units[0].dimensions)] = named[classes[rows]]
        return found

    assert runs["m2"].code.units[0].kind == "category"
    monkeypatch.setattr(Run, "encode_rows", codes)
    assert of("class_error", runs["m2"]) == 0
    named = np.array([[1.0, 0, 0]] * 3)
    assert of("class_error", runs["m2"]) == pytest.approx(2 / 3, abs=0.02)


def test_images_with_labels_are_not_among_those_judged(runs, shapes, monkeypatch):
    told = set(runs["m2"].config.method.supervision.table(shapes).rows.tolist())
    asked = []

    def codes(self, rows, *more):
        asked.extend(rows)
        return np.zeros((len(rows), self.latent_dim))

    monkeypatch.setattr(Run, "encode_rows", codes)
    of("class_error", runs["m2"])
    assert len(told) == 60
    assert not told & set(asked)
    assert len(asked) == len(shapes) - 60


def test_swaps_as_the_world_draws_them_have_no_error_and_the_style_image_has(
    runs, shapes, monkeypatch
):
    pictures = shapes.images(np.arange(len(shapes)))
    rows = {image.tobytes(): row for row, image in enumerate(pictures)}

    def right(self, contents, styles):
        pairs = [
            [shapes.factors([rows[i.tobytes()]])[0] for i in each] for each in (contents, styles)
        ]
        wanted = np.array(pairs[1])
        wanted[:, 0] = np.array(pairs[0])[:, 0]
        return shapes.images(shapes.rows_of(wanted))

    monkeypatch.setattr(Run, "swap", right)
    assert of("swap_error", runs["ml_vae"]) == 0
    monkeypatch.setattr(Run, "swap", lambda self, contents, styles: styles)
    assert of("swap_error", runs["ml_vae"]) > 0.01


def test_codes_of_the_prior_are_near_it_and_others_are_not(runs, monkeypatch):
    run = runs["vae"]

    def shifted(by: float):
        def draw(self, images, seed=0):
            noise = np.random.default_rng((seed, 1)).standard_normal((len(images), 3))
            return (noise + by).astype(np.float32)

        return draw

    monkeypatch.setattr(Run, "draw_codes", shifted(0.0))
    near = of("prior_mmd", run)
    monkeypatch.setattr(Run, "draw_codes", shifted(2.0))
    assert abs(near) < 0.01
    assert of("prior_mmd", run) > 0.5


def test_samples_of_one_class_are_two_thirds_away_from_three_alike(runs, shapes, monkeypatch):
    run = runs["vae"]
    crosses = np.flatnonzero(shapes.column("shape") == 2)
    monkeypatch.setattr(Run, "sample", lambda self, count: shapes.images(crosses[:100]))
    assert of("sampled_classes", run) == pytest.approx(2 / 3, abs=0.03)
    some = np.random.default_rng(0).integers(len(shapes), size=1500)
    monkeypatch.setattr(Run, "sample", lambda self, count: shapes.images(some))
    assert of("sampled_classes", run) < 0.06


def test_labels_are_counted_in_the_name_and_codes_that_hold_the_class_need_few(
    runs, shapes, monkeypatch
):
    classes = shapes.column("shape")
    monkeypatch.setattr(measures, "ROWS", 300)
    assert of("m1_error_30", runs["pixels"]) > 0.1
    monkeypatch.setattr(Run, "encode_rows", lambda self, rows, *more: np.eye(3)[classes[rows]])
    assert of("m1_error_30", runs["vae"]) == 0


def test_directions_and_names():
    assert higher_is_better("class_from_content")
    assert not higher_is_better("class_from_style")
    assert not higher_is_better("m1_error_100")
    assert higher_is_better("mig")
    assert measure_named("mig") is None
    assert measure_named("m1_error_many") is None


def test_a_metric_by_two_protocols_or_of_a_few_labels_has_a_name_of_its_own(runs):
    run = runs["vae"]
    encoded = encode_run(run)
    for protocol in ("locatello2019", "kumar2018"):
        known = score(encoded.codes, encoded.factors, ["sap"], protocol=protocol)["sap"].value
        assert of(f"sap@{protocol}", run) == known
    few = encode_run(run, rows=60)
    assert of("mig_of_60_labels", run) == score(few.codes, few.factors, ["mig"])["mig"].value
    assert higher_is_better("sap@kumar2018")
    assert not higher_is_better("kl_decomposition@chen2018")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sap@kumar", "Did you mean 'kumar2018'"),
        ("sapp@kumar2018", "Did you mean 'sap'"),
        ("udr_of_100_labels", "only metrics of tables of codes"),
    ],
)
def test_a_form_of_a_metric_that_there_is_not_gets_a_line(name, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        measure_named(name)


def test_a_metric_of_fewer_labels_than_it_needs_says_so(runs):
    with pytest.raises(UnweaveError, match="rows"):
        of("dci_of_1_labels", runs["vae"])


def test_what_a_run_cannot_be_asked_gets_a_line(runs):
    with pytest.raises(ConfigError, match="has no category that labels hold to a class"):
        of("class_error", runs["vae"])


def test_a_study_keeps_measures_beside_metrics_and_says_what_has_none(runs):
    scoring = Scoring(("modularity", "prior_mmd", "class_error"), preset="fast")
    content = score_run(runs["vae"], scoring)
    assert set(content["scores"]) == {"modularity", "prior_mmd"}
    assert "no category" in content["not_scored"]["class_error"]
    alone = score_run(runs["vae"], dataclasses.replace(scoring, metrics=("prior_mmd",)))
    assert set(alone["scores"]) == {"prior_mmd"}
