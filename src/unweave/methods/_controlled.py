"""What methods share in which a controller sets the weight of the KL."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

from torch import nn

from unweave.batches import Batch
from unweave.data import DataSummary, FactorImages
from unweave.methods._gaussian_vae import GaussianVAE
from unweave.methods._method import Loss
from unweave.networks import Architecture, Networks
from unweave.settings.schedules import Schedule

RISING = 0.4  # share of a run in which the set point rises


@dataclass(frozen=True, kw_only=True)
class ControlledVAE(GaussianVAE):
    """R + β KL, where β follows from how far the KL is from a set point; a paper writes how."""

    capacity: Schedule | None = None
    """Set point C of the KL in nats; by default from 0.5 to 18 over two fifths of the run.
    Papers: 0.5 to 16, 18 or 20 on dSprites."""
    proportional: float = 0.01
    """Gain K_p of the error of this step. Papers: 0.01."""

    main_knob = "capacity"

    def settled(self, steps: int, data: FactorImages) -> Self:
        settled = super().settled(steps, data)
        if settled.capacity is not None:
            return settled
        return replace(settled, capacity=Schedule(0.5, 18.0, max(round(RISING * steps), 1)))

    @abstractmethod
    def controller(self) -> nn.Module:
        """Return what turns the KL and its set point into β; what it remembers are buffers."""

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.controller = self.controller()
        return nets

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        assert self.capacity is not None, "settled before the run"
        q = self.posterior(nets, batch.images)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        kl = self.kl_to_prior(q).sum(1).mean()
        beta = nets.controller(kl.detach(), self.capacity.at(step))
        return Loss(reconstruction + beta * kl, reconstruction=reconstruction, kl=kl, beta=beta)
