"""The discriminator that several methods train on codes."""

from torch import nn

from unweave.errors import ConfigError

SLOPE = 0.2  # of the leaky units on their negative side


def code_discriminator(inputs: int, width: int, depth: int) -> nn.Module:
    """Return leaky layers from codes to one logit each, (batch,)."""
    if width < 1 or depth < 1:
        raise ConfigError(
            f"a discriminator needs a width and a depth of 1 or more, found {width} and {depth}"
        )
    layers: list[nn.Module] = []
    for layer in range(depth):
        layers += [nn.Linear(inputs if layer == 0 else width, width), nn.LeakyReLU(SLOPE)]
    return nn.Sequential(*layers, nn.Linear(width, 1), nn.Flatten(0))
