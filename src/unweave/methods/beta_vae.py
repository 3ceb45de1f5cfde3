"""β-VAE: weigh the KL term to buy independence with fidelity.

I. Higgins et al., "beta-VAE: Learning Basic Visual Concepts with a Constrained
Variational Framework", ICLR 2017, openreview:Sy2fzU9gl. Equation (4), negated:

    E[-log p(x|z)] + β KL(q(z|x) ‖ p(z))

β depends on the number of pixels P and of latents D. The paper's β_norm = β D / P
compares across data sets: divided by P, the loss is the mean error of a pixel
plus β_norm times the mean KL of a latent.

Use it as the plain baseline of everything here, and where one knob is all that shall be chosen.
Not where fine detail matters, since β buys independence with fidelity; and not for axes where
pairs or labels can be had.
"""

from dataclasses import dataclass

from unweave.batches import Batch
from unweave.methods._gaussian_vae import GaussianVAE
from unweave.methods._method import Loss
from unweave.networks import Networks
from unweave.settings.schedules import Schedule, constant


@dataclass(frozen=True, kw_only=True)
class BetaVAE(GaussianVAE):
    beta: Schedule = constant(4.0)
    """Weight of the KL term; 0:4:10000 warms it up over 10,000 steps. Paper: 4 on dSprites,
    5 on chairs, 20 on faces, 250 on CelebA; the large study: 1 to 16."""
    beta_norm: Schedule | None = None
    """β·latent_dim/pixels, given instead of beta; 0.0098 is β = 4 on dSprites."""

    main_knob = "beta"

    def beta_for(self, pixels: int) -> Schedule:
        """Return the weight of the KL term for images of so many values."""
        if self.beta_norm is None:
            return self.beta
        return self.beta_norm.times(pixels / self.latent_dim)

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        beta = self.beta_for(batch.images[0].numel()).at(step)
        q = self.posterior(nets, batch.images)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        kl = self.kl_to_prior(q).sum(1).mean()
        return Loss(reconstruction + beta * kl, reconstruction=reconstruction, kl=kl)
