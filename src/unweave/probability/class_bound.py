"""Bounds where the class of an image is not known: summed over all it may be."""

from torch import Tensor

from unweave.tensors import Scalar


def marginal_bound(log_q: Tensor, bounds: Tensor) -> tuple[Scalar, Scalar]:
    """Return U = Σ_y q (L + log q) and the entropy of q, both averaged over the images."""
    q = log_q.exp()
    entropy = -(q * log_q).sum(1).mean()
    return (q * bounds).sum(1).mean() - entropy, entropy
