"""DC-IGN: batches in which one factor varies teach one dimension each.

T. D. Kulkarni et al., "Deep Convolutional Inverse Graphics Network", NeurIPS 2015,
arXiv:1503.03167. The code has a slot for each named factor and further dimensions for all
else. In a batch one factor varies and all others stay. Its slot is active; of every
other dimension the posterior is clamped to its mean over the batch, and the loss is

    E[-log p(x|z)] + KL(q(z|x) ‖ p(z)) + s ½ Σ_inactive ((μ - mean μ)² + (log σ² - mean log σ²)²)

with clamped posteriors in the first two terms. No gradient of theirs passes a clamp, so an
encoder learns from a batch what varies in it, in the active slot, and by the last term that
the rest does not vary. In other batches the factors without a slot vary together, and the
further dimensions are active.

It is told which factor varies, which is a label of every factor of every image: not to be
compared with methods that see images alone.

Differs from the paper: one factor has one loss, where the authors' code adds the last term
once with the reconstruction and once with the KL. They clamp to the first image's code;
the paper and this file to the mean. s is by default 1/100 as in the paper, 0 in their code.

Use it if images can be had or rendered in which one known factor varies at a time. Not to show
that a method finds factors, as it is told which dimension is which; with such labels of a few
images take `semi_supervised`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from unweave.batches import OneVaries, OneVariesBatch
from unweave.data import DataSummary, FactorImages
from unweave.methods._code import Part
from unweave.methods._gaussian_vae import GaussianAutoencoder
from unweave.methods._method import Loss, Turn
from unweave.networks import Architecture, GaussianEncoder, Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.priors import sample_code_prior
from unweave.settings.optimizers import Optimizer, RMSProp
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class DCIGN(GaussianAutoencoder):
    latent_dim: int = 10
    """Number of dimensions beside the slots, for what has none. Paper: 197, with 3 slots."""
    factors: tuple[str, ...] = ()
    """Factors that have a slot, in order; by default all that take two values or more."""
    rest: float | None = None
    """How many times as often as one of these the other factors vary together; by default 10
    if there are any others, else 0. Paper: 10."""
    invariance: Schedule = constant(0.01)
    """Strength s of holding dimensions still that are not active. Paper: 0.01."""
    beta: Schedule = constant(1.0)
    """Weight of the KL term. Paper: 1."""
    optimizer: Optimizer = RMSProp(5e-4)
    """How the networks are updated. Paper: RMSProp, 5e-4."""

    main_knob = "invariance"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.supervision  # refuses a share below 0

    def settled(self, steps: int, data: FactorImages) -> Self:
        settled = super().settled(steps, data)
        names = self.supervision.names(data)
        others = [f for f in data.factor_list if f.size > 1 and f.name not in names]
        usual = 10.0 if others else 0.0
        return replace(settled, factors=names, rest=usual if self.rest is None else self.rest)

    @property
    def supervision(self) -> OneVaries:
        return OneVaries(self.factors, self.rest or 0.0)

    @property
    def size(self) -> int:
        """Return how many dimensions slots and the rest have."""
        return len(self.factors) + self.latent_dim

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.encoder = GaussianEncoder(architecture.encoder(data.image_shape, 2 * self.size))
        nets.decoder = architecture.decoder(self.size, data.image_shape)
        return nets

    def turns(self, nets: Networks, batch: OneVariesBatch, step: int) -> Iterator[Turn]:
        yield Turn("autoencoder", self.loss(nets, batch, step))

    def loss(self, nets: Networks, batch: OneVariesBatch, step: int) -> Loss:
        """Return what the autoencoder lowers."""
        free = self.posterior(nets, batch.images)
        active = self.active(batch.varying).to(free.mean.device)
        q = clamped(free, active)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        kl = self.kl_to_prior(q).sum(1).mean()
        variation = unwanted_variation(free, active)
        total = reconstruction + self.beta.at(step) * kl + self.invariance.at(step) * variation
        return Loss(total, reconstruction=reconstruction, kl=kl, unwanted_variation=variation)

    def active(self, varying: int) -> Tensor:
        """Return which dimensions may vary in a batch: one slot, or all that are none."""
        places = torch.arange(self.size)
        if varying == len(self.factors):
            return places >= len(self.factors)
        return places == varying

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        slots = [Part(1, factor=name) for name in self.factors]
        return (*slots, Part(self.latent_dim))

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        return sample_code_prior(self.code_prior, count, self.size)


def clamped(q: DiagonalGaussian, active: Tensor) -> DiagonalGaussian:
    """Return posteriors of which dimensions that are not active have the mean of the batch."""
    return DiagonalGaussian(
        torch.where(active, q.mean, q.mean.mean(0).detach()),
        torch.where(active, q.logvar, q.logvar.mean(0).detach()),
    )


def unwanted_variation(q: DiagonalGaussian, active: Tensor) -> Scalar:
    """Return half the squared distance of inactive dimensions from their mean, by image."""
    moved = (q.mean - q.mean.mean(0).detach()).square()
    widened = (q.logvar - q.logvar.mean(0).detach()).square()
    return 0.5 * ((moved + widened) * ~active).sum(1).mean()
