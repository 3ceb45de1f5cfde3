"""Distances between samples: what pulls the codes of all images towards a prior.

MMD: A. Gretton et al., "A Kernel Two-Sample Test", JMLR 2012. Stein: Q. Liu &
D. Wang, "Stein Variational Gradient Descent", NeurIPS 2016, arXiv:1608.04471.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from unweave.code_prior import GAUSSIAN, CodePrior
from unweave.tensors import Latents, Scalar

IMQ_SCALES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)

Kernel = Callable[[Tensor], Tensor]
"""From squared distances to similarities."""


def mmd_rbf(
    x: Latents, y: Latents, width: float | None = None, *, unbiased: bool = False
) -> Scalar:
    """Return MMD² with k = exp(−‖a − b‖² / width).

    The width is the number of dimensions unless given: unit Gaussians are 2·D
    apart in expected squared distance.
    """
    chosen = float(x.shape[1]) if width is None else width
    return mmd(x, y, lambda squared: (-squared / chosen).exp(), unbiased=unbiased)


def mmd_imq(x: Latents, y: Latents, *, unbiased: bool = False) -> Scalar:
    """Return MMD² with inverse multiquadrics of seven widths, k = Σ_s c_s / (c_s + ‖a − b‖²)."""
    widths = [2 * x.shape[1] * scale for scale in IMQ_SCALES]

    def kernel(squared: Tensor) -> Tensor:
        return torch.stack([c / (c + squared) for c in widths]).sum(0)

    return mmd(x, y, kernel, unbiased=unbiased)


def mmd(x: Latents, y: Latents, kernel: Kernel, *, unbiased: bool) -> Scalar:
    """Return E k(x, x') + E k(y, y') − 2 E k(x, y).

    Biased, it takes every pair, also of a sample with itself, and is never
    negative: the one to train on. Unbiased, it leaves those out: to report.
    """
    within_x, within_y = kernel(squared_distances(x, x)), kernel(squared_distances(y, y))
    between = kernel(squared_distances(x, y)).mean()
    if not unbiased:
        return within_x.mean() + within_y.mean() - 2 * between
    return _mean_of_others(within_x) + _mean_of_others(within_y) - 2 * between


def stein_direction(z: Latents, prior: CodePrior = GAUSSIAN) -> Latents:
    """Return where each sample must go so that KL(q ‖ p) falls fastest.

    φ(z_i) = mean_j [k(z_j, z_i) ∇log p(z_j) + ∇_{z_j} k(z_j, z_i)]: drawn towards
    the mode, pushed away from the others. The width is the median heuristic.
    """
    squared = squared_distances(z, z)  # (j, i)
    width = (squared.median() / math.log(len(z) + 1)).clamp_min(1e-8)
    k = (-squared / width).exp()
    attraction = k.T @ prior.score(z)
    # Σ_j −(2/h) (z_j − z_i) k(z_j, z_i)
    repulsion = (2 / width) * (k.sum(0)[:, None] * z - k.T @ z)
    return (attraction + repulsion) / len(z)


def stein_surrogate(z: Latents, prior: CodePrior = GAUSSIAN) -> Scalar:
    """Return what has −φ(z)/B as its gradient; its value says nothing.

    To be lowered: the minus makes a step of descent follow φ.
    """
    return -(z * stein_direction(z.detach(), prior)).sum(1).mean()


def squared_distances(x: Latents, y: Latents) -> Tensor:
    """Return ‖x_i − y_j‖², (i, j), exactly 0 for equal points."""
    return (x[:, None] - y[None]).square().sum(2)


def _mean_of_others(pairs: Tensor) -> Scalar:
    count = len(pairs)
    return (pairs.sum() - pairs.diagonal().sum()) / (count * (count - 1))
