"""Covariances of codes over a batch, and their distance from the identity.

A. Kumar et al., ICLR 2018, arXiv:1711.00848.
"""

from typing import NamedTuple

from torch import Tensor

from unweave.probability.gaussian import DiagonalGaussian
from unweave.tensors import Latents, Scalar


class IdentityGap(NamedTuple):
    """How far a covariance is from the identity."""

    off_diagonal: Scalar
    """Σ_{i≠j} C_ij², each pair counted twice."""
    diagonal: Scalar
    """Σ_i (C_ii − 1)²."""


def covariance(codes: Latents) -> Tensor:
    """Return E[z zᵀ] − E[z] E[z]ᵀ over the batch, (latent, latent)."""
    centred = codes - codes.mean(0)
    return centred.T @ centred / len(codes)


def aggregate_covariance(q: DiagonalGaussian) -> Tensor:
    """Return the covariance of q(z) = E_x q(z|x): of the means, plus the mean variances."""
    return covariance(q.mean) + q.variance.mean(0).diag()


def identity_gap(matrix: Tensor) -> IdentityGap:
    """Measure off-diagonal and diagonal entries against the identity."""
    diagonal = matrix.diagonal()
    off_diagonal = matrix - diagonal.diag()
    return IdentityGap(off_diagonal.square().sum(), (diagonal - 1).square().sum())
