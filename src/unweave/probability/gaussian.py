"""Diagonal Gaussians: what encoders of this field put out."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from unweave.code_prior import LOG_TWO_PI
from unweave.tensors import Latents

# Far beyond these an exponential overflows or vanishes in single precision.
LOWEST_LOGVAR, HIGHEST_LOGVAR = -20.0, 10.0


class Bounded(Function):
    """Log-variances within their bounds; gradients that lead back inside pass from beyond.

    A plain clamp has no gradient there: what has once gone too far would stay for good.
    """

    @staticmethod
    def forward(ctx: Any, logvar: Tensor) -> Tensor:
        ctx.save_for_backward(logvar)
        return logvar.clamp(LOWEST_LOGVAR, HIGHEST_LOGVAR)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        ((logvar,), (gradient,)) = ctx.saved_tensors, gradients
        leads_up = (logvar > HIGHEST_LOGVAR) & (gradient < 0)
        leads_down = (logvar < LOWEST_LOGVAR) & (gradient > 0)
        return gradient.masked_fill(leads_up | leads_down, 0)


@dataclass(frozen=True)
class DiagonalGaussian:
    """Independent Gaussians by mean and log-variance, (batch, latent)."""

    mean: Tensor
    logvar: Tensor

    @staticmethod
    def from_outputs(outputs: Tensor) -> "DiagonalGaussian":
        """Read a network's outputs (batch, 2·latent): means, then log-variances."""
        mean, logvar = outputs.float().chunk(2, dim=1)
        return DiagonalGaussian(mean, Bounded.apply(logvar))

    def halves(self) -> tuple["DiagonalGaussian", "DiagonalGaussian"]:
        """Return the first half of the rows and the second."""
        (one, two), (one_logvar, two_logvar) = self.mean.chunk(2), self.logvar.chunk(2)
        return DiagonalGaussian(one, one_logvar), DiagonalGaussian(two, two_logvar)

    @property
    def std(self) -> Tensor:
        return (0.5 * self.logvar).exp()

    @property
    def variance(self) -> Tensor:
        return self.logvar.exp()

    def sample(self) -> Latents:
        """Draw one point of each, with gradients to mean and variance."""
        return self.mean + self.std * torch.randn_like(self.mean)

    def log_density(self, z: Tensor) -> Tensor:
        """Return log q(z) per dimension."""
        return -0.5 * ((z - self.mean).square() * (-self.logvar).exp() + self.logvar + LOG_TWO_PI)

    def entropy(self) -> Tensor:
        """Return the entropy per dimension, in nats."""
        return 0.5 * (self.logvar + LOG_TWO_PI + 1)

    def kl_to_prior(self) -> Tensor:
        """Return KL(q ‖ N(0, 1)) per dimension, in nats."""
        return 0.5 * (self.mean.square() + self.variance - 1 - self.logvar)

    def kl_to(self, other: "DiagonalGaussian") -> Tensor:
        """Return KL(self ‖ other) per dimension, in nats; of equals exactly 0."""
        wider = self.logvar - other.logvar
        apart = (self.mean - other.mean).square() * (-other.logvar).exp()
        return 0.5 * (torch.expm1(wider) - wider + apart)
