"""Diagonal Gaussians: what encoders of this field put out."""

from dataclasses import dataclass

import torch
from torch import Tensor

from unweave.code_prior import LOG_TWO_PI
from unweave.tensors import Latents

# Beyond these an exponential overflows or vanishes in single precision.
LOWEST_LOGVAR, HIGHEST_LOGVAR = -20.0, 10.0


@dataclass(frozen=True)
class DiagonalGaussian:
    """Independent Gaussians by mean and log-variance, (batch, latent)."""

    mean: Tensor
    logvar: Tensor

    @staticmethod
    def from_outputs(outputs: Tensor) -> "DiagonalGaussian":
        """Read a network's outputs (batch, 2·latent): means, then log-variances."""
        mean, logvar = outputs.float().chunk(2, dim=1)
        return DiagonalGaussian(mean, logvar.clamp(LOWEST_LOGVAR, HIGHEST_LOGVAR))

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
