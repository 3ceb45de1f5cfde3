"""Bounds of images from several draws each: weighted by what is told, or by importance.

A line is an image, one of its draws and one combination of the classes that are summed over. What
is found of lines stands in tables (image, draw, combination).
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor


class Bounds(NamedTuple):
    """Terms of images, (image,) each."""

    total: Tensor
    """What is lowered: minus the bound, with β on the divergence."""
    reconstruction: Tensor
    divergence: Tensor
    log_told: Tensor
    """How well labels were foreseen: E log w, or log E w where draws are weighted by importance."""
    draws: Tensor
    """How many draws count, 1 / Σ ŵ² of those that differ by more than a summed class."""


class Lines(NamedTuple):
    """What is found of lines, each (image, draw, combination)."""

    log_share: Tensor
    """log q of the classes that are summed over."""
    log_told: Tensor
    """log q of what is told, log w."""
    reconstruction: Tensor
    """-log p(x|u)."""
    divergence: Tensor
    """log q(u|x) / p(u), of some variables in closed form."""
    log_odds: Tensor
    """log q / p(u) with q of what was drawn alone: neither told nor summed over."""


class Noise:
    """What draws are made of, other for each image and each time."""

    def normal(self, shape: tuple[int, int], device: torch.device) -> Tensor:
        return torch.randn(shape, device=device)

    def exponential(self, shape: tuple[int, int], device: torch.device) -> Tensor:
        return torch.empty(shape, device=device).exponential_()


class SameNoise(Noise):
    """The same noise for each of so many images, and every time."""

    def __init__(self, images: int):
        self.images = images
        self.generator = torch.Generator().manual_seed(0)

    def normal(self, shape: tuple[int, int], device: torch.device) -> Tensor:
        return self._for_each(torch.randn(self._once(shape), generator=self.generator), device)

    def exponential(self, shape: tuple[int, int], device: torch.device) -> Tensor:
        once = torch.empty(self._once(shape)).exponential_(generator=self.generator)
        return self._for_each(once, device)

    def _once(self, shape: tuple[int, int]) -> tuple[int, int]:
        return shape[0] // self.images, shape[1]

    def _for_each(self, once: Tensor, device: torch.device) -> Tensor:
        return once.repeat(self.images, 1).to(device)


def evidence_bounds(lines: Lines, beta: float = 1.0, *, detach_weights: bool = False) -> Bounds:
    """Return the paper's bounds: means over draws, weighted by how well they foresee the labels."""
    count, draws, _ = lines.log_told.shape
    log_share = lines.log_share.reshape(count, -1) - math.log(draws)
    log_told = lines.log_told.reshape(count, -1)
    weights = (log_share + log_told).softmax(1)
    if detach_weights:
        weights = weights.detach()
    foreseen = (log_share.exp() * log_told).sum(1)
    reconstruction = (weights * lines.reconstruction.reshape(count, -1)).sum(1)
    divergence = (weights * lines.divergence.reshape(count, -1)).sum(1)
    of_draws = weights.view(count, draws, -1).sum(2)
    return Bounds(
        total=reconstruction + beta * (divergence - foreseen),
        reconstruction=reconstruction,
        divergence=divergence,
        log_told=foreseen,
        draws=1 / of_draws.square().sum(1),
    )


def importance_bounds(lines: Lines, beta: float = 1.0) -> Bounds:
    """Return -log E_s r_s, where r_s is p(x, y, z_s) / q(z_s|x) of a draw.

    Classes that are summed over are held to q, as in the bound of a single draw: were they summed
    over exactly, nothing but labels would teach q of them.
    """
    draws = lines.log_told.shape[1]
    log_q = (lines.log_share + lines.log_told).log_softmax(2)
    reconstruction = (log_q.exp() * lines.reconstruction).sum(2)
    divergence = (log_q.exp() * (lines.log_odds + log_q)).sum(2)
    log_ratios = -(reconstruction + beta * divergence)
    weights = log_ratios.softmax(1).detach()
    foreseen = (lines.log_share + lines.log_told).flatten(1).logsumexp(1)
    return Bounds(
        total=math.log(draws) - log_ratios.logsumexp(1),
        reconstruction=(weights * reconstruction).sum(1),
        divergence=(weights * divergence).sum(1),
        log_told=foreseen - math.log(draws),
        draws=1 / weights.square().sum(1),
    )


def log_likelihoods(lines: Lines) -> Tensor:
    """Return log E_s Σ p(x, y, u_s) / q(drawn), (image,): in the mean at most log p(x, y).

    More draws bring it nearer, and without end there (Y. Burda et al., ICLR 2016,
    arXiv:1509.00519). Classes must have been drawn as such, not relaxed.
    """
    log_ratios = -(lines.reconstruction + lines.log_odds).flatten(1)
    return torch.logsumexp(log_ratios, 1) - math.log(lines.log_told.shape[1])
