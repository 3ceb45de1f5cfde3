"""Generators of images, as games against a discriminator want them."""

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

ACTIVATIONS = (nn.ReLU, nn.LeakyReLU, nn.Tanh)


def activation_first(network: nn.Module) -> nn.Module:
    """Return a normalised network whose activations come before the normalisation, not after.

    Only the order within sequences changes; where something stands between the two, such as
    the reshaping of features into an image, both stay.
    """
    for sequence in network.modules():
        if isinstance(sequence, nn.Sequential):
            _exchange(sequence)
    return network


def _exchange(sequence: nn.Sequential) -> None:
    layers = list(sequence)
    for place in range(len(layers) - 1):
        norm, activation = layers[place : place + 2]
        if isinstance(norm, _BatchNorm) and isinstance(activation, ACTIVATIONS):
            sequence[place], sequence[place + 1] = activation, norm
