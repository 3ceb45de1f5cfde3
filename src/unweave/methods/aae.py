"""AAE: an autoencoder whose codes a discriminator cannot tell from a prior.

A. Makhzani et al., "Adversarial Autoencoders", 2015, arXiv:1511.05644. Figure 1:

    autoencoder     E[-log p(x|z)] - w E log D(z)
    discriminator   -E_{p(z)} log D(z) - E log(1 - D(z))

There is no KL: any prior that can be sampled will do. A code is a point
(deterministic) or drawn from a Gaussian. w = 0 is a plain autoencoder.

Differs from the paper: its reconstruction phase and its generator phase are one
update of the weighted sum, so that the weight keeps its meaning under Adam, which
would divide it out of an update of its own.

Use it if codes must follow a prior that has no density to compute a KL with, such as a mixture or
a spiral. Not for axes: nothing in it prefers one turn of the code to another, and a discriminator
is harder to train than a KL.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, GaussianEncoder, Networks, code_discriminator
from unweave.probability import priors
from unweave.probability.adversarial import discriminator_loss, fooling_loss
from unweave.probability.gaussian import DiagonalGaussian
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents


@dataclass(frozen=True, kw_only=True)
class AAE(Autoencoder):
    prior: priors.Prior = "gaussian"
    """What codes should be distributed as. Paper: gaussian; mixture of 10 Gaussians and
    swiss_roll in 2 dimensions."""
    encoder: Literal["deterministic", "gaussian"] = "deterministic"
    """Whether a code is a point or drawn around one. Paper: deterministic."""
    adversarial_weight: Schedule = constant(5.0)
    """Weight w of fooling the discriminator, against pixels that are summed. Paper: a step of its
    own, with no weight."""
    discriminator_width: int = 1000
    """Units of each hidden layer of the discriminator. Paper: 1000."""
    discriminator_depth: int = 2
    """Hidden layers of the discriminator. Paper: 2."""
    discriminator_optimizer: Optimizer = Adam(1e-4, betas=(0.5, 0.9))
    """How the discriminator is updated. Paper: SGD with momentum; a public port: Adam, 1e-4."""

    main_knob = "adversarial_weight"

    def __post_init__(self) -> None:
        super().__post_init__()
        priors.check_prior(self.prior, self.latent_dim)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        if self.encoder == "gaussian":
            heads = architecture.encoder(data.image_shape, 2 * self.latent_dim)
            nets.encoder = GaussianEncoder(heads)
        else:
            nets.encoder = architecture.encoder(data.image_shape, self.latent_dim)
        nets.decoder = architecture.decoder(self.latent_dim, data.image_shape)
        nets.discriminator = code_discriminator(
            self.latent_dim, self.discriminator_width, self.discriminator_depth
        )
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {
            "autoencoder": Player(("encoder", "decoder"), self.optimizer),
            "discriminator": Player(("discriminator",), self.discriminator_optimizer),
        }

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Turn]:
        encoded: DiagonalGaussian | Tensor = nets.encoder(batch.images)
        z = encoded.sample() if isinstance(encoded, DiagonalGaussian) else encoded.float()
        reconstruction = self.reconstruction(nets, z, batch.images)
        fooling = fooling_loss(nets.discriminator(z))
        total = reconstruction + self.adversarial_weight.at(step) * fooling
        yield Turn("autoencoder", Loss(total, reconstruction=reconstruction, fooling=fooling))

        prior = priors.sample_prior(self.prior, len(z), self.latent_dim, z.device)
        real, fake = nets.discriminator(prior), nets.discriminator(z.detach())
        yield Turn(
            "discriminator",
            Loss(discriminator_loss(real, fake), prior_logit=real.mean(), code_logit=fake.mean()),
        )

    def encode(self, nets: Networks, images: Images) -> Latents:
        encoded: DiagonalGaussian | Tensor = nets.encoder(images)
        return encoded.mean if isinstance(encoded, DiagonalGaussian) else encoded

    def posterior(self, nets: Networks, images: Images) -> DiagonalGaussian | None:
        return nets.encoder(images) if self.encoder == "gaussian" else None

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        return priors.sample_prior(self.prior, count, self.latent_dim)
