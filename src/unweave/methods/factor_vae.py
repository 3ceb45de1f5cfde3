"""FactorVAE: a discriminator estimates the total correlation that is penalised.

H. Kim & A. Mnih, "Disentangling by Factorising", ICML 2018, arXiv:1802.05983.
Equation (2), negated; the turns follow Algorithm 2:

    autoencoder     E[-log p(x|z)] + KL(q(z|x) ‖ p(z)) + γ E[log D(z) - log(1 - D(z))]
    discriminator   -½ E[log D(z)] - ½ E[log(1 - D(permuted z'))]

z' comes from a second batch; each of its dimensions is permuted across the
batch on its own. D that lags behind underestimates the total correlation.

Differs from the paper: one logit, log D - log(1 - D), instead of two; and D sees codes scaled to
mean 0 and deviation 1 in their batch. The total correlation of scaled codes is the same, but codes
that D sees as they are can leave it behind by moving: the encoder lowers what D has found so far
by shifting and stretching the code, D learns the new place, and the KL grows several times over.

Use it as `beta_tcvae`, if batches are small: its discriminator remembers codes of earlier ones.
Not if training must be short or steady: that discriminator has to keep up, and costs a second
batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import batch_norm

from unweave.batches import TwoBatches, UnsupervisedTwice
from unweave.data import DataSummary
from unweave.methods._gaussian_vae import GaussianAutoencoder
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, Networks, code_discriminator
from unweave.probability.adversarial import discriminator_loss
from unweave.probability.total_correlation import permute_dimensions
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Latents
from unweave.wide_products import with_wide_products


@dataclass(frozen=True, kw_only=True)
class FactorVAE(GaussianAutoencoder):
    gamma: Schedule = constant(35.0)
    """Weight of the total correlation. Paper: 35 on dSprites; the large study: 10
    to 100."""
    discriminator_width: int = 1000
    """Units of each hidden layer of the discriminator. Paper: 1000."""
    discriminator_depth: int = 6
    """Hidden layers of the discriminator. Paper: 6; 2 of 256 units will do on small data."""
    discriminator_optimizer: Optimizer = Adam(1e-4, betas=(0.5, 0.9))
    """How the discriminator is updated. Paper: learning rate 1e-4, betas 0.5 and 0.9."""
    scaled_codes: bool = True
    """Whether the discriminator sees codes of mean 0 and deviation 1, so that moving and stretching
    them does not mislead it. Paper: no."""

    main_knob = "gamma"
    supervision = UnsupervisedTwice()

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.discriminator = with_wide_products(
            code_discriminator(self.latent_dim, self.discriminator_width, self.discriminator_depth)
        )
        return nets

    @property
    def players(self) -> dict[str, Player]:
        judge = Player(("discriminator",), self.discriminator_optimizer)
        return super().players | {"discriminator": judge}

    def turns(self, nets: Networks, batch: TwoBatches, step: int) -> Iterator[Turn]:
        q = self.posterior(nets, batch.images)
        z = q.sample()
        reconstruction = self.reconstruction(nets, z, batch.images)
        kl = self.kl_to_prior(q).sum(1).mean()
        correlation = self.judged(nets, z).mean()
        yield Turn(
            "autoencoder",
            Loss(
                reconstruction + kl + self.gamma.at(step) * correlation,
                reconstruction=reconstruction,
                kl=kl,
                total_correlation=correlation,
            ),
        )

        with torch.no_grad():
            permuted = permute_dimensions(self.posterior(nets, batch.other_images).sample())
        joint_logits = self.judged(nets, z.detach())
        permuted_logits = self.judged(nets, permuted)
        told_apart = ((joint_logits > 0).float().mean() + (permuted_logits < 0).float().mean()) / 2
        yield Turn(
            "discriminator",
            Loss(discriminator_loss(joint_logits, permuted_logits) / 2, told_apart=told_apart),
        )

    def judged(self, nets: Networks, z: Latents) -> Tensor:
        """Return the discriminator's logits of a batch of codes, (image,)."""
        seen = batch_norm(z, None, None, training=True) if self.scaled_codes else z
        return nets.discriminator(seen)
