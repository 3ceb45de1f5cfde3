"""Networks that no memory could hold are refused before any of it is taken."""

import pytest
import torch

from tiny_methods import METHODS, config_for
from unweave.cli import main
from unweave.errors import ConfigError
from unweave.networks import _room, architecture_for, within_memory
from unweave.training.game import fresh_networks
from unweave.training.loop import resolved


@pytest.mark.parametrize("name", METHODS)
def test_the_weights_of_every_method_can_be_counted_first(name, toy):
    config = resolved(config_for(name), toy)
    architecture = architecture_for(toy.image_shape)
    made = config.method.networks(architecture, toy.summary)
    needed = _room._needed(lambda: config.method.networks(architecture, toy.summary))
    tensors = {id(t): t for t in (*made.parameters(), *made.buffers())}.values()
    assert needed == sum(t.numel() * t.element_size() for t in tensors)


def test_counting_changes_no_weight(toy):
    config = config_for("beta_vae")
    weights = [fresh_networks(config, toy.summary, 3).state_dict() for _ in range(2)]
    torch.default_generator.manual_seed(3)
    plain = config.method.networks(config.architecture, toy.summary).state_dict()
    for found in weights:
        assert all(torch.equal(found[name], plain[name]) for name in plain)


@pytest.mark.parametrize("latents", ["1000000000", "100000000000000000", "1" + "0" * 40])
def test_a_code_without_end_is_refused_in_a_line(latents, tmp_path, capsys):
    words = ["train", "vae", "--data", "toy_xys", "--out", str(tmp_path / "run")]
    assert main([*words, "--method.latent-dim", latents]) == 2
    error = capsys.readouterr().err
    assert "these settings ask for" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_networks_of_less_than_no_width_are_refused():
    with pytest.raises(ConfigError, match="less than no width"):
        within_memory(lambda: torch.nn.Linear(3, -1))


def test_what_cannot_be_counted_is_made_all_the_same():
    def make() -> torch.nn.Linear:
        layer = torch.nn.Linear(2, 2)
        layer.bias.data.fill_(float(torch.ones(1).sum().item()))
        return layer

    assert within_memory(make).bias.tolist() == [1.0, 1.0]
