"""A Gaussian seen by a Laplace distribution."""

import math

import torch
from torch import Tensor


def mean_absolute(mean: Tensor, std: Tensor) -> Tensor:
    """Return E|z| of N(mean, std²): σ √(2/π) exp(−μ²/2σ²) + μ erf(μ / σ√2)."""
    ratio = mean / std
    peak = std * math.sqrt(2 / math.pi) * torch.exp(-0.5 * ratio.square())
    return peak + mean * torch.erf(ratio / math.sqrt(2))


def cross_entropy_to_laplace(mean: Tensor, std: Tensor, rate: float) -> Tensor:
    """Return −E log Laplace(z; 0, 1/rate) of N(mean, std²), in nats."""
    return rate * mean_absolute(mean, std) - math.log(rate / 2)
