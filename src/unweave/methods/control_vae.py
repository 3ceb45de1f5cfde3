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

Use it if images must stay as sharp as a set KL allows, or the KL must not vanish. Not if no set
point is known and none can be tried; and axes follow from it no more than from the β that it
finds.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unweave.methods._controlled import ControlledVAE
from unweave.tensors import Scalar


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
class ControlVAE(ControlledVAE):
    integral: float = 0.001
    """Gain K_i of the sum of all errors. Paper: 0.001; short runs want more."""
    least_beta: float = 1.0
    """β is never less. Paper: 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.refuse_negative("proportional", "integral", "least_beta")

    def controller(self) -> nn.Module:
        return Controller(self.proportional, self.integral, self.least_beta)
