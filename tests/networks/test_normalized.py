"""Normalising reaches every layer, keeps what a block computes, and refuses what it cannot do."""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import is_parametrized

from unweave import catalog
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods.info_gan import InfoGAN
from unweave.networks import architecture_named, batch_normalized, spectrally_normalized
from unweave.networks.conv64 import Conv64

LAYERS = (nn.Linear, nn.Conv2d, nn.ConvTranspose2d)


class Residual(nn.Module):
    """A block with a `forward` of its own: what comes in is added to what two layers make."""

    def __init__(self, width: int):
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.rest = nn.ModuleList([nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)])
        self.shortcut: nn.Module | None = None

    def forward(self, input: Tensor) -> Tensor:
        inner = self.first(input)
        for part in self.rest:
            inner = part(inner)
        return input + inner


def network() -> nn.Sequential:
    """Return a network of nested sequences and blocks."""
    return nn.Sequential(
        nn.Sequential(nn.Conv2d(1, 4, 4, 2, 1), nn.ReLU(inplace=True)),
        Residual(4),
        nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.Sequential(nn.ReLU(), nn.Linear(8, 3))),
    )


def layers(module: nn.Module) -> list[nn.Module]:
    return [part for part in module.modules() if isinstance(part, LAYERS)]


def test_every_layer_but_the_last_is_followed_by_batch_normalisation():
    plain = network()
    normalized = batch_normalized(copy.deepcopy(plain))
    assert len(layers(normalized)) == len(layers(plain)) == 5
    norms = [m for m in normalized.modules() if isinstance(m, nn.BatchNorm1d | nn.BatchNorm2d)]
    assert [norm.num_features for norm in norms] == [4, 4, 4, 8]
    images = torch.rand(6, 1, 8, 8)
    followed = {}
    for layer in layers(normalized):
        layer.register_forward_hook(lambda m, _, output: followed.setdefault(m, output))
    inputs = []
    for norm in norms:
        norm.register_forward_hook(lambda m, given, _: inputs.append(given[0]))
    output = normalized(images)
    assert output.shape == (6, 3)
    outputs = list(followed.values())
    assert all(any(given is made for made in outputs) for given in inputs)
    assert output is outputs[-1], "the output is not normalised"


def test_a_block_still_computes_what_it_computes():
    """With statistics of mean 0 and variance 1 normalisation changes nothing."""
    plain = network()
    normalized = batch_normalized(copy.deepcopy(plain)).eval()
    images = torch.rand(6, 1, 8, 8)
    torch.testing.assert_close(normalized(images), plain(images), rtol=1e-3, atol=1e-4)
    assert isinstance(normalized[1], Residual)


def test_every_layer_is_spectrally_normalised_and_every_unit_leaks():
    plain = network()
    normalized = spectrally_normalized(copy.deepcopy(plain))
    assert all(is_parametrized(layer, "weight") for layer in layers(normalized))
    kinds = [type(part) for part in normalized.modules()]
    assert nn.ReLU not in kinds
    assert kinds.count(nn.LeakyReLU) == 3
    images = torch.rand(6, 1, 8, 8)
    for _ in range(60):  # the directions are found step by step
        normalized(images)
    for layer in layers(normalized):
        size = torch.linalg.matrix_norm(layer.weight.flatten(1), 2).item()
        assert size == pytest.approx(1, abs=0.05)
    block, before = normalized[1].eval(), torch.rand(2, 4, 4, 4)
    inner = block.rest[1](block.rest[0](block.first(before)))
    torch.testing.assert_close(block(before), before + inner)


def test_a_layer_used_twice_stays_one_layer():
    shared = nn.Linear(4, 4)
    twice = nn.Sequential(shared, nn.ReLU(), shared, nn.Linear(4, 2))
    spectral = spectrally_normalized(copy.deepcopy(twice))
    assert spectral[0] is spectral[2]
    assert len(spectral[0].parametrizations.weight) == 1
    batch = batch_normalized(copy.deepcopy(twice))
    assert len({id(layer) for layer in layers(batch)}) == 2
    assert batch(torch.rand(5, 4)).shape == (5, 2)


class OwnWeights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.ones(3, 3))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: nn.Sequential(nn.Conv1d(1, 1, 1), nn.Linear(1, 1)), "Conv1d has weights"),
        (lambda: nn.Sequential(OwnWeights(), nn.Linear(1, 1)), r"OwnWeights has weights \(table\)"),
        (lambda: nn.Sequential(nn.GRU(2, 2), nn.Linear(1, 1)), "GRU has weights"),
        (lambda: nn.Sequential(nn.Bilinear(2, 2, 2), nn.Linear(1, 1)), "Bilinear has weights"),
        (lambda: spectrally_normalized(nn.Linear(2, 2)), "normalised weights already"),
    ],
)
@pytest.mark.parametrize("normalize", [batch_normalized, spectrally_normalized])
def test_what_cannot_be_normalised_is_refused_in_a_line(build, message, normalize):
    with pytest.raises(ConfigError, match=message) as caught:
        normalize(build())
    assert "\n" not in str(caught.value)


def test_batches_are_not_normalised_twice_nor_an_output_that_cannot_be_told():
    with pytest.raises(ConfigError, match="normalises batches already"):
        batch_normalized(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Linear(2, 2)))
    with pytest.raises(ConfigError, match="ends in Residual"):
        batch_normalized(nn.Sequential(nn.Conv2d(1, 4, 1), Residual(4)))


@pytest.mark.parametrize("name", ["what_where", "posed"])
def test_an_architecture_with_weights_of_its_own_is_refused(name):
    architecture = architecture_named(name)()
    with pytest.raises(ConfigError, match="TwoGlances has weights"):
        spectrally_normalized(architecture.encoder((1, 64, 64), 5))


@pytest.mark.parametrize(
    "name", sorted({*catalog.names("unweave.networks")} - {"what_where", "posed"})
)
def test_every_other_architecture_can_be_normalised(name):
    architecture = architecture_named(name)()
    images = torch.rand(2, 1, 64, 64)
    encoder = spectrally_normalized(architecture.encoder((1, 64, 64), 5))
    assert all(is_parametrized(layer, "weight") for layer in layers(encoder))
    assert encoder(images).shape == (2, 5)
    decoder = batch_normalized(architecture.decoder(5, (1, 64, 64)))
    norms = [m for m in decoder.modules() if isinstance(m, nn.BatchNorm1d | nn.BatchNorm2d)]
    ends_in_layer = name != "mlp64"  # which ends in a reshaping
    assert len(norms) == len(layers(decoder)) - ends_in_layer
    assert decoder(torch.rand(2, 5)).shape == (2, 1, 64, 64)


def test_what_has_no_weights_ends_a_network_too():
    """So it was when runs were stored, whose weights are to be found."""
    ended = batch_normalized(nn.Sequential(nn.Linear(2, 4), nn.Unflatten(1, (1, 2, 2))))
    assert [type(part) for part in ended] == [nn.Linear, nn.BatchNorm1d, nn.Unflatten]


def test_weights_of_generators_are_named_as_in_stored_runs():
    nets = InfoGAN().networks(Conv64(), DataSummary((1, 64, 64), 10, {}))
    names = {name.rpartition(".")[0] for name in nets.generator.state_dict()}
    assert names == {"0", "1", "3", "4", "7", "8", "10", "11", "13", "14", "16"}
    originals = [name for name in nets.trunk.state_dict() if name.endswith("original")]
    assert originals == [
        f"0.{layer}.parametrizations.weight.original" for layer in (0, 2, 4, 6, 9, 11)
    ]
