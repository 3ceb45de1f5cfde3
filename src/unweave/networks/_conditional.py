"""An encoder that is told something besides the image."""

import torch
from torch import Tensor, nn

from unweave.errors import ConfigError
from unweave.networks._networks import Architecture, ImageShape
from unweave.probability.gaussian import DiagonalGaussian
from unweave.tensors import Images


class ConditionalEncoder(nn.Module):
    """q(z|x, u): features of the image, then a hidden layer that sees them and u.

    The features do not depend on u, so that one image with many u passes the
    architecture's encoder only once.
    """

    def __init__(
        self,
        architecture: Architecture,
        image_shape: ImageShape,
        *,
        given: int,
        hidden: int,
        latent_dim: int,
    ):
        super().__init__()
        if hidden < 1:
            raise ConfigError(f"hidden must be 1 or more, found {hidden}")
        self.trunk = architecture.encoder(image_shape, hidden)
        self.head = nn.Sequential(
            nn.Linear(hidden + given, hidden),
            nn.ReLU(inplace=True),
            nn.Linear(hidden, 2 * latent_dim),
        )

    def features(self, images: Images) -> Tensor:
        """Return what is seen in images, (image, feature)."""
        return torch.relu(self.trunk(images))

    def posterior(self, features: Tensor, given: Tensor) -> DiagonalGaussian:
        """Return q(z|x, u) of features and u, line by line."""
        return DiagonalGaussian.from_outputs(self.head(torch.cat([features, given], dim=1)))

    def forward(self, images: Images, given: Tensor) -> DiagonalGaussian:
        return self.posterior(self.features(images), given)
