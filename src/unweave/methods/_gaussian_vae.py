"""What methods with one Gaussian encoder and one decoder share."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from unweave.data._batches import Batch
from unweave.errors import ConfigError
from unweave.methods._method import Loss, Method, Player, Turn
from unweave.networks import Architecture, GaussianEncoder, ImageShape, Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.likelihood import Likelihood, negative_log_likelihood
from unweave.tensors import Images, Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class GaussianVAE(Method):
    """One Gaussian encoder, one decoder, one player; a paper writes `loss`."""

    likelihood: Likelihood = "bernoulli"
    """How pixels are distributed around the decoder's output."""
    pixel_scale: float = 0.1
    """Standard deviation (gaussian) or mean absolute deviation (laplace) of a pixel."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pixel_scale <= 0:
            raise ConfigError(f"pixel_scale must be above 0, found {self.pixel_scale}")

    def networks(self, architecture: Architecture, image_shape: ImageShape) -> Networks:
        nets = Networks()
        nets.encoder = GaussianEncoder(architecture.encoder(image_shape, 2 * self.latent_dim))
        nets.decoder = architecture.decoder(self.latent_dim, image_shape)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {"autoencoder": Player(("encoder", "decoder"), self.optimizer)}

    def turns(self, nets: Networks, batch: Any, step: int) -> Iterator[Turn]:
        yield Turn("autoencoder", self.loss(nets, batch, step))

    @abstractmethod
    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        """Return what the autoencoder lowers."""

    def reconstruction(self, nets: Networks, z: Latents, images: Images) -> Scalar:
        """Return −log p(x|z), summed over pixels, averaged over the batch."""
        return negative_log_likelihood(self.likelihood, nets.decoder(z), images, self.pixel_scale)

    def encode(self, nets: Networks, images: Images) -> Latents:
        q: DiagonalGaussian = nets.encoder(images)
        return q.mean

    def decode(self, nets: Networks, codes: Latents) -> Images:
        return torch.sigmoid(nets.decoder(codes))

    def posterior(self, nets: Networks, images: Images) -> DiagonalGaussian:
        q: DiagonalGaussian = nets.encoder(images)
        return q

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return the terms of the evidence bound."""
        q = self.posterior(nets, images)
        reconstruction = self.reconstruction(nets, q.sample(), images)
        kl = q.kl_to_prior().sum(1).mean()
        return {"reconstruction": reconstruction, "kl": kl, "elbo": -(reconstruction + kl)}
