"""Losses of the game between a discriminator and what it judges, by logits.

I. Goodfellow et al., "Generative Adversarial Nets", NeurIPS 2014, arXiv:1406.2661.
With logit a, −log σ(a) = softplus(−a): no logarithm of a number that reached 0.
"""

from torch import Tensor
from torch.nn.functional import softplus

from unweave.tensors import Scalar


def discriminator_loss(real: Tensor, fake: Tensor) -> Scalar:
    """Return −E log σ(real) − E log(1 − σ(fake)); 2 log 2 when it cannot tell them apart."""
    return softplus(-real).mean() + softplus(fake).mean()


def fooling_loss(fake: Tensor) -> Scalar:
    """Return −E log σ(fake), which does not saturate where the discriminator is sure."""
    return softplus(-fake).mean()
