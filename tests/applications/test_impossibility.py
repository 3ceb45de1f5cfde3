"""A model and its twin: the same likelihood, another code."""

import json
import shutil

import numpy as np
import pytest
import torch
from scipy.integrate import quad

import known_models
import unweave as uw
from unweave import applications
from unweave.applications import impossibility
from unweave.cli import main
from unweave.errors import ConfigError
from unweave.report import application_sections
from unweave.runs.wrapped import wrap

WEIGHTS = np.random.default_rng(0).standard_normal((4, 32 * 32)) / 8


def smooth(toy, **changes):
    """A model of toy_xys whose images change smoothly with x, y and side."""

    def decode(codes):
        logits = codes.astype(np.float64) @ WEIGHTS
        return (1 / (1 + np.exp(-logits))).reshape(-1, 1, 32, 32)

    options = {"decode": decode, "posterior": known_models.posterior, "name": "smooth"}
    return wrap(known_models.standard, toy, **(options | changes))


@pytest.fixture(scope="module")
def applied(toy):
    return impossibility.apply(smooth(toy), impossibility.Settings(images=40, draws=16))


def test_the_twin_has_the_same_likelihood_of_every_image_to_rounding(applied):
    numbers = applied.numbers
    assert numbers["largest_difference_of_an_image"] < numbers["rounding"]
    likelihood = numbers["log_likelihood"]
    assert likelihood["twin"] == pytest.approx(likelihood["model"], abs=numbers["rounding"])
    assert numbers["elbo"]["twin"] == pytest.approx(numbers["elbo"]["model"], abs=1e-2)
    apart = abs(likelihood["twin_other_draws"] - likelihood["model"])
    assert apart < 4 * likelihood["standard_error"] + numbers["rounding"]


def test_the_model_is_disentangled_and_the_twin_is_not(applied):
    scores = applied.numbers["scores"]
    assert scores["mig"]["model"] > 0.9
    assert scores["mig"]["twin"] < 0.3
    assert scores["dci"]["twin"] < scores["dci"]["model"] - 0.3
    assert scores["mig"]["shuffled"] < 0.05


def test_the_latents_that_carry_something_are_mixed_and_the_dead_one_is_left(applied):
    rotation = applied.numbers["rotation"]
    assert np.allclose(rotation @ rotation.T, np.eye(4))
    assert rotation[3].tolist() == [0, 0, 0, 1]
    assert np.abs(rotation[:3, :3]).min() > 0.15 or np.abs(rotation[:3, :3]).max() < 0.95


def test_the_twin_decodes_as_the_model_does_and_only_because_it_turns_codes_back(toy):
    model = smooth(toy)
    images = toy.images(np.arange(0, 1024, 50))
    rotation = impossibility.rotation_of(np.array([True, True, True, False]))
    twin = impossibility.twin_of(model, rotation)
    assert np.abs(twin.reconstruct(images) - model.reconstruct(images)).max() < 1e-5
    assert np.abs(model.decode(twin.encode(images)) - model.reconstruct(images)).max() > 0.1


def test_the_estimate_is_the_likelihood_where_it_can_be_integrated(toy):
    """One latent, decoded to one grey value: the integral over the prior is known."""
    flat = toy.subset(np.arange(2))

    def decode(codes):
        share = 1 / (1 + np.exp(3.7 - codes[:, :1].astype(np.float64) / 20))
        return np.broadcast_to(share[:, :, None, None], (len(codes), 1, 32, 32))

    def posterior(images):
        return np.zeros((len(images), 1), np.float32), np.zeros((len(images), 1), np.float32)

    model = wrap(lambda images: posterior(images)[0], flat, decode=decode, posterior=posterior)
    images = flat.images([0])
    on, off = float(images.sum()), float((1 - images).sum())

    def integrand(z):
        share = 1 / (1 + np.exp(3.7 - z / 20))
        density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
        return np.exp(on * np.log(share) + off * np.log1p(-share) + 120) * density

    exact = np.log(quad(integrand, -12, 12)[0]) - 120
    found = impossibility.bound_of(model, images, rotation=None, draws=2000, seed=0)
    assert found.log_likelihood[0] == pytest.approx(exact, abs=0.01)
    assert found.elbo[0] < found.log_likelihood[0]


def test_a_prior_that_is_no_sphere_has_no_such_twin(tiny_run):
    from tiny_methods import config_for
    from unweave.methods.vae import VAE
    from unweave.runs.run import Run

    run = tiny_run("vae")
    config = config_for("vae", method=VAE(latent_dim=4, prior="flat"))
    flat = Run(config, run.summary, run.nets, step=run.step, data=run.data)
    with pytest.raises(ConfigError, match="has no such twin"):
        impossibility.apply(flat, impossibility.Settings(images=8, draws=2))


