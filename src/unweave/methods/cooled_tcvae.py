"""CooledTCVAE: let the weight of the KL fall, so that factors switch on one by one.

Our own; total correlation as in R. T. Q. Chen et al., NeurIPS 2018, arXiv:1802.04942:

    E[-log p(x|z)] + k Σ_j w_j KL(q(z_j|x) ‖ p(z_j)) + max(β, k) TC(z + h ε)

k falls geometrically, like the temperature of deterministic annealing (K. Rose, Proc.
IEEE 1998). It begins just below the weight at which nothing is worth its KL. There only
the factor that explains most pixels switches a latent on, then the next: each latent
finds its factor while the others are settled, instead of all at once and mixed.
w_j = 1 + s max(j-f+1, 0): after the first f, later latents are dearer, so that a factor is
not shared by two.
The total correlation is that of codes with noise ε ~ N(0, I) of width h: of narrow
posteriors the estimate from a batch is off by nats, more or less by their width alone,
which training would exploit; the noise takes that away. A flat prior keeps the axes of
the code from turning while the pressure is high; benchmarks/recipe.py measures each part.

Use it for axes from images alone in a short training: it is the default recipe. Not for long
trainings of published settings, where `beta_tcvae` is what others can compare with; and its
falling weight has to be scaled to the images (`unweave train auto` does).
"""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from unweave.batches import Batch
from unweave.code_prior import PriorName
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._gaussian_vae import GaussianVAE
from unweave.methods._method import Loss
from unweave.networks import Architecture, Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.total_correlation import smoothed, total_correlation
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Scalar

FALLING = 0.5  # share of a run in which the weights fall


@dataclass(frozen=True, kw_only=True)
class CooledTCVAE(GaussianVAE):
    optimizer: Optimizer = Adam(1e-3)
    """How the networks are updated. Slower networks do not follow the falling weight: at 1e-4, as
    other methods have it, 20,000 steps on dSprites mix the factors in three latents."""
    prior: PriorName = "flat"
    """Distribution p(z) of each latent: gaussian, flat or uniform_like."""
    kl_weight: Schedule | None = None
    """Weight k of the KL; by default from 150 to 1 over the first half of the run, geometric.
    The start should lie just below where all latents stay off: 150 suits dSprites."""
    stagger: Schedule | None = None
    """How much dearer each latent after the first f is than the one before it, s; by default
    from 0.7 to 0.3 over the first half of the run."""
    unstaggered: int = 2
    """How many latents, the first, are as dear as each other, f; 4 with the network `posed`."""
    tc_weight: Schedule = constant(6.0)
    """Least weight β of the total correlation; k while that is more."""
    smoothing: float = 0.4
    """Width h of the noise on codes whose total correlation is taken; 0 for none."""
    bank: int = 0
    """Posteriors of the steps before by which q(z) is estimated as well; 0 for none."""

    main_knob = "kl_weight"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothing < 0 or self.bank < 0:
            raise ConfigError(
                f"smoothing and bank must be 0 or more, found {self.smoothing} and {self.bank}"
            )
        if self.unstaggered < 1:
            raise ConfigError(f"unstaggered must be 1 or more, found {self.unstaggered}")

    def settled(self, steps: int, data: FactorImages) -> Self:
        return super().settled(steps, data).over(steps)

    def over(self, steps: int, hottest: float = 150.0) -> Self:
        """Return the method with the schedules left open fitted to a run of so many steps."""
        fall = max(round(FALLING * steps), 1)
        return replace(
            self,
            kl_weight=self.kl_weight or Schedule(hottest, 1.0, fall, curve="geometric"),
            stagger=self.stagger or Schedule(0.7, 0.3, fall),
        )

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        if self.bank:
            nets.bank = PosteriorBank(self.bank, self.latent_dim)
        return nets

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        assert self.kl_weight is not None, "settled before the run"
        q = self.posterior(nets, batch.images)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        kl_each = self.kl_to_prior(q).mean(0)
        correlation = self._correlation(nets, q, batch.population, step)
        kl_weight = self.kl_weight.at(step)
        tc_weight = max(self.tc_weight.at(step), kl_weight)
        staggered = (self._weights(kl_each, step) * kl_each).sum()
        return Loss(
            reconstruction + kl_weight * staggered + tc_weight * correlation,
            reconstruction=reconstruction,
            kl=kl_each.sum(),
            total_correlation=correlation,
        )

    def _weights(self, like: Tensor, step: int) -> Tensor:
        """Return w_j, (latent,)."""
        assert self.stagger is not None, "settled before the run"
        order = torch.arange(len(like), device=like.device)
        later = (order - (self.unstaggered - 1)).clamp_min(0)
        return 1 + self.stagger.at(step) * later

    def _correlation(
        self, nets: Networks, q: DiagonalGaussian, population: int, step: int
    ) -> Scalar:
        """Return the total correlation of the code with noise on it."""
        known = nets.bank.exchange(q, step) if self.bank else None
        noisy = smoothed(q, self.smoothing)
        others = None if known is None else smoothed(known, self.smoothing)
        return total_correlation(noisy.sample(), noisy, population, others)


class PosteriorBank(nn.Module):
    """The posteriors of the newest images but those of this step; no weights."""

    mean: Tensor
    logvar: Tensor

    def __init__(self, size: int, latent_dim: int):
        super().__init__()
        self.register_buffer("mean", torch.zeros(size, latent_dim))
        self.register_buffer("logvar", torch.zeros(size, latent_dim))

    def exchange(self, q: DiagonalGaussian, step: int) -> DiagonalGaussian | None:
        """Return what is known of the steps before, and keep the posteriors of this one."""
        size, count = len(self.mean), len(q.mean)
        filled = min(size, step * count)
        known = DiagonalGaussian(self.mean[:filled].clone(), self.logvar[:filled].clone())
        places = (step * count + torch.arange(count, device=q.mean.device)) % size
        with torch.no_grad():
            self.mean[places] = q.mean.detach()
            self.logvar[places] = q.logvar.detach()
        return known if filled else None
