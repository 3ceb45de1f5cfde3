"""Contrastive losses: two views of one image must be nearer than views of others.

T. Chen et al., "A Simple Framework for Contrastive Learning of Visual Representations",
ICML 2020, arXiv:2002.05709: NT-Xent.
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from unweave.tensors import Scalar


def nt_xent(first: Tensor, second: Tensor, temperature: float) -> Scalar:
    """Return the cross-entropy of finding a row's other view among the 2B - 1 others.

    By the cosines of features (row, feature) of two views in the same order, over the
    temperature. log(2B - 1) if all features are alike.
    """
    views = normalize(torch.cat([first, second]), dim=1)
    likeness = views @ views.T / temperature
    count = len(first)
    itself = torch.eye(2 * count, dtype=torch.bool, device=views.device)
    other = torch.arange(2 * count, device=views.device).roll(count)
    return cross_entropy(likeness.masked_fill(itself, -torch.inf), other)