def test_what_has_no_posterior_or_nothing_to_mix_is_refused(toy):
    with pytest.raises(ConfigError, match="no Gaussian posterior"):
        impossibility.apply(smooth(toy, posterior=None))

    def still(images):
        return np.zeros((len(images), 4), np.float32), np.zeros((len(images), 4), np.float32)

    with pytest.raises(ConfigError, match="nothing to mix"):
        impossibility.apply(smooth(toy, posterior=still))
    with pytest.raises(ConfigError, match="2 images"):
        impossibility.apply(smooth(toy), impossibility.Settings(images=1))


def test_results_say_what_they_are_of_and_what_not_to_conclude(applied):
    content = json.loads(json.dumps(applied.to_json()))
    assert content["model"] == "smooth"
    assert content["settings"]["draws"] == 16
    assert "MIG is" in content["paragraph"]
    assert any("diagonal" in caveat for caveat in content["caveats"])
    assert applied.figure.images.shape[0] == 6


def test_the_command_writes_json_and_figure_for_a_model_of_ones_own(toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "smooth_squares.py").write_text(
        "import known_models\nfrom test_impossibility import smooth\n"
        "from unweave.data import load_data\n"
        "model = smooth(load_data('toy_xys'))\n"
        "class Smooth:\n"
        "    def encode(self, images):\n        return known_models.standard(images)\n"
        "    def posterior(self, images):\n        return known_models.posterior(images)\n"
        "    def decode(self, codes):\n        return model.decode(codes)\n"
    )
    words = ["apply", "impossibility", "--model", "smooth_squares:Smooth", "--data", "toy_xys"]
    assert main([*words, "--images", "8", "--draws", "2", "--out", "found"]) == 0
    assert json.loads((tmp_path / "found/impossibility.json").read_text())["numbers"]
    assert (tmp_path / "found/impossibility.png").is_file()


@pytest.fixture
def speaking_run(tiny_run, tmp_path):
    """A short run whose weights are made larger, so that its latents carry something."""
    folder = tmp_path / "run"
    shutil.copytree(tiny_run("vae").path, folder)
    run = uw.load(folder)
    layers = [part for part in run.nets.encoder.modules() if isinstance(part, torch.nn.Linear)]
    layers[-1].weight.data[:4] *= 600
    run.folder.save_networks(run.nets, run.step)
    return folder


def test_a_run_keeps_the_result_and_the_report_shows_it(speaking_run, capsys):
    words = ["demo", "impossibility", str(speaking_run), "--images", "8", "--draws", "2"]
    assert main(words) == 0
    assert "its twin" in capsys.readouterr().out
    (kept,) = applications.kept_by(uw.load(speaking_run))
    assert kept.name == "impossibility"
    page = str(application_sections.sections(uw.load(speaking_run)))
    assert kept.paragraph[:40] in page
    assert "figure of impossibility" in page
    assert "the model" in page
    numbers = json.loads((speaking_run / "applications/impossibility.json").read_text())["numbers"]
    assert numbers["largest_difference_of_an_image"] < numbers["rounding"]


@pytest.mark.parametrize(
    "content",
    ["[]", '{"step": -1}', '{"step": 1}', '{"step": 1, "caveats": [], "tables": [3]}'],
)
def test_a_forged_result_does_not_stop_the_report(tiny_run, tmp_path, content):
    folder = tmp_path / "run"
    shutil.copytree(tiny_run("vae").path, folder)
    (folder / "applications").mkdir()
    (folder / "applications/impossibility.json").write_text(content)
    assert "impossibility.json" in application_sections.sections(uw.load(folder))


def test_applications_are_listed_and_mistyped_names_are_met_with_the_nearest(capsys):
    assert main(["apply", "--help"]) == 0
    out = capsys.readouterr().out
    assert all(applications.spelled(name) in out for name in applications.names())
    assert main(["apply", "impossible", "run"]) == 2
    assert "'impossibility'" in capsys.readouterr().err


def test_a_link_in_a_run_folder_shows_nothing_of_elsewhere(speaking_run, tmp_path):
    folder = speaking_run / "applications"
    folder.mkdir()
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"step": 1, "caveats": [], "tables": [], "paragraph": "secret"}))
    (folder / "impossibility.json").symlink_to(secret)
    assert applications.kept_by(uw.load(speaking_run)) == []
