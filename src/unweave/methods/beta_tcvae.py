"""β-TCVAE: weigh the total correlation inside the KL term.

R. T. Q. Chen et al., "Isolating Sources of Disentanglement in Variational
Autoencoders", NeurIPS 2018, arXiv:1802.04942. Equation (4), negated:

    E[-log p(x|z)] + α I(x; z) + β TC(z) + γ Σ_j KL(q(z_j) ‖ p(z_j))

Differs from the paper: the stratified estimator, unbiased for q(z), is the
default, and with α = γ the analytic KL is used: E[-log p(x|z)] + α KL + (β - α) TC
has the same expectation and less variance.

Use it for axes from images alone, as the first method to compare others with. Not with batches
below about 64, which estimate the total correlation badly, and not by one seed: the seed decides
more than β.
"""

from dataclasses import dataclass

from unweave.batches import Batch
from unweave.methods._gaussian_vae import GaussianVAE
from unweave.methods._method import Loss
from unweave.networks import Networks
from unweave.probability.total_correlation import Estimator, split_kl
from unweave.settings.schedules import Schedule, constant


@dataclass(frozen=True, kw_only=True)
class BetaTCVAE(GaussianVAE):
    alpha: Schedule = constant(1.0)
    """Weight of the mutual information between image and code. Paper: 1."""
    beta: Schedule = constant(6.0)
    """Weight of the total correlation, the term meant to disentangle. Paper: 6 on dSprites; the
    large study: 1 to 10."""
    gamma: Schedule = constant(1.0)
    """Weight of the dimension-wise KL to the prior. Paper: 1."""
    estimator: Estimator = "stratified"
    """How q(z) is estimated from a batch. Paper: weighted."""
    analytic_kl: bool = True
    """Whether the KL itself is taken in closed form when alpha equals gamma. Paper: no; the
    large study: yes."""

    main_knob = "beta"

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        q = self.posterior(nets, batch.images)
        z = q.sample()
        reconstruction = self.reconstruction(nets, z, batch.images)
        parts = split_kl(z, q, batch.population, self.estimator, self.code_prior)
        kl = self.kl_to_prior(q).sum(1).mean()

        alpha, beta, gamma = self.alpha.at(step), self.beta.at(step), self.gamma.at(step)
        if self.analytic_kl and alpha == gamma:
            penalty = alpha * kl + (beta - alpha) * parts.total_correlation
        else:
            penalty = (
                alpha * parts.mutual_information
                + beta * parts.total_correlation
                + gamma * parts.dimension_kl
            )
        return Loss(
            reconstruction + penalty,
            reconstruction=reconstruction,
            kl=kl,
            mutual_information=parts.mutual_information,
            total_correlation=parts.total_correlation,
            dimension_kl=parts.dimension_kl,
        )
