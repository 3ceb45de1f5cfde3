"""Generators normalise where they are told to."""

import pytest
import torch
from torch import nn

from unweave.methods._generators import activation_first
from unweave.networks import batch_normalized
from unweave.networks.conv_any import ConvAny
from unweave.networks.mlp64 import MLP64

SHAPE = (1, 16, 16)
NETWORKS = [ConvAny(channels=(2, 3), hidden=4), MLP64(hidden=4, decoder_activation="relu")]


def kinds(network: nn.Module) -> list[str]:
    return [type(layer).__name__ for layer in network]


@pytest.mark.parametrize("network", NETWORKS)
def test_every_normalisation_follows_an_activation_and_no_pixel_is_normalised(network):
    plain = network.decoder(5, SHAPE)
    activations = kinds(plain).count("ReLU")
    changed = activation_first(batch_normalized(plain))
    names = kinds(changed)
    norms = [place for place, name in enumerate(names) if name.startswith("BatchNorm")]
    assert len(norms) == activations
    assert all(names[place - 1] == "ReLU" for place in norms)
    assert changed(torch.randn(6, 5)).shape == (6, *SHAPE)


def test_what_a_normalisation_learnt_to_scale_stays_with_its_features():
    changed = activation_first(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU()))
    assert kinds(changed) == ["Linear", "ReLU", "BatchNorm1d"]
    output = changed(torch.randn(50, 2))
    torch.testing.assert_close(output.mean(0), torch.zeros(3), atol=1e-5, rtol=0)
