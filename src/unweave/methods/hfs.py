"""HFS: every combination of values that latents take should be possible, if not likely.

K. Roth et al., "Disentanglement of Correlated Factors via Hausdorff Factorized Support",
ICLR 2023, arXiv:2210.07347. Factors that are correlated in the data cannot have independent
codes, but the support of their codes can be a box: with S the means of a batch in two
dimensions and S× all combinations of their first and second coordinates,

    E[-log p(x|z)] + β KL(q(z|x) ‖ p(z)) + γ Σ_pairs max_{s× in S×} min_{s in S} ‖s× - s‖²

over some pairs of dimensions, drawn anew at each step. Gradients pass through both sets:
stopped at one, codes drift apart without end. The code need not be independent, and β may
be 0.

Use it if factors are correlated in the data and every combination of them is possible. Not if
some combinations cannot be: it pulls codes towards those. On our small images the support came
nearer to a box and MIG did not rise: take a few labels if they can be had.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from unweave.batches import Batch
from unweave.errors import ConfigError
from unweave.methods._gaussian_vae import GaussianVAE
from unweave.methods._method import Loss
from unweave.networks import Networks
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Latents, Scalar

TOGETHER = 4_000_000  # distances that are held in memory at once


@dataclass(frozen=True, kw_only=True)
class HFS(GaussianVAE):
    gamma: Schedule = constant(1.0)
    """Weight of the distance of supports. Paper: 0.1 to 10,000; of a code that the KL keeps
    from shrinking, little does much."""
    beta: Schedule = constant(1.0)
    """Weight of the KL term. Paper: 0 to 16."""
    pairs: int = 25
    """Pairs of dimensions of a step, out of all there are. Paper: 25."""

    main_knob = "gamma"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pairs < 1:
            raise ConfigError(f"pairs must be 1 or more, found {self.pairs}")
        if self.latent_dim < 2:
            raise ConfigError("hfs compares two dimensions: latent_dim must be 2 or more, found 1")

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        q = self.posterior(nets, batch.images)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        kl = self.kl_to_prior(q).sum(1).mean()
        missing = distance_of_supports(q.mean, self.draw_pairs(q.mean.device))
        total = reconstruction + self.beta.at(step) * kl + self.gamma.at(step) * missing
        return Loss(total, reconstruction=reconstruction, kl=kl, missing_support=missing)

    def draw_pairs(self, device: torch.device | str = "cpu") -> Tensor:
        """Draw pairs (pair, 2) of different dimensions, none twice."""
        every = torch.triu_indices(self.latent_dim, self.latent_dim, 1, device=device).T
        return every[torch.randperm(len(every), device=device)[: self.pairs]]


def distance_of_supports(codes: Latents, pairs: Tensor) -> Scalar:
    """Return the squared Hausdorff distance of codes and their recombinations, over pairs."""
    first, second = codes[:, pairs[:, 0]].T, codes[:, pairs[:, 1]].T  # (pair, image)
    across = (first[:, :, None] - first[:, None]).square()  # (pair, image, image)
    down = (second[:, :, None] - second[:, None]).square()
    with torch.no_grad():
        worst, nearest = farthest_recombinations(across, down)
    at = torch.arange(len(pairs), device=codes.device)
    gaps: Tensor = across[at, worst[:, 0], nearest] + down[at, worst[:, 1], nearest]
    return gaps.sum()


def farthest_recombinations(across: Tensor, down: Tensor) -> tuple[Tensor, Tensor]:
    """Return the recombinations that are furthest from all codes, and where that is.

    Of each pair of dimensions the two images (pair, 2) that lend a coordinate each, and the
    image (pair,) whose code is nearest. All distances at once, (pair, image, image, image),
    would take gigabytes for large batches.
    """
    pairs, count, _ = across.shape
    together = max(TOGETHER // (pairs * count * count), 1)
    gap, lenders, nearest = [], [], []
    for start in range(0, count, together):  # images that lend their first coordinate
        distances = across[:, start : start + together, None] + down[:, None]
        least, who = distances.min(3)  # (pair, first lender, second lender)
        most, place = least.flatten(1).max(1)
        gap.append(most)
        lenders.append(torch.stack([start + place // count, place % count], dim=1))
        nearest.append(who.flatten(1).gather(1, place[:, None])[:, 0])
    widest = torch.stack(gap).argmax(0)  # which of the parts has it, by pair
    at = torch.arange(pairs, device=across.device)
    return torch.stack(lenders)[widest, at], torch.stack(nearest)[widest, at]
