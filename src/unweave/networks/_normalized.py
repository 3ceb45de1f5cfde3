"""Networks of an architecture as games between two of them need them: normalised.

Without either, the discriminator of binary images wins within a hundred steps:
it tells grey pixels from black and white ones, and the generator learns nothing.
"""

from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

LEAK = 0.1


def batch_normalized(network: nn.Module) -> nn.Module:
    """Return a network with batch normalisation after every layer but the last.

    S. Ioffe and C. Szegedy, ICML 2015, arXiv:1502.03167.
    """
    layers: list[nn.Module] = []
    for layer in network.children():
        layers.append(layer)
        if isinstance(layer, nn.Linear):
            layers.append(nn.BatchNorm1d(layer.out_features))
        elif isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d)):
            layers.append(nn.BatchNorm2d(layer.out_channels))
    if layers and isinstance(layers[-1], (nn.BatchNorm1d, nn.BatchNorm2d)):
        layers.pop()
    return nn.Sequential(*layers)


def spectrally_normalized(network: nn.Module) -> nn.Module:
    """Return a network whose layers have a largest singular value of 1, with leaky units.

    T. Miyato et al., ICLR 2018, arXiv:1802.05957.
    """
    layers: list[nn.Module] = []
    for layer in network.children():
        if isinstance(layer, (nn.Linear, nn.Conv2d, nn.ConvTranspose2d)):
            layers.append(spectral_norm(layer))
        elif isinstance(layer, nn.ReLU):
            layers.append(nn.LeakyReLU(LEAK, inplace=True))
        else:
            layers.append(layer)
    return nn.Sequential(*layers)
