"""AnnealedVAE: hold the KL at a capacity that grows while training.

C. P. Burgess et al., "Understanding disentangling in β-VAE", 2018,
arXiv:1804.03599. Equation (8), negated:

    E[-log p(x|z)] + γ |KL(q(z|x) ‖ p(z)) - C|

C is in nats, of the KL summed over latents. The gap is that of the batch mean,
as in the large study; `per_image` takes it of each image and averages.
"""

from dataclasses import dataclass

from unweave.batches import Batch
from unweave.methods._gaussian_vae import GaussianVAE
from unweave.methods._method import Loss
from unweave.networks import Networks
from unweave.settings.schedules import Schedule, constant


@dataclass(frozen=True, kw_only=True)
class AnnealedVAE(GaussianVAE):
    gamma: Schedule = constant(1000.0)
    """Weight of the distance between KL and capacity. Paper: 1000."""
    capacity: Schedule = Schedule(0.0, 25.0, 100_000)
    """Capacity C in nats. Paper: 0 to 25 over 100,000 steps on dSprites; the large study: to 5,
    10, 25, 50, 75 or 100."""
    per_image: bool = False
    """Whether each image's KL, not the batch mean, is held at the capacity. The large study: no."""

    main_knob = "capacity"

    def kl_limit(self, step: int) -> float:
        return self.capacity.at(step)

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        q = self.posterior(nets, batch.images)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        kl = self.kl_to_prior(q).sum(1)
        capacity = self.capacity.at(step)
        gap = (kl - capacity).abs().mean() if self.per_image else (kl.mean() - capacity).abs()
        return Loss(
            reconstruction + self.gamma.at(step) * gap,
            reconstruction=reconstruction,
            kl=kl.mean(),
            capacity_gap=gap,
        )
