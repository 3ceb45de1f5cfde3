"""Generators of images, as games against a discriminator want them."""

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

ACTIVATIONS = (nn.ReLU, nn.LeakyReLU, nn.Tanh)


def activation_first(network: nn.Module) -> nn.Module:
    """Return a normalised network that normalises after its activations, not before them.

    Where no activation follows, as where pixels are given, nothing is normalised any more: a
    pixel that is always black would have to unlearn what normalising makes of it.
    """
    for sequence in list(network.modules()):
        if isinstance(sequence, nn.Sequential):
            layers = _reordered(list(sequence))
            sequence._modules.clear()
            for place, layer in enumerate(layers):
                sequence.add_module(str(place), layer)
    return network


def _reordered(layers: list[nn.Module]) -> list[nn.Module]:
    found: list[nn.Module] = []
    waiting: nn.Module | None = None
    for layer in layers:
        if isinstance(layer, _BatchNorm):
            waiting = layer
            continue
        found.append(layer)
        if isinstance(layer, ACTIVATIONS) and waiting is not None:
            found.append(waiting)
        waiting = None
    return found
