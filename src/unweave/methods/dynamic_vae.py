"""DynamicVAE: β starts high and is let down as the KL follows a rising set point.

H. Shao et al., "Rethinking Controllable Variational Autoencoders", CVPR 2022, first as
"DynamicVAE", arXiv:2009.06795. ControlVAE with an incremental controller, so that β can
start anywhere; with e = C - mean of the last T values of the KL,

    β ← max(β + K_p (1 / (1 + exp(e)) - 1 / (1 + exp(e before))) - K_i e, β_min)

A high β at first keeps the latents off and lets them switch on one after another, like
AnnealedVAE; at the end β may be below 1, which costs nothing of the reconstruction.

Differs from the paper: C rises evenly, and over two fifths of the run by default; β that
lies at its limit is held there exactly, where the authors' code remembers how far it was
beyond.

Use it as `control_vae`, if factors should also switch on one by one as β falls. Not if runs must
be short: a ramp that the run is too short for leaves the KL behind its set point.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unweave.errors import ConfigError
from unweave.methods._controlled import ControlledVAE
from unweave.tensors import Scalar


class IncrementalController(nn.Module):
    """Turns the KL and its set point into a change of β; remembers β and the last values."""

    beta: Tensor
    error: Tensor
    newest: Tensor
    seen: Tensor

    def __init__(
        self, proportional: float, integral_gain: float, least: float, start: float, window: int
    ):
        super().__init__()
        self.proportional, self.integral_gain, self.least = proportional, integral_gain, least
        self.register_buffer("beta", torch.tensor(start))
        self.register_buffer("error", torch.zeros(()))
        self.register_buffer("newest", torch.zeros(window))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def forward(self, kl: Scalar, set_point: float) -> Scalar:
        window = len(self.newest)
        self.newest[self.seen % window] = kl
        self.seen.add_(1)
        error = set_point - self.newest.sum() / self.seen.clamp_max(window)
        change = self.proportional * (torch.sigmoid(-error) - torch.sigmoid(-self.error))
        self.beta.add_(change - self.integral_gain * error).clamp_min_(self.least)
        self.error.copy_(error)
        return self.beta.clone()


@dataclass(frozen=True, kw_only=True)
class DynamicVAE(ControlledVAE):
    integral: float = 0.005
    """Gain K_i of the error. Paper: 0.005; short runs want more."""
    least_beta: float = 0.1
    """β is never less. The authors' code: 0.1."""
    first_beta: float = 50.0
    """What β starts from. The authors' code: 50."""
    window: int = 5
    """How many of the last values of the KL are averaged, T. Paper: 5."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.refuse_negative("proportional", "integral", "least_beta", "first_beta")
        if self.window < 1:
            raise ConfigError(f"window must be 1 or more, found {self.window}")
        if self.first_beta < self.least_beta:
            raise ConfigError(
                f"first_beta must not be below least_beta, found {self.first_beta} and "
                f"{self.least_beta}"
            )

    def controller(self) -> nn.Module:
        return IncrementalController(
            self.proportional, self.integral, self.least_beta, self.first_beta, self.window
        )
