"""AnnealedVAE: hold the KL at a capacity that grows while training.

C. P. Burgess et al., "Understanding disentangling in β-VAE", 2018,
arXiv:1804.03599. Equation (8), negated:

    E[-log p(x|z)] + γ |KL(q(z|x) ‖ p(z)) - C|

C is in nats, of the KL summed over latents. The gap is that of the batch mean,
as in the large study; `per_image` takes it of each image and averages.

Differs from the paper: by default γ is 100, and C rises over a third of the run, however
long it is.

Use it if it is known how many nats a code may have, or to see factors enter one by one. Not if
that is not known: a capacity that is too small blurs images, and one that is too large undoes the
pressure; `control_vae` and `cooled_tcvae` ask for less.
"""

from dataclasses import dataclass, replace
from typing import Self

from unweave.batches import Batch
from unweave.data import FactorImages
from unweave.methods._gaussian_vae import GaussianVAE
from unweave.methods._method import Loss
from unweave.networks import Networks
from unweave.settings.schedules import Schedule, constant

PAPERS_RAMP = Schedule(0.0, 25.0, 100_000)


@dataclass(frozen=True, kw_only=True)
class AnnealedVAE(GaussianVAE):
    gamma: Schedule = constant(100.0)
    """Weight of the distance between KL and capacity. Paper: 1000, with which short runs may spend
    the capacity on noise: the code then says nothing of the image. A public port: 100."""
    capacity: Schedule | None = None
    """Capacity C in nats; by default from 0 to 25 over the first third of the run. Paper: 0 to
    25 over 100,000 steps on dSprites; the large study, of 300,000 steps: to 5, 10, 25, 50, 75 or
    100 over 100,000."""
    per_image: bool = False
    """Whether each image's KL, not the batch mean, is held at the capacity. The large study: no."""

    main_knob = "capacity"

    def settled(self, steps: int, data: FactorImages) -> Self:
        settled = super().settled(steps, data)
        if settled.capacity is not None:
            return settled
        return replace(settled, capacity=Schedule(0.0, PAPERS_RAMP.end, steps // 3))

    def kl_limit(self, step: int) -> float:
        return (PAPERS_RAMP if self.capacity is None else self.capacity).at(step)

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        q = self.posterior(nets, batch.images)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        kl = self.kl_to_prior(q).sum(1)
        capacity = self.kl_limit(step)
        gap = (kl - capacity).abs().mean() if self.per_image else (kl.mean() - capacity).abs()
        return Loss(
            reconstruction + self.gamma.at(step) * gap,
            reconstruction=reconstruction,
            kl=kl.mean(),
            capacity_gap=gap,
        )
