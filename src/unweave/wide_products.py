"""Wide linear layers, twice as quick where the usual library of products leaves half idle.

On processors of AMD the library that torch takes products of matrices from uses half the width of
their vectors. oneDNN, which torch takes convolutions from, uses all of it, and torch has an
operation for a product by it, which its compiler takes. Weights, their names and shapes are those
of the plain layer, which computes on other devices, when compiled or exported, in mixed precision
and for transformations of functions; outputs differ by rounding.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function, forward_ad

LEAST_WIDTH = 512
"""Narrower layers take hardly longer than the call itself."""


def with_wide_products(network: nn.Module) -> nn.Module:
    """Return the network, whose wide linear layers are of the quicker kind from now on."""
    for layer in network.modules():
        if type(layer) is nn.Linear and min(layer.weight.shape) >= LEAST_WIDTH:
            layer.__class__ = WideLinear  # it has the same weights, and no more
    return network


class WideLinear(nn.Linear):
    """A linear layer by oneDNN's products."""

    def forward(self, input: Tensor) -> Tensor:
        if not takes_onednn(input):
            return super().forward(input)
        output: Tensor = Product.apply(input, self.weight, self.bias)
        return output


class Product(Function):
    """x Wᵀ + b, and its gradients, each a product by oneDNN."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(input, weight)
        found: Tensor = linear_by_onednn(input, weight, bias, "none", [], "")
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        input, weight = ctx.saved_tensors
        of_input, of_weight, of_bias = ctx.needs_input_grad
        return (
            Product.apply(gradient, weight.t(), None) if of_input else None,
            Product.apply(gradient.t(), input.t(), None) if of_weight else None,
            gradient.sum(0) if of_bias else None,
        )


def takes_onednn(input: Tensor) -> bool:
    """Return whether rows of inputs are multiplied by oneDNN here."""
    plain = input.dtype != torch.float32 or input.device.type != "cpu" or input.ndim != 2
    if plain or torch.is_autocast_enabled("cpu") or torch.compiler.is_compiling():
        return False
    # Transformations of functions, such as vmap and jvp, do not see into `Product`.
    transformed = torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0
    return there_is_a_product() and not transformed


def there_is_a_product() -> bool:
    """Return whether this build of torch has oneDNN's product and may use it."""
    usable = torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled
    return bool(usable) and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def linear_by_onednn(*of: Any) -> Tensor:
    """Return input weightᵀ + bias; what follows names what else the operation could do."""
    found: Tensor = torch.ops.mkldnn._linear_pointwise(*of)
    return found
