"""What methods with one Gaussian encoder and one decoder share."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, GaussianEncoder, Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.tensors import Images, Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class GaussianAutoencoder(Autoencoder):
    """One Gaussian encoder, one decoder; a paper with several players writes `turns`."""

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.encoder = GaussianEncoder(architecture.encoder(data.image_shape, 2 * self.latent_dim))
        nets.decoder = architecture.decoder(self.latent_dim, data.image_shape)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {"autoencoder": Player(("encoder", "decoder"), self.optimizer)}

    def encode(self, nets: Networks, images: Images) -> Latents:
        return self.posterior(nets, images).mean

    def posterior(self, nets: Networks, images: Images) -> DiagonalGaussian:
        q: DiagonalGaussian = nets.encoder(images)
        return q

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return the terms of the evidence bound."""
        q = self.posterior(nets, images)
        reconstruction = self.reconstruction(nets, q.sample(), images)
        kl = q.kl_to_prior().sum(1).mean()
        return {"reconstruction": reconstruction, "kl": kl, "elbo": -(reconstruction + kl)}


@dataclass(frozen=True, kw_only=True)
class GaussianVAE(GaussianAutoencoder):
    """One Gaussian encoder, one decoder, one player; a paper writes `loss`."""

    def turns(self, nets: Networks, batch: Any, step: int) -> Iterator[Turn]:
        yield Turn("autoencoder", self.loss(nets, batch, step))

    @abstractmethod
    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        """Return what the autoencoder lowers."""
