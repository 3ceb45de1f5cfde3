"""VAE: the evidence lower bound.

D. P. Kingma & M. Welling, "Auto-Encoding Variational Bayes", ICLR 2014,
arXiv:1312.6114. Equation (10), negated:

    E[-log p(x|z)] + KL(q(z|x) ‖ p(z))

Use it as the baseline, for codes that rebuild images, and for M1 by `--probe`. Not for axes:
nothing in it prefers any.
"""

from dataclasses import dataclass

from unweave.batches import Batch
from unweave.methods._gaussian_vae import GaussianVAE
from unweave.methods._method import Loss
from unweave.networks import Networks


@dataclass(frozen=True, kw_only=True)
class VAE(GaussianVAE):
    main_knob = "latent_dim"

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        q = self.posterior(nets, batch.images)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        kl = self.kl_to_prior(q).sum(1).mean()
        return Loss(reconstruction + kl, reconstruction=reconstruction, kl=kl)
