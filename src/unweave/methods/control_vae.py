"""ControlVAE: a controller sets the weight of the KL so that the KL follows a set point.

H. Shao et al., "ControlVAE: Controllable Variational Autoencoder", ICML 2020,
arXiv:2004.05988. With e = C - KL, of the batch,

    E[-log p(x|z)] + β KL(q(z|x) ‖ p(z)),    β = max(P + I, β_min)
    P = 1 + K_p / (1 + exp(e)),              I ← I - K_i e

So β grows while the KL is above the set point C and falls while it is below. Nobody
has to choose β: C is chosen, in nats, and the record shows the β that holds it. The
state of the controller is kept in checkpoints.

Differs from the paper: I is held only while β lies at its limit and I would push it
further beyond; in the authors' code it is held whenever β lay there in the step before,
also when it should come back. C rises evenly, not in steps of 0.15 every 5,000 steps, and
by default over two fifths of the run, which is the paper's share, however long it is.
"""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from unweave.batches import Batch
from unweave.data import DataSummary, FactorImages
from unweave.methods._gaussian_vae import GaussianVAE
from unweave.methods._method import Loss
from unweave.networks import Architecture, Networks
from unweave.settings.schedules import Schedule
from unweave.tensors import Scalar

RISING = 0.4  # share of a run in which the set point rises


class Controller(nn.Module):
    """Turns the KL and its set point into β; its memory is the integral of the errors."""

    integral: Tensor

    def __init__(self, proportional: float, integral_gain: float, least: float):
        super().__init__()
        self.proportional, self.integral_gain, self.least = proportional, integral_gain, least
        self.register_buffer("integral", torch.zeros(()))

    @torch.no_grad()
    def forward(self, kl: Scalar, set_point: float) -> Scalar:
        error = set_point - kl
        now = 1 + self.proportional * torch.sigmoid(-error)
        summed = self.integral - self.integral_gain * error
        beyond = (now + summed < self.least) & (error > 0)
        self.integral.copy_(torch.where(beyond, self.integral, summed))
        return (now + self.integral).clamp_min(self.least)


@dataclass(frozen=True, kw_only=True)
class ControlVAE(GaussianVAE):
    capacity: Schedule | None = None
    """Set point C of the KL in nats; by default from 0.5 to 18 over two fifths of the run.
    Paper: 0.5 to 16 or 18 on dSprites."""
    proportional: float = 0.01
    """Gain K_p of the error of this step. Paper: 0.01."""
    integral: float = 0.001
    """Gain K_i of the sum of all errors. Paper: 0.001; short runs want more."""
    least_beta: float = 1.0
    """β is never less. Paper: 1."""

    main_knob = "capacity"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.refuse_negative("proportional", "integral", "least_beta")

    def settled(self, steps: int, data: FactorImages) -> Self:
        settled = super().settled(steps, data)
        if settled.capacity is not None:
            return settled
        return replace(settled, capacity=Schedule(0.5, 18.0, max(round(RISING * steps), 1)))

    def controller(self) -> nn.Module:
        """Return what turns the KL and its set point into β."""
        return Controller(self.proportional, self.integral, self.least_beta)

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
