"""Networks of an architecture as games between two of them need them: normalised.

Without either, the discriminator of binary images wins within a hundred steps:
it tells grey pixels from black and white ones, and the generator learns nothing.

Layers are changed where they are, at any depth: inside sequences, and inside blocks
with a `forward` of their own, which is kept. What cannot be treated is refused.
"""

from collections.abc import Callable
from typing import TypeGuard

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.utils.parametrizations import spectral_norm
from torch.nn.utils.parametrize import is_parametrized

from unweave.errors import ConfigError
from unweave.networks._blocks import BlockDecoder

LEAK = 0.1
Layer = nn.Linear | nn.Conv2d | nn.ConvTranspose2d
Change = Callable[[nn.Module], list[nn.Module]]
"""From a layer without parts to the layers that take its place, in order."""


def batch_normalized(network: nn.Module) -> nn.Module:
    """Return the network with batch normalisation after every layer but one that ends it.

    S. Ioffe and C. Szegedy, ICML 2015, arXiv:1502.03167. Where something without weights
    ends it, such as the reshaping of mlp64, the layer before that is normalised as well:
    stored runs were trained so.
    """
    last = _last(network)

    def normalized(layer: nn.Module) -> list[nn.Module]:
        if isinstance(layer, _BatchNorm):
            raise ConfigError("a network that normalises batches already is not given more of it")
        if layer is last:
            return [layer]
        if isinstance(layer, nn.Linear):
            return [layer, nn.BatchNorm1d(layer.out_features)]
        if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
            return [layer, nn.BatchNorm2d(layer.out_channels)]
        return [layer]

    return _changed(network, normalized, {})


def spectrally_normalized(network: nn.Module) -> nn.Module:
    """Return the network with layers whose largest singular value is 1, and leaky units.

    T. Miyato et al., ICLR 2018, arXiv:1802.05957. A block that calls `relu` as a function
    keeps it.
    """

    def normalized(layer: nn.Module) -> list[nn.Module]:
        if isinstance(layer, nn.ReLU):
            return [nn.LeakyReLU(LEAK, inplace=layer.inplace)]
        if not isinstance(layer, Layer):
            return [layer]
        return [_counted(layer) if layer.weight.is_meta else spectral_norm(layer)]

    return _changed(network, normalized, {})


def _counted(layer: Layer) -> Layer:
    """Return a layer without numbers with as many weights as if it were normalised.

    There is nothing to normalise, and torch takes seconds to find that out.
    """
    weight = layer.weight
    rows = weight.shape[1 if isinstance(layer, nn.ConvTranspose2d) else 0]
    layer.register_buffer("left_vector", weight.new_empty(rows))
    layer.register_buffer("right_vector", weight.new_empty(weight.numel() // rows))
    return layer


def _changed(module: nn.Module, change: Change, done: dict[nn.Module, nn.Module]) -> nn.Module:
    """Return a module with its layers changed, at any depth; a layer used twice stays shared."""
    if module in done:
        return done[module]
    if _is_layer(module):
        layers = change(module)
        done[module] = layers[0] if len(layers) == 1 else nn.Sequential(*layers)
    elif _is_sequence(module):
        done[module] = module
        _refill(module, [part for old in module for part in _in_sequence(old, change, done)])
    else:
        done[module] = module
        for name, part in module._modules.items():
            module._modules[name] = None if part is None else _changed(part, change, done)
    return done[module]


def _in_sequence(
    module: nn.Module, change: Change, done: dict[nn.Module, nn.Module]
) -> list[nn.Module]:
    """Return what takes a module's place in a sequence: what is added stands beside it.

    Weights on disk are named by their place, so that of runs there are must stay.
    """
    if module in done or not _is_layer(module):
        return [_changed(module, change, done)]
    layers = change(module)
    done[module] = layers[0] if len(layers) == 1 else nn.Sequential(*layers)
    return layers


def _refill(sequence: nn.Sequential, layers: list[nn.Module]) -> None:
    sequence._modules.clear()
    for index, layer in enumerate(layers):
        sequence.add_module(str(index), layer)


def _is_layer(module: nn.Module) -> bool:
    """Return whether a module has no parts; refuse weights that nobody here can normalise."""
    if is_parametrized(module):
        raise ConfigError(f"{type(module).__name__} has normalised weights already")
    own = [name for name, weight in module.named_parameters(recurse=False) if weight.ndim > 1]
    if own and not isinstance(module, Layer):
        raise ConfigError(
            f"{type(module).__name__} has weights ({', '.join(own)}) that cannot be normalised; "
            f"put them into layers of nn.Linear, nn.Conv2d or nn.ConvTranspose2d"
        )
    return not module._modules


def _is_sequence(module: nn.Module) -> TypeGuard[nn.Sequential]:
    return isinstance(module, nn.Sequential) and type(module).forward is nn.Sequential.forward


def _last(network: nn.Module) -> nn.Module:
    """Return the module that ends a network, which must stay as it is if it is a layer."""
    if _is_layer(network):
        return network
    if isinstance(network, BlockDecoder):
        return [part for part in network.coarse.modules() if isinstance(part, Layer)][-1]
    if not _is_sequence(network):
        raise ConfigError(
            f"the network ends in {type(network).__name__}, and which of its layers gives the "
            f"output is not known; end it with a layer in an nn.Sequential"
        )
    return _last(network[-1])
