"""F-statistic loss: an embedding in which a few dimensions tell any two values of a factor apart.

K. Ridgeway & M. C. Mozer, "Learning Deep Disentangled Embeddings with the F-Statistic
Loss", NeurIPS 2018, arXiv:1802.05312. A step has several images of each of several values
of one factor; the next step has the next factor. For values a and b and a dimension, with
class means m and n images of both together,

    between = n_a (m_a - m̄)² + n_b (m_b - m̄)²,   m̄ = (m_a + m_b) / 2,   within = Σ (z - m)²
    p = I_x(½, (n - 2) / 2),   x = between / (between + within)

is the probability that values which do not differ would give a smaller F. The loss

    -E log p    over all pairs of values and, of each pair, the d dimensions with the greatest p

asks for d dimensions that tell the two apart and leaves all others alone: they are free for
other factors. Labels are needed of all images, and nothing is decoded.

Differs from the paper: the mean over pairs and dimensions is lowered, where the paper has
the sum, so that the scale of the loss does not depend on how many values a batch has.

Use it if all images have labels of several factors and an embedding shall keep them on separate
dimensions, also for values not seen. Not if images must be decoded, and not for factors without
classes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from unweave.batches import FactorGroupBatch, GroupsInTurn, shared_column
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._method import Loss, Method, Player, Turn
from unweave.networks import Architecture, Networks
from unweave.settings.optimizers import Adam, Optimizer
from unweave.tensors import Images, Latents, Scalar

LEAST = 1e-12  # of x: the root in p has no gradient at 0


@dataclass(frozen=True, kw_only=True)
class FStatistic(Method):
    latent_dim: int = 20
    """Number of dimensions of the embedding. Paper: 20 to 22."""
    separating: int = 2
    """How many dimensions d have to tell two values apart. Paper: 2."""
    group_size: int = 5
    """Images of each value in a batch. Paper: 5, of 12 values."""
    factors: tuple[str, ...] = ()
    """Factors or columns that take turns; by default every factor with a list of values, and
    where there is none what images are grouped by."""
    optimizer: Optimizer = Adam(2e-4)
    """How the encoder is updated. Paper: Adam, 2e-4."""

    main_knob = "separating"
    decodes = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.separating <= self.latent_dim:
            raise ConfigError(
                f"separating must lie between 1 and latent_dim, which is {self.latent_dim}, "
                f"found {self.separating}"
            )
        if self.group_size < 2:
            raise ConfigError(f"group_size must be 2 or more, found {self.group_size}")

    def settled(self, steps: int, data: FactorImages) -> Self:
        names = GroupsInTurn(self.factors).names(data) or (shared_column(data),)
        return replace(self, factors=names)

    @property
    def supervision(self) -> GroupsInTurn:
        return GroupsInTurn(self.factors, self.group_size)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.encoder = architecture.encoder(data.image_shape, self.latent_dim)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {"encoder": Player(("encoder",), self.optimizer)}

    def turns(self, nets: Networks, batch: FactorGroupBatch, step: int) -> Iterator[Turn]:
        if len(batch.images) < 2 * batch.group_size:
            raise ConfigError(
                f"f_statistic tells values of a factor apart: batch_size must be "
                f"{2 * self.group_size} or more, for two values of {self.group_size} images each"
            )
        codes = self.encode(nets, batch.images).unflatten(0, (-1, batch.group_size))
        yield Turn("encoder", self.loss(codes))

    def loss(self, codes: Tensor) -> Loss:
        """Return what the encoder lowers, of codes (value, image, latent)."""
        log_p = log_f_probability(*variances_of_pairs(codes), codes.shape[1])
        best = log_p.topk(self.separating, dim=1).values
        return Loss(-best.mean(), probability=best.exp().mean())

    def encode(self, nets: Networks, images: Images) -> Latents:
        embedding: Latents = nets.encoder(images).float()
        return embedding

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return how wide the embedding is: its loss is the same at every scale."""
        return {"spread": self.encode(nets, images).std(0).mean()}


def variances_of_pairs(codes: Tensor) -> tuple[Tensor, Tensor]:
    """Return between and within (pair, latent) of all pairs of values of (value, image, latent)."""
    values, size, _ = codes.shape
    means = codes.mean(1)
    within = (codes - means[:, None]).square().sum(1)
    one, two = torch.triu_indices(values, values, 1, device=codes.device)
    # With as many images of both values, n_a (m_a - m̄)² + n_b (m_b - m̄)² is this.
    between = size / 2 * (means[one] - means[two]).square()
    return between, within[one] + within[two]


def log_f_probability(between: Tensor, within: Tensor, size: int) -> Tensor:
    """Return log I_x(½, ν/2) for ν = 2 size - 2, two values of `size` images each.

    ν is even, so that the incomplete beta function is a short sum of positive terms,
    √x Σ_k C(2k, k) (1 - x)^k / 4^k over k < ν/2.
    """
    total = between + within
    share = total.clamp_min(torch.finfo(total.dtype).tiny)
    x = (between / share).clamp_min(LEAST)
    rest = within / share
    term = torch.ones_like(rest)
    series = term
    for k in range(1, size - 1):
        term = term * rest * (2 * k - 1) / (2 * k)
        series = series + term
    # Rounding may bring p above 1 by a hair.
    return (0.5 * x.log() + series.log()).clamp_max(0)
