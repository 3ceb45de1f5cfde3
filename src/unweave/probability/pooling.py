"""Pooling: one Gaussian for several that speak of the same thing.

All take a Gaussian of shape (group, member, latent) and return (group, latent).

    product      N(z; ·) ∝ Π_i q_i(z)          precisions add up: evidence accumulates
    geometric    N(z; ·) ∝ Π_i q_i(z)^(1/K)    the same mean, precisions averaged
    arithmetic   mean of the means, mean of the variances

Of equal members, product divides the variance by their number K; the others return them.
"""

import math
from typing import Literal

import torch

from unweave.probability.gaussian import DiagonalGaussian

Pooling = Literal["product", "geometric", "arithmetic"]


def pool(q: DiagonalGaussian, how: Pooling) -> DiagonalGaussian:
    """Pool over the members of each group."""
    members = q.mean.shape[1]
    if how == "arithmetic":
        logvar = torch.logsumexp(q.logvar, dim=1) - math.log(members)
        return DiagonalGaussian(q.mean.mean(1), logvar)
    share = torch.softmax(-q.logvar, dim=1)  # of each member in the sum of precisions
    logvar = -torch.logsumexp(-q.logvar, dim=1)
    if how == "geometric":
        logvar = logvar + math.log(members)
    return DiagonalGaussian((share * q.mean).sum(1), logvar)
