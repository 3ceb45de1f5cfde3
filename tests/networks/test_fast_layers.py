"""Layers with kernels of their own compute what the plain layers compute."""

import copy
from contextlib import nullcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.autograd import forward_ad, gradcheck, gradgradcheck

from unweave.networks import _layers, plain_layers
from unweave.networks._layers import doubling, patching, unpatching

# The layer, and the size of what goes in for a batch of 3.
LAYERS = {
    "doubling": (lambda: doubling(5, 1), (3, 5, 4, 6)),
    "doubling to several channels": (lambda: doubling(5, 4), (3, 5, 4, 6)),
    "patching": (lambda: patching(1, 5), (3, 1, 8, 12)),
    "unpatching": (lambda: unpatching(5, 1), (3, 5, 2, 3)),
}


def plain_twin(layer: nn.Module) -> nn.Module:
    """Return the plain layer with the same weights."""
    kind = nn.ConvTranspose2d if isinstance(layer, nn.ConvTranspose2d) else nn.Conv2d
    twin = kind(
        layer.in_channels,
        layer.out_channels,
        layer.kernel_size,
        layer.stride,
        layer.padding,
        bias=layer.bias is not None,
    ).to(layer.weight.dtype)
    twin.load_state_dict(layer.state_dict())
    return twin


def output_and_gradients(layer: nn.Module, images: Tensor) -> list[Tensor]:
    images = images.clone().requires_grad_()
    output = layer(images)
    weights = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    gradients = torch.autograd.grad((output * weights).sum(), [images, *layer.parameters()])
    return [output, *gradients]


def second_gradients(layer: nn.Module, images: Tensor) -> tuple[Tensor, ...]:
    """Differentiate a penalty on the gradient of the images, as R1 does."""
    images = images.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(layer(images).pow(3).sum(), images, create_graph=True)
    return torch.autograd.grad(gradient.square().sum(), list(layer.parameters()))


