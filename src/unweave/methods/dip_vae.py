"""DIP-VAE: bring the covariance of the code to the identity.

A. Kumar et al., "Variational Inference of Disentangled Latent Concepts from
Unlabeled Observations", ICLR 2018, arXiv:1711.00848. Equations (6) and (7):

    E[-log p(x|z)] + KL(q(z|x) ‖ p(z)) + λ_od Σ_{i≠j} C_ij² + λ_d Σ_i (C_ii - 1)²

    I    C = Cov_x[μ(x)]
    II   C = Cov_x[μ(x)] + E_x[diag σ²(x)], the covariance of q(z)

Form I makes every mean vary by 1, so that each dimension is used and a factor
may be split; take II when there are more dimensions than factors. C is that of
the batch, which should be much larger than the code.

Use it if means must be uncorrelated, for instance for a linear model behind them. Not for axes
alone: uncorrelated codes can be turned, and on dSprites its scores were below those of
`beta_tcvae` here.
"""

from dataclasses import dataclass
from typing import Literal

from unweave.batches import Batch
from unweave.methods._gaussian_vae import GaussianVAE
from unweave.methods._method import Loss
from unweave.networks import Networks
from unweave.probability.covariance import aggregate_covariance, covariance, identity_gap
from unweave.settings.schedules import Schedule, constant


@dataclass(frozen=True, kw_only=True)
class DIPVAE(GaussianVAE):
    form: Literal["I", "II"] = "II"
    """Whether the covariance is that of the means (I) or of the sampled codes (II). Paper: both."""
    lambda_od: Schedule = constant(10.0)
    """Weight of the covariances off the diagonal. The large study: 1 to 50."""
    lambda_d: Schedule | None = None
    """Weight of the variances' distance from 1; by default 10·lambda_od for form I and
    lambda_od for form II, as in the large study."""

    main_knob = "lambda_od"

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        q = self.posterior(nets, batch.images)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        kl = self.kl_to_prior(q).sum(1).mean()
        gap = identity_gap(covariance(q.mean) if self.form == "I" else aggregate_covariance(q))

        lambda_od = self.lambda_od.at(step)
        if self.lambda_d is not None:
            lambda_d = self.lambda_d.at(step)
        else:
            lambda_d = lambda_od * (10 if self.form == "I" else 1)
        return Loss(
            reconstruction + kl + lambda_od * gap.off_diagonal + lambda_d * gap.diagonal,
            reconstruction=reconstruction,
            kl=kl,
            off_diagonal=gap.off_diagonal,
            diagonal=gap.diagonal,
        )
