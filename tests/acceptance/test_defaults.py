"""The judge of defaults, and the defaults' own ramps."""

import argparse
import sys
from pathlib import Path

import numpy as np
import pytest

from unweave import catalog
from unweave.data import DataOptions, toy_xys
from unweave.methods import method_named
from unweave.methods.annealed_vae import AnnealedVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.runs.config import Machine, Train
from unweave.training import loop

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import defaults
from defaults import complaints, endless_ramps, figures_of, nats_of_the_mean

GOOD = {"error": 0.2, "dimensions in use": 5.0, "variance of samples": 0.8, "mig": 0.1}


@pytest.mark.parametrize("name", catalog.own_names("unweave.methods"))
def test_every_ramp_of_the_defaults_ends_within_the_default_run(name, toy):
    assert endless_ramps(method_named(name)().settled(Train.steps, toy), Train.steps) == []


def test_a_ramp_that_never_ends_is_named(toy):
    for method in (AnnealedVAE(capacity="0:25:100000"), BetaVAE(beta="0:4:15000:6000")):
        (found,) = endless_ramps(method.settled(20_000, toy), 20_000)
        assert "does not end within 20,000 steps" in found
    assert endless_ramps(BetaVAE(beta="0:4:15000:5000"), 20_000) == []


@pytest.mark.parametrize(
    ("figures", "complaint"),
    [
        ({"error": 0.97}, "mean image"),
        ({"dimensions in use": 0.0}, "no dimension"),
        ({"variance of samples": 0.001}, "alike"),
        ({"reconstruction": float("nan")}, "diverged"),
    ],
)
def test_collapse_and_divergence_are_complained_of(figures, complaint):
    assert complaints("vae", GOOD, []) == []
    (found,) = complaints("vae", GOOD | figures, [])
    assert complaint in found


@pytest.mark.parametrize("name", ["vae", "aae", "ground_truth"])
def test_figures_are_taken_of_methods_with_and_without_posterior_or_decoder(name, toy, tmp_path):
    config = Train(method=method_named(name)(latent_dim=2), data="toy_xys", steps=2)
    run = loop.start(config, toy, tmp_path / "run", Machine(evaluations=0, threads=1))
    figures = figures_of(run, toy)
    assert 0 <= figures["mig"] <= 1
    assert ("kl" in figures) == (name == "vae")
    if name == "ground_truth":
        assert figures["dci"] > 0.99
        assert complaints(name, figures, []) == []
    else:
        found = complaints(name, figures, [])
        assert any("mean image" in said for said in found), "2 steps teach nothing"


@pytest.mark.parametrize("name", ["info_gan", "info_gan_cr", "elastic_info_gan"])
def test_a_generator_need_not_reconstruct_but_use_its_categories(name):
    assert complaints(name, GOOD | {"error": 1.5, "categories in use": 3}, []) == []
    found = complaints(name, GOOD | {"categories in use": 1}, [])
    assert found == ["collapsed: every image has the same category"]


def test_a_ladder_is_judged_by_all_its_layers():
    figures = GOOD | {"error": 1.1, "nats of the mean image": 500.0}
    assert complaints("very_deep_vae", figures | {"reconstruction": 30.0}, []) == []
    found = complaints("very_deep_vae", figures | {"reconstruction": 490.0}, [])
    assert found == ["collapsed: all layers leave 0.98 of the mean image's nats"]


def test_codes_that_leave_the_prior_are_complained_of():
    far = GOOD | {"kl": 75.0, "nats that name an image": 13.5}
    (found,) = complaints("factor_vae", far, [])
    assert found == "runs away: a KL of 75 nats, where 13.5 name every image"
    assert complaints("factor_vae", far | {"kl": 30.0}, []) == []
    assert complaints("dc_ign", far, []) == []  # its KL is that of clamped posteriors


def test_the_nats_of_a_mean_image_are_the_entropies_of_its_pixels():
    images = np.zeros((4, 1, 2, 2), np.float32)
    images[:2, 0, 0, 0] = 1
    assert nats_of_the_mean(images) == pytest.approx(np.log(2), rel=1e-3)


def test_what_a_default_gave_is_kept_until_the_default_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(defaults, "KEPT", tmp_path / "defaults.jsonl")
    monkeypatch.setattr(defaults, "load_data", lambda name: toy_xys.load(None, DataOptions()))
    assert defaults.kept_of("pca", 2) is None
    defaults.train("pca", argparse.Namespace(steps=2, folder=tmp_path))
    kept = defaults.kept_of("pca", 2)
    assert kept["figures"]["mig"] >= 0
    assert kept["core_minutes"] > 0
    assert defaults.kept_of("pca", 3) is None
    # Had it been measured with another default, the name would be the same.
    other = defaults.digest_of(method_named("pca")(latent_dim=3))
    text = defaults.KEPT.read_text(encoding="utf-8")
    defaults.KEPT.write_text(text.replace(kept["settings"], other), encoding="utf-8")
    assert defaults.kept_of("pca", 2) is None


def test_methods_for_axes_are_set_against_the_plain_vae(monkeypatch):
    scores = {"vae": (0.1, 0.1), "beta_vae": (0.2, 0.2), "hfs": (0.2, 0.05), "qlae": (0.0, 0.0)}

    def kept(name, steps):
        mig, dci = scores.get(name, (None, None))
        return None if mig is None else {"figures": {"mig": mig, "dci": dci}}

    monkeypatch.setattr(defaults, "kept_of", kept)
    both, one, neither, waiting = defaults.against_plain().splitlines()
    assert both.endswith(": beta_vae")
    assert one.endswith(": hfs")
    assert neither.endswith(": qlae")
    assert "tripod" in waiting
    assert "qlae" not in waiting
    del scores["vae"]
    assert "Not known" in defaults.against_plain()