@pytest.mark.parametrize("name", LAYERS)
def test_the_layer_does_not_take_the_plain_kernel_here(name, monkeypatch):
    build, shape = LAYERS[name]
    layer = build()

    def refuse(*arguments, **settings):
        raise AssertionError("the plain kernel was called")

    monkeypatch.setattr(type(layer).__base__, "_conv_forward", refuse, raising=False)
    monkeypatch.setattr(nn.ConvTranspose2d, "forward", refuse)
    layer(torch.randn(shape))


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 2e-5)])
def test_outputs_and_gradients_are_those_of_the_plain_layer(name, layout, dtype, tolerance):
    torch.manual_seed(0)
    build, shape = LAYERS[name]
    layer = build().to(dtype).to(memory_format=layout)
    images = torch.randn(shape, dtype=dtype).contiguous(memory_format=layout)
    for ours, plain in zip(
        output_and_gradients(layer, images),
        output_and_gradients(plain_twin(layer), images),
        strict=True,
    ):
        torch.testing.assert_close(ours, plain, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", LAYERS)
def test_second_gradients_are_those_of_the_plain_layer(name):
    torch.manual_seed(0)
    build, shape = LAYERS[name]
    layer = build().double()
    images = torch.randn(shape, dtype=torch.float64)
    for ours, plain in zip(
        second_gradients(layer, images), second_gradients(plain_twin(layer), images), strict=True
    ):
        torch.testing.assert_close(ours, plain, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_agree_with_differences_of_the_output(name):
    torch.manual_seed(0)
    build, shape = LAYERS[name]
    layer = build().double()
    images = torch.randn((1, *shape[1:]), dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in layer.named_parameters()]

    def call(images: Tensor, *parameters: Tensor) -> Tensor:
        return torch.func.functional_call(layer, dict(zip(names, parameters, strict=True)), images)

    inputs = (images, *layer.parameters())
    assert gradcheck(call, inputs, fast_mode=True)
    assert gradgradcheck(call, inputs, fast_mode=True)


@settings(deadline=None, max_examples=30)
@given(
    batch=st.integers(1, 3),
    channels=st.integers(1, 4),
    height=st.integers(1, 6),
    width=st.integers(1, 6),
    has_bias=st.booleans(),
)
def test_doubling_fits_every_size(batch, channels, height, width, has_bias):
    layer = _layers.OneChannelDoubling(channels, 1, 4, 2, 1, bias=has_bias).double()
    images = torch.randn(batch, channels, height, width, dtype=torch.float64)
    torch.testing.assert_close(layer(images), plain_twin(layer)(images))


@settings(deadline=None, max_examples=30)
@given(height=st.integers(4, 13), width=st.integers(4, 13), has_bias=st.booleans())
def test_patching_leaves_out_what_fills_no_patch_as_the_plain_layer_does(height, width, has_bias):
    layer = _layers.OneChannelPatching(1, 3, 4, 4, bias=has_bias).double()
    images = torch.randn(2, 1, height, width, dtype=torch.float64)
    torch.testing.assert_close(layer(images), plain_twin(layer)(images))


@settings(deadline=None, max_examples=30)
@given(channels=st.integers(1, 3), height=st.integers(1, 5), width=st.integers(1, 5))
def test_taking_and_adding_windows_are_adjoint(channels, height, width):
    images = torch.randn(2, channels, 2 * height, 2 * width, dtype=torch.float64)
    windows = torch.randn(channels, 4, 4, 2, height, width, dtype=torch.float64)
    there = (_layers.take_windows(images) * windows).sum()
    back = (images * _layers.add_windows(windows)).sum()
    torch.testing.assert_close(there, back)


@pytest.mark.parametrize("name", LAYERS)
def test_weights_are_interchangeable_with_the_plain_layers(name):
    build, _ = LAYERS[name]
    layer = build()
    plain = plain_twin(layer).state_dict()
    assert {k: v.shape for k, v in plain.items()} == {
        k: v.shape for k, v in layer.state_dict().items()
    }
    other = build()
    other.load_state_dict(plain)
    assert torch.equal(other.weight, layer.weight)


@pytest.mark.parametrize("name", LAYERS)
def test_exported_layer_is_the_plain_operator(name):
    build, shape = LAYERS[name]
    layer = build().eval()
    images = torch.randn(shape)
    exported = torch.export.export(layer, (images,))
    operators = {str(node.target) for node in exported.graph.nodes if node.op == "call_function"}
    assert len(operators) == 1
    assert "conv" in operators.pop()
    torch.testing.assert_close(exported.module()(images), layer(images), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_compiled_layer_computes_the_same(name):
    build, shape = LAYERS[name]
    layer = build()
    images = torch.randn(shape)
    compiled = copy.deepcopy(layer)
    compiled.compile(backend="aot_eager", fullgraph=True)
    for ours, plain in zip(
        output_and_gradients(compiled, images), output_and_gradients(layer, images), strict=True
    ):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", LAYERS)
def test_other_devices_get_the_plain_kernels(name):
    build, shape = LAYERS[name]
    layer = build().to("meta")
    assert layer(torch.randn(shape, device="meta")).shape == build()(torch.randn(shape)).shape
    assert not _layers.takes_products(torch.randn(shape, device="meta"))


@pytest.mark.parametrize("name", LAYERS)
def test_autocast_lowers_the_precision_of_the_product(name):
    torch.manual_seed(0)
    build, shape = LAYERS[name]
    layer = build()
    images = torch.randn(shape)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        lowered = layer(images)
    torch.testing.assert_close(lowered.float(), layer(images), rtol=0.03, atol=0.03)


def test_plain_layers_are_asked_for_by_their_context():
    images = torch.randn(1, 1, 4, 4)
    assert _layers.takes_products(images)
    with plain_layers():
        assert not _layers.takes_products(images)
        with plain_layers():
            pass
        assert not _layers.takes_products(images)
    assert _layers.takes_products(images)


def directional(layer: nn.Module, images: Tensor, direction: Tensor) -> Tensor:
    """Return the derivative of the output along a direction, by two passes back."""
    images = images.clone().requires_grad_()
    output = layer(images)
    weights = torch.ones_like(output, requires_grad=True)
    (back,) = torch.autograd.grad((output * weights).sum(), images, create_graph=True)
    (found,) = torch.autograd.grad((back * direction).sum(), weights)
    return found


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("asked", [True, False])
def test_functions_of_layers_can_be_transformed(name, asked):
    """By torch.func as it is, and by anything else of torch within `plain_layers`."""
    torch.manual_seed(0)
    build, shape = LAYERS[name]
    layer = build().double()
    images, direction = torch.randn(2, *shape, dtype=torch.float64)
    expected = directional(layer, images, direction)
    with plain_layers() if asked else nullcontext():
        output, along = torch.func.jvp(layer, (images,), (direction,))
        one_by_one = torch.func.vmap(lambda image: layer(image[None])[0])(images)
        weights = dict(layer.named_parameters())

        def total(weights: dict[str, Tensor], image: Tensor) -> Tensor:
            return torch.func.functional_call(layer, weights, image[None]).square().sum()

        per_image = torch.func.vmap(torch.func.grad(total), (None, 0))(weights, images)
        with forward_ad.dual_level():
            dual = layer(forward_ad.make_dual(images, direction))
            unpacked = forward_ad.unpack_dual(dual).tangent
    torch.testing.assert_close(output, layer(images))
    torch.testing.assert_close(one_by_one, layer(images))
    torch.testing.assert_close(along, expected)
    torch.testing.assert_close(unpacked, expected)
    summed = torch.autograd.grad(layer(images).square().sum(), list(weights.values()))
    for key, gradient in zip(weights, summed, strict=True):
        torch.testing.assert_close(per_image[key].sum(0), gradient)
    assert _layers.takes_products(images), "and afterwards our own kernels again"
