"""Wide layers give what plain ones give, and so do their gradients of every order."""

import pytest
import torch
from torch import nn

from unweave.networks import code_discriminator
from unweave.wide_products import (
    LEAST_WIDTH,
    WideLinear,
    there_is_a_product,
    with_wide_products,
)


@pytest.fixture
def layer() -> WideLinear:
    torch.manual_seed(0)
    found = with_wide_products(nn.Linear(LEAST_WIDTH, LEAST_WIDTH + 8))
    assert isinstance(found, WideLinear)
    return found


def outputs_and_gradients(layer: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    x = x.clone().requires_grad_()
    outputs = layer(x)
    gradients = torch.autograd.grad(outputs.square().sum(), [x, *layer.parameters()])
    return [outputs, *gradients]


def test_outputs_and_gradients_are_those_of_a_plain_layer(layer) -> None:
    x = torch.randn(7, LEAST_WIDTH)
    found = outputs_and_gradients(layer, x)
    with torch.backends.mkldnn.flags(enabled=False):
        expected = outputs_and_gradients(layer, x)
    for ours, plain in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-4)


def test_gradients_of_gradients_are_those_of_a_plain_layer(layer) -> None:
    """As a penalty on slopes needs them."""
    x = torch.randn(3, LEAST_WIDTH)

    def of_slopes() -> list[torch.Tensor]:
        inputs = x.clone().requires_grad_()
        outputs = layer(inputs).tanh().sum()
        (slope,) = torch.autograd.grad(outputs, inputs, create_graph=True)
        return list(torch.autograd.grad(slope.square().sum(), [layer.weight, inputs]))

    found = of_slopes()
    with torch.backends.mkldnn.flags(enabled=False):
        expected = of_slopes()
    for ours, plain in zip(found, expected, strict=True):
        assert plain.abs().max() > 0
        torch.testing.assert_close(ours, plain, rtol=1e-3, atol=1e-5)


def test_products_are_taken_where_they_are_known(layer, monkeypatch) -> None:
    if not torch.backends.mkldnn.is_available():  # a build of torch without oneDNN
        assert not there_is_a_product()
        return
    assert there_is_a_product(), "torch no longer has oneDNN's product: WideLinear is a plain layer"
    taken = []
    product = torch.ops.mkldnn._linear_pointwise
    monkeypatch.setattr(
        "unweave.wide_products.linear_by_onednn", lambda *of: taken.append(1) or product(*of)
    )
    layer(torch.randn(2, LEAST_WIDTH))
    assert taken
    layer.double()(torch.randn(2, LEAST_WIDTH).double())
    assert len(taken) == 1


def test_narrow_layers_stay_plain_and_weights_what_they_are() -> None:
    plain = code_discriminator(5, LEAST_WIDTH, 3)
    before = {name: weight.clone() for name, weight in plain.state_dict().items()}
    wide = with_wide_products(plain)
    kinds = [type(layer) for layer in wide.modules() if isinstance(layer, nn.Linear)]
    assert kinds == [nn.Linear, WideLinear, WideLinear, nn.Linear]
    assert all(torch.equal(before[name], weight) for name, weight in wide.state_dict().items())
