"""What methods with one Gaussian encoder and one decoder share."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from unweave.batches import Batch
from unweave.code_prior import PRIORS, CodePrior, PriorName
from unweave.data import DataSummary
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, GaussianEncoder, Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.priors import sample_code_prior
from unweave.tensors import Images, Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class GaussianAutoencoder(Autoencoder):
    """One Gaussian encoder, one decoder; a paper with several players writes `turns`."""

    prior: PriorName = "gaussian"
    """Distribution p(z) of each latent, of unit variance: gaussian, flat (∝ exp(−z⁶/31)) or
    uniform_like (∝ exp(−z¹²/1018)), which has the steeper sides. Papers: gaussian."""

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

    @property
    def code_prior(self) -> CodePrior:
        return PRIORS[self.prior]

    def kl_to_prior(self, q: DiagonalGaussian) -> Tensor:
        """Return KL(q ‖ p) per dimension, in nats."""
        kl: Tensor = self.code_prior.kl(q.mean, q.logvar, q.variance)
        return kl

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        return sample_code_prior(self.code_prior, count, self.latent_dim)

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return the terms of the evidence bound."""
        q = self.posterior(nets, images)
        reconstruction = self.reconstruction(nets, q.sample(), images)
        kl = self.kl_to_prior(q).sum(1).mean()
        return {"reconstruction": reconstruction, "kl": kl, "elbo": -(reconstruction + kl)}


@dataclass(frozen=True, kw_only=True)
class GaussianVAE(GaussianAutoencoder):
    """One Gaussian encoder, one decoder, one player; a paper writes `loss`."""

    def turns(self, nets: Networks, batch: Any, step: int) -> Iterator[Turn]:
        yield Turn("autoencoder", self.loss(nets, batch, step))

    @abstractmethod
    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        """Return what the autoencoder lowers."""
