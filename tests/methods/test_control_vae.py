"""Controllers that set β: ControlVAE's and DynamicVAE's."""

import numpy as np
import pytest
import torch

from unweave.errors import ConfigError
from unweave.methods.control_vae import Controller, ControlVAE
from unweave.methods.dynamic_vae import DynamicVAE, IncrementalController
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.settings.optimizers import Adam
from unweave.training import loop


def test_at_the_set_point_beta_is_one_and_half_the_gain():
    controller = Controller(0.01, 0.001, 1.0)
    assert controller(torch.tensor(5.0), 5.0).item() == pytest.approx(1 + 0.01 / 2)


@pytest.mark.parametrize(
    "controller",
    [Controller(0.01, 0.001, 1.0), IncrementalController(0.01, 0.005, 0.1, 50.0, 5)],
)
def test_beta_grows_while_the_kl_is_too_high_and_falls_while_it_is_too_low(controller):
    high = [controller(torch.tensor(9.0), 5.0).item() for _ in range(50)]
    low = [controller(torch.tensor(1.0), 5.0).item() for _ in range(20)]
    assert np.all(np.diff(high) > 0)
    assert np.all(np.diff(low[5:]) < 0)


def test_the_sum_of_errors_is_held_at_the_limit_and_let_go_at_once():
    controller = Controller(0.0, 0.1, 1.0)
    for _ in range(100):
        assert controller(torch.tensor(0.0), 10.0).item() == 1
    assert controller.integral.item() == 0
    assert controller(torch.tensor(12.0), 10.0).item() == pytest.approx(1.2)


def test_increments_are_those_of_the_formula():
    controller = IncrementalController(0.5, 0.1, 0.1, 50.0, 2)
    kls, beta, before = [4.0, 8.0, 1.0, 3.0], 50.0, 0.0
    for count, kl in enumerate(kls, 1):
        error = 5 - np.mean(kls[max(count - 2, 0) : count])
        beta += 0.5 * (1 / (1 + np.exp(error)) - 1 / (1 + np.exp(before))) - 0.1 * error
        before = error
        assert controller(torch.tensor(kl), 5.0).item() == pytest.approx(beta, rel=1e-6)


def test_beta_does_not_pass_its_limit_and_comes_back_at_once():
    controller = IncrementalController(0.0, 1.0, 0.1, 3.0, 1)
    for _ in range(10):
        beta = controller(torch.tensor(0.0), 5.0).item()
    assert beta == pytest.approx(0.1)
    assert controller(torch.tensor(6.0), 5.0).item() == pytest.approx(1.1)


@pytest.mark.parametrize("kind", [ControlVAE, DynamicVAE])
def test_the_controller_holds_the_kl_of_a_training_run(kind, toy, tmp_path):
    method = kind(latent_dim=4, capacity=6, integral=0.3, optimizer=Adam(2e-3))
    network = MLP64(hidden=64, decoder_activation="relu")
    config = Train(method=method, data="toy_xys", architecture=network, steps=400, batch_size=32)
    run = loop.start(config, toy, tmp_path / "run", Machine(evaluations=0, threads=1))
    newest = [line["kl"] for line in run.folder.record() if "kl" in line][-5:]
    assert np.mean(newest) == pytest.approx(6, abs=2)


def test_by_default_the_set_point_rises_over_two_fifths_of_the_run(toy):
    settled = ControlVAE().settled(1000, toy)
    assert [settled.capacity.at(step) for step in (0, 400, 999)] == [0.5, 18, 18]
    assert ControlVAE(capacity=3).settled(1000, toy).capacity.at(0) == 3


@pytest.mark.parametrize(
    "wrong", [{"window": 0}, {"first_beta": 0.01}, {"proportional": -1.0}, {"integral": -0.1}]
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        DynamicVAE(**wrong)
