"""The command in a report trains the same run."""

import shlex

import pytest

from unweave import catalog, recipes, workflows
from unweave.cli import _output, main
from unweave.data import DataOptions
from unweave.methods import method_named
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.methods.info_gan import InfoGAN
from unweave.methods.qlae import QLAE
from unweave.networks.conv64 import Conv64
from unweave.networks.conv_any import ConvAny
from unweave.report.command import training_command
from unweave.runs.config import Train
from unweave.settings.optimizers import SGD, Adagrad, Adam, RMSProp

METHODS = catalog.names("unweave.methods")


@pytest.fixture
def parsed(monkeypatch):
    """Return a function from a command to the settings it would train."""
    found = []
    monkeypatch.setattr(workflows, "train_config", lambda config, *_, **__: found.append(config))
    monkeypatch.setattr(_output, "say_run", lambda run: None)
    monkeypatch.setattr("unweave.cli._train.load_data", lambda *_: None)

    def parse(command: str) -> Train:
        words = shlex.split(command)
        assert words[0] == "unweave"
        assert main(words[1:]) == 0
        return found.pop()

    return parse


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_named_with_its_changes(name, parsed):
    config = Train(method=method_named(name)(latent_dim=7), data="toy_xys", seed=5)
    assert parsed(training_command(config)) == config


@pytest.mark.parametrize(
    "config",
    [
        recipes.demo(),
        Train(
            method=BetaTCVAE(
                beta="0:4:100",
                analytic_kl=not BetaTCVAE().analytic_kl,
                optimizer=Adam(3e-4, betas=(0.5, 0.99), warmup_steps=7),
            ),
            data="a folder/with spaces & signs",
            data_options=DataOptions(image_size=32, color="grey"),
            architecture=ConvAny(channels=(4, 8), hidden=16),
            validation=0.25,
            precision="bfloat16",
        ),
        Train(method=QLAE(likelihood="gaussian"), data="toy_xys", architecture=Conv64()),
        Train(
            method=InfoGAN(
                optimizer=RMSProp(5e-4, clip_value=1.0, centered=True),
                discriminator_optimizer=SGD(1e-4, momentum=0.9, nesterov=True),
            ),
            data="toy_xys",
        ),
        Train(method=InfoGAN(optimizer=Adagrad()), data="toy_xys"),
    ],
    ids=["recipe", "changed", "default architecture", "other optimizers", "another optimizer"],
)
def test_all_kinds_of_settings_come_back(config, parsed):
    assert parsed(training_command(config)) == config
