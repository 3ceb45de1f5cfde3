"""Every architecture of the catalog keeps the contract; each keeps what it states of itself."""

import inspect
from dataclasses import fields

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from unweave import catalog
from unweave.devices import place
from unweave.errors import ConfigError
from unweave.networks import Architecture, architecture_for, architecture_named
from unweave.networks._stages import stages
from unweave.networks.conv64 import Conv64
from unweave.networks.conv_any import ConvAny
from unweave.networks.mlp64 import MLP64
from unweave.networks.quick64 import Quick64

NAMES = catalog.names("unweave.networks")
ONLY_64 = {"burgess64", "conv64", "quick64"}
SIZES = [(1, 17, 23), (1, 28, 28), (3, 32, 32), (2, 128, 96), (1, 5, 5), (4, 1, 1), (3, 64, 2)]


def check_contract(architecture: Architecture, image_shape: tuple[int, int, int]) -> None:
    encoder = architecture.encoder(image_shape, outputs=6)
    decoder = architecture.decoder(3, image_shape)
    images = torch.rand(2, *image_shape)
    outputs = encoder(images)
    assert outputs.shape == (2, 6)
    logits = decoder(outputs[:, :3])
    assert logits.shape == images.shape
    logits.square().sum().backward()
    for network in (encoder, decoder):
        for name, parameter in network.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.isfinite().all(), name
    assert isinstance(encoder[-1], nn.Linear)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("channels", [1, 3])
def test_images_of_64_pixels_pass_every_architecture(name, channels):
    check_contract(architecture_named(name)(), (channels, 64, 64))


@pytest.mark.parametrize("name", sorted(set(NAMES) - ONLY_64))
@pytest.mark.parametrize("image_shape", SIZES)
def test_other_sizes_pass_architectures_made_for_any(name, image_shape):
    check_contract(architecture_named(name)(hidden=16), image_shape)


@settings(deadline=None, max_examples=40)
@given(
    image_shape=st.tuples(st.integers(1, 4), st.integers(1, 70), st.integers(1, 70)),
    channels=st.lists(st.integers(1, 5), min_size=1, max_size=4),
)
def test_conv_any_fits_every_size(image_shape, channels):
    check_contract(ConvAny(channels=tuple(channels), hidden=7), image_shape)


@pytest.mark.parametrize("name", sorted(ONLY_64))
@pytest.mark.parametrize("image_shape", [(1, 32, 32), (3, 64, 60)])
def test_other_sizes_are_refused_with_advice(name, image_shape):
    architecture = architecture_named(name)()
    expected = f"{name}.*{image_shape[1]}×{image_shape[2]}.*conv_any"
    with pytest.raises(ConfigError, match=expected):
        architecture.encoder(image_shape, 4)
    with pytest.raises(ConfigError, match=expected):
        architecture.decoder(4, image_shape)


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_has_a_line_of_help(name):
    kind = architecture_named(name)
    source = inspect.getsource(kind)
    for field in fields(kind):
        after = source.split(f"{field.name}:", 1)[1].splitlines()[1]
        assert after.strip().startswith('"""'), f"{name}.{field.name}"


@pytest.mark.parametrize("name", NAMES)
def test_placed_networks_compute_what_plain_layers_compute(name):
    torch.manual_seed(0)
    architecture = architecture_named(name)()
    networks = nn.ModuleList(
        [architecture.encoder((1, 64, 64), 4), architecture.decoder(4, (1, 64, 64))]
    )
    plain = nn.ModuleList(
        [architecture.encoder((1, 64, 64), 4), architecture.decoder(4, (1, 64, 64))]
    )
    plain.load_state_dict(networks.state_dict())
    for layer in plain.modules():
        for kind in (nn.Conv2d, nn.ConvTranspose2d):
            if isinstance(layer, kind):
                layer.__class__ = kind
    place(networks, torch.device("cpu"))
    images = torch.rand(8, 1, 64, 64)
    outputs = []
    for encoder, decoder in (networks, plain):
        logits = decoder(encoder(images))
        logits.square().sum().backward()
        outputs.append(logits)
    torch.testing.assert_close(*outputs, rtol=1e-4, atol=1e-5)
    for (key, ours), theirs in zip(networks.named_parameters(), plain.parameters(), strict=True):
        scale = theirs.grad.abs().max().item()
        torch.testing.assert_close(
            ours.grad, theirs.grad, rtol=1e-3, atol=1e-4 * scale, msg=lambda m, key=key: key + m
        )


def test_conv_any_is_conv64_on_images_of_64_pixels():
    def shapes(architecture: Architecture) -> list[list[tuple[str, torch.Size]]]:
        networks = architecture.encoder((1, 64, 64), 20), architecture.decoder(10, (1, 64, 64))
        return [[(k, v.shape) for k, v in net.state_dict().items()] for net in networks]

    assert shapes(ConvAny()) == shapes(Conv64())


