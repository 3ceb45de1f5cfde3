"""InfoVAE: match all codes together to the prior, and let each code stay informative.

S. Zhao et al., "InfoVAE: Balancing Learning and Inference in Variational
Autoencoders", AAAI 2019, arXiv:1706.02262. Equation (6), negated:

    E[-log p(x|z)] + (1 - α) KL(q(z|x) ‖ p(z)) + (α + λ - 1) Div(q(z) ‖ p(z))

    mmd           MMD² of codes and samples of the prior, by an RBF or IMQ kernel; the RBF
                  kernel is exp(-‖a - b‖² / h), h = `kernel_width`
    stein         the direction of Stein variational gradient descent
    adversarial   -E log D(z), D trained to tell samples of the prior from codes

α = 0 and λ = 1 is the VAE; α + λ = 1 the β-VAE with β = λ; α = λ = 1 with the
adversarial divergence an adversarial autoencoder. The divergences are not on the
KL's scale: tune λ for each. Stein's term has a useful gradient, not a value.

Use it if a decoder is so strong that codes of a VAE are ignored, or all codes together must
follow the prior. Not for axes: like the prior it is the same from every side.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._gaussian_vae import GaussianAutoencoder
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, Networks, code_discriminator
from unweave.probability.adversarial import discriminator_loss, fooling_loss
from unweave.probability.divergence import mmd_imq, mmd_rbf, stein_surrogate
from unweave.probability.priors import sample_code_prior
from unweave.settings.optimizers import Adam, Optimizer
from unweave.tensors import Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class InfoVAE(GaussianAutoencoder):
    alpha: float = 0.0
    """How far the KL of each code is dropped: 0 keeps it, 1 drops it. Paper: 1 for the MMD-VAE."""
    lambda_prior: float = 100.0
    """λ, weight of the match to the prior. A fork of the authors' code: 50 on MNIST; try 10
    to 1000 for mmd, 100 and more for stein, 1 to 50 for adversarial."""
    divergence: Literal["mmd", "stein", "adversarial"] = "mmd"
    """How codes are compared with the prior. Paper: all three."""
    kernel: Literal["rbf", "imq"] = "rbf"
    """Kernel of mmd. Paper: rbf; imq has heavier tails, which reach far codes."""
    kernel_width: float | None = None
    """h of the rbf kernel; by default latent_dim, about half of what two samples of the prior
    are apart. The authors' code: latent_dim², with which MMD² is many times smaller, and λ must
    be as many times larger."""
    discriminator_width: int = 1000
    """Units of each hidden layer of the discriminator (adversarial)."""
    discriminator_depth: int = 2
    """Hidden layers of the discriminator (adversarial)."""
    discriminator_optimizer: Optimizer = Adam(1e-4, betas=(0.5, 0.9))
    """How the discriminator is updated (adversarial)."""

    main_knob = "lambda_prior"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.refuse_negative("lambda_prior")
        if self.alpha > 1:
            raise ConfigError(
                f"alpha must be 1 or less, so that the KL has no negative weight; "
                f"found {self.alpha}"
            )
        if self.kernel_width is not None and self.kernel_width <= 0:
            raise ConfigError(f"kernel_width must be above 0, found {self.kernel_width}")
        if self.alpha + self.lambda_prior < 1:
            raise ConfigError(
                f"alpha + lambda_prior must be 1 or more, so that codes are drawn to the prior; "
                f"found {self.alpha} + {self.lambda_prior}"
            )

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        if self.divergence == "adversarial":
            nets.discriminator = code_discriminator(
                self.latent_dim, self.discriminator_width, self.discriminator_depth
            )
        return nets

    @property
    def players(self) -> dict[str, Player]:
        if self.divergence != "adversarial":
            return super().players
        judge = Player(("discriminator",), self.discriminator_optimizer)
        return super().players | {"discriminator": judge}

    def _prior_like(self, z: Latents) -> Latents:
        return sample_code_prior(self.code_prior, len(z), z.shape[1], z.device)

    def divergence_of(self, nets: Networks, z: Latents) -> Scalar:
        """Return the distance of codes from the prior."""
        if self.divergence == "adversarial":
            return fooling_loss(nets.discriminator(z))
        if self.divergence == "stein":
            return stein_surrogate(z, self.code_prior)
        if self.kernel == "rbf":
            return mmd_rbf(z, self._prior_like(z), self.kernel_width)
        return mmd_imq(z, self._prior_like(z))

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Turn]:
        q = self.posterior(nets, batch.images)
        z = q.sample()
        reconstruction = self.reconstruction(nets, z, batch.images)
        kl = self.kl_to_prior(q).sum(1).mean()
        divergence = self.divergence_of(nets, z)
        weight = self.alpha + self.lambda_prior - 1
        total = reconstruction + (1 - self.alpha) * kl + weight * divergence
        terms = {"reconstruction": reconstruction, "kl": kl, "divergence": divergence}
        yield Turn("autoencoder", Loss(total, **terms))

        if self.divergence == "adversarial":
            codes, prior = z.detach(), self._prior_like(z)
            loss = discriminator_loss(nets.discriminator(prior), nets.discriminator(codes))
            yield Turn("discriminator", Loss(loss))
