"""Ordered VAE: each further dimension of the code costs more than the one before.

A template for methods of your own. Here stand the paper, with its arXiv, openreview or
doi number (this method varies the evidence bound of arXiv:1312.6114), and the formula in
the letters of the code:

    E[-log p(x|z)] + Σ_k (1 + slope k) KL(q(z_k|x) ‖ p(z_k)),   k = 0, 1, …
"""

from dataclasses import dataclass

import torch

from unweave.batches import Batch
from unweave.errors import ConfigError
from unweave.methods import GaussianVAE, Loss
from unweave.networks import Networks


@dataclass(frozen=True, kw_only=True)
class OrderedVAE(GaussianVAE):
    slope: float = 0.5
    """How much more each dimension costs than the one before; 0 is the VAE."""

    main_knob = "slope"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slope < 0:
            raise ConfigError(f"slope must be 0 or more, found {self.slope}")

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        q = self.posterior(nets, batch.images)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        per_dimension = q.kl_to_prior().mean(0)
        prices = 1 + self.slope * torch.arange(self.latent_dim, device=per_dimension.device)
        total = reconstruction + (prices * per_dimension).sum()
        return Loss(total, reconstruction=reconstruction, kl=per_dimension.sum())