@pytest.mark.parametrize(
    ("image_shape", "coarsest"),
    [
        ((1, 64, 64), (4, 4)),
        ((1, 28, 28), (3, 3)),
        ((1, 17, 23), (4, 5)),
        ((1, 128, 96), (4, 3)),
        ((1, 5, 5), (5, 5)),
        ((1, 64, 2), (4, 2)),
    ],
)
def test_conv_any_goes_down_to_3_to_5_pixels(image_shape, coarsest):
    found = stages(image_shape)
    assert (found[-1].coarse[1:] if found else image_shape[1:]) == coarsest


def test_conv_any_repeats_the_last_number_of_channels():
    found = stages((1, 64, 64), (3, 5))
    assert [stage.coarse[0] for stage in found] == [3, 5, 5, 5]


@pytest.mark.parametrize("wrong", [{"channels": ()}, {"channels": (8, 0)}, {"hidden": 0}])
def test_conv_any_refuses_empty_layers(wrong):
    with pytest.raises(ConfigError, match="at least 1"):
        ConvAny(**wrong)


def test_mlp64_has_relu_before_and_tanh_after_the_code():
    architecture = architecture_named("mlp64")()
    encoder, decoder = architecture.encoder((1, 64, 64), 20), architecture.decoder(10, (1, 64, 64))
    assert [m.out_features for m in encoder if isinstance(m, nn.Linear)] == [1200, 1200, 20]
    assert [m.out_features for m in decoder if isinstance(m, nn.Linear)] == [1200, 1200, 1200, 4096]
    assert sum(isinstance(m, nn.ReLU) for m in encoder) == 2
    assert sum(isinstance(m, nn.Tanh) for m in decoder) == 3


def test_mlp64_can_have_other_activations_on_either_side():
    mixed = MLP64(hidden=8, encoder_activation="leaky_relu", decoder_activation="relu")
    sides = mixed.encoder((1, 64, 64), 20), mixed.decoder(10, (1, 64, 64))
    encoder, decoder = ([type(m) for m in side if not isinstance(m, nn.Linear)] for side in sides)
    assert encoder == [nn.Flatten] + [nn.LeakyReLU] * 2
    assert decoder == [nn.ReLU] * 3 + [nn.Unflatten]


def test_burgess64_has_32_channels_throughout():
    encoder = architecture_named("burgess64")().encoder((3, 64, 64), 20)
    assert [m.out_channels for m in encoder if isinstance(m, nn.Conv2d)] == [32] * 4
    assert [m.out_features for m in encoder if isinstance(m, nn.Linear)] == [256, 256, 20]


def test_quick64_multiplies_less_than_an_eighth_as_often_as_conv64():
    def multiplications(architecture: Architecture) -> int:
        total = 0

        def count(layer: nn.Module, inputs: tuple, output: torch.Tensor) -> None:
            nonlocal total
            if isinstance(layer, nn.ConvTranspose2d):
                total += layer.weight.numel() * inputs[0][0, 0].numel()
            elif isinstance(layer, nn.Conv2d):
                total += layer.weight.numel() * output[0, 0].numel()
            elif isinstance(layer, nn.Linear):
                total += layer.weight.numel()

        for network, inputs in (
            (architecture.encoder((1, 64, 64), 20), torch.rand(1, 1, 64, 64)),
            (architecture.decoder(10, (1, 64, 64)), torch.rand(1, 10)),
        ):
            for layer in network:
                layer.register_forward_hook(count)
            network(inputs)
        return total

    assert multiplications(Quick64()) < multiplications(Conv64()) / 8


def test_the_usual_architecture_follows_the_size():
    assert catalog.name_of(architecture_for((1, 64, 64))) == "conv64"
    assert catalog.name_of(architecture_for((3, 64, 60))) == "conv_any"
    for side, patch in ((32, 1), (92, 1), (96, 4), (128, 4), (256, 4), (130, 1)):
        assert architecture_for((3, side, side)).patch == patch


@pytest.mark.parametrize("shape", [(3, 96, 128), (1, 16, 16)])
def test_patches_keep_the_size_of_images(shape):
    architecture = ConvAny(patch=4, channels=(4, 4), hidden=8)
    images = torch.rand(2, *shape)
    assert architecture.encoder(shape, 6)(images).shape == (2, 6)
    assert architecture.decoder(3, shape)(torch.zeros(2, 3)).shape == images.shape


def test_patches_that_do_not_fit_are_refused():
    with pytest.raises(ConfigError, match="patches of 4 pixels do not fit images of 30 × 32"):
        ConvAny(patch=4).encoder((1, 30, 32), 4)
    with pytest.raises(ConfigError, match="patch must be 1 or more"):
        ConvAny(patch=0)
