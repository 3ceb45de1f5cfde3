"""Latents that carry nothing are silenced, which is said and can be undone."""

import numpy as np
import pytest
import torch

from unweave.cli import main
from unweave.cli._output import say_run
from unweave.errors import ConfigError
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.pca import PCA
from unweave.methods.qlae import QLAE
from unweave.networks.conv_any import ConvAny
from unweave.runs import load, silencing
from unweave.runs.config import Machine, Train
from unweave.training import loop

QUIET = Machine(evaluations=0)


def config(**changes) -> Train:
    method = BetaVAE(latent_dim=3, prior="flat")
    values = {"method": method, "data": "toy_xys", "steps": 2, "batch_size": 8}
    return Train(**(values | {"architecture": ConvAny(channels=(4,), hidden=8)} | changes))


@pytest.fixture
def run(toy, tmp_path):
    """Return a run whose first latent alone varies."""
    trained = loop.start(config(), toy, tmp_path / "run", QUIET)
    last = trained.nets.encoder.trunk[-1]
    with torch.no_grad():
        last.weight[0] *= 200
        last.bias[3:] = trained.code_prior.resting_logvar
        last.bias[1:3] = 0.0
    trained.folder.save_networks(trained.nets, trained.step)
    return trained


def test_dead_latents_say_the_same_of_every_image_and_the_others_what_they_did(run, toy):
    images = toy.images(np.arange(40))
    before = run.encode(images)
    assert before[:, 1:].std(0).min() > 0
    found = silencing.silence(run)
    assert found.latents == (1, 2)
    assert str(found).startswith("silenced z1, z2: KL below 0.22 nats")
    for silenced in (run, load(run.path, data=toy)):
        mean, logvar = silenced.posterior(images)
        np.testing.assert_array_equal(mean[:, 0], before[:, 0])
        assert (mean[:, 1:] == 0).all()
        kl = run.code_prior.kl(mean, logvar, np.exp(logvar)).mean(0)
        assert kl[1:] == pytest.approx([run.code_prior.least_kl] * 2, abs=1e-6)
    assert run.folder.silenced()["latents"] == [1, 2]


def test_undoing_gives_the_same_bits_back(run, toy):
    images = toy.images(np.arange(20))
    before = run.encode(images)
    silencing.silence(run)
    with pytest.raises(ConfigError, match="silenced already"):
        silencing.silence(run)
    silencing.undo(run)
    np.testing.assert_array_equal(run.encode(images), before)
    np.testing.assert_array_equal(load(run.path, data=toy).encode(images), before)
    assert run.folder.silenced() is None
    with pytest.raises(ConfigError, match="no latents that were silenced"):
        silencing.undo(run)


def test_a_run_silences_at_its_end_if_told_to_and_says_so(toy, tmp_path):
    said = []

    class Listener(loop.Watcher):
        def warned(self, message: str) -> None:
            said.append(message)

    told = loop.start(config(silence=50.0), toy, tmp_path / "told", QUIET, [Listener()])
    assert said == ["silenced z0, z1, z2: KL below 50.12 nats"]
    assert told.folder.silenced()["latents"] == [0, 1, 2]
    # Going on begins with the networks as they were trained, and forgets what was silenced.
    on = loop.resume(tmp_path / "told", toy, QUIET, steps=4)
    whole = loop.start(config(steps=4), toy, tmp_path / "whole", QUIET)
    on.folder.undo_silenced()
    again = load(tmp_path / "told", data=toy).nets.state_dict()
    for key, tensor in whole.nets.state_dict().items():
        assert torch.equal(tensor, again[key]), key


def test_the_verb_silences_and_undoes(run, capsys):
    assert main(["silence", str(run.path)]) == 0
    assert "silenced z1, z2" in capsys.readouterr().out
    assert main(["silence", str(run.path), "--undo"]) == 0
    assert "no latent is silenced any more" in capsys.readouterr().out
    assert main(["silence", str(run.path), "--undo"]) == 2
    assert main(["silence", str(run.path), "--nats", "0"]) == 2


def test_a_run_that_is_not_finished_is_not_silenced(run):
    run.folder.networks_file.unlink()
    with pytest.raises(ConfigError, match="not finished"):
        silencing.silence(run)


def test_the_summary_of_a_run_names_what_is_silenced(run, capsys):
    say_run(run)
    assert "silenced" not in capsys.readouterr().out
    silencing.silence(run)
    say_run(run)
    assert "z1, z2, which carry nothing" in capsys.readouterr().out


@pytest.mark.parametrize("method", [PCA(latent_dim=3), QLAE(latent_dim=3)])
def test_what_has_no_gaussian_encoder_cannot_be_silenced(method, toy, tmp_path):
    trained = loop.start(config(method=method), toy, tmp_path / "run", QUIET)
    with pytest.raises(ConfigError, match="no encoder to a Gaussian posterior"):
        silencing.silence(trained)


def test_nats_below_zero_are_refused():
    with pytest.raises(ConfigError, match="silence must be 0 or more"):
        config(silence=-0.1)
