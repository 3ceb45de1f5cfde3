"""Networks that look at some images without remembering them."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.utils.parametrizations import _SpectralNorm


@contextmanager
def still_statistics(*networks: nn.Module) -> Iterator[None]:
    """Hold still what networks remember of all that passes through them.

    Inside, batch normalisation takes its running statistics and spectral normalisation
    its directions as they are, and neither changes them; all else, such as dropout,
    goes on as in training.
    """
    modules = [module for network in networks for module in network.modules()]
    held = [m for m in modules if isinstance(m, _NormBase | _SpectralNorm) and m.training]
    for module in held:
        module.training = False
    try:
        yield
    finally:
        for module in held:
            module.training = True
