"""Losses between dimensions of a code and labels.

Dimension k is held to label k, a value y of n; of a continuous label y lies in [0, 1]
and n is 1. Terms are summed over labels and averaged over the images; a label that is
missing (not a number) adds nothing.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from unweave.errors import ConfigError
from unweave.tensors import Latents, Scalar

LabelLoss = Literal["xent", "l2", "sigmoid_l2", "covariance", "embedding", "ordered_embedding"]


class LabelHead(nn.Module):
    """The loss of codes (image, latent) for labels (image, label)."""

    counts: Tensor

    def __init__(self, sizes: Sequence[int]):
        super().__init__()
        counts = torch.tensor([size or 1 for size in sizes], dtype=torch.float32)
        self.register_buffer("counts", counts, persistent=False)

    def forward(self, codes: Latents, labels: Tensor) -> Scalar:
        terms = self.terms(codes[:, : len(self.counts)], labels.nan_to_num())
        return (terms * ~labels.isnan()).sum() / len(codes)

    @abstractmethod
    def terms(self, codes: Latents, y: Tensor) -> Tensor:
        """Return the terms (image, label) of codes (image, label)."""


class CrossEntropy(LabelHead):
    """BCE(code, y/n)."""

    def terms(self, codes: Latents, y: Tensor) -> Tensor:
        return binary_cross_entropy_with_logits(codes, y / self.counts, reduction="none")


class SigmoidL2(LabelHead):
    """(σ(code) − y/n)²."""

    def terms(self, codes: Latents, y: Tensor) -> Tensor:
        return (codes.sigmoid() - y / self.counts).square()


class ScaledL2(LabelHead):
    """(b code − y)², with b learnt."""

    def __init__(self, sizes: Sequence[int]):
        super().__init__(sizes)
        self.scale = nn.Parameter(torch.ones(()))

    def terms(self, codes: Latents, y: Tensor) -> Tensor:
        return (self.scale * codes - y).square()


class Covariance(LabelHead):
    """Σ_{j≠k} Cov(code_j, y_k)² over all dimensions, each over the images whose y_k is known."""

    def forward(self, codes: Latents, labels: Tensor) -> Scalar:
        known = ~labels.isnan()
        count = known.sum(0).clamp_min(1)  # (label,)
        y = labels.nan_to_num()
        centered = (y - y.sum(0) / count) * known
        # Σ (c − mean c)(y − mean y) = Σ c (y − mean y): codes need no centring.
        covariance = codes.T @ centered / count  # (latent, label)
        diagonal = torch.eye(*covariance.shape, dtype=torch.bool, device=codes.device)
        return covariance.masked_fill(diagonal, 0).square().sum()


class Embedding(LabelHead):
    """−log p(y), p ∝ exp(−((code − e_y) s)²), with a place e of every value and s learnt."""

    exists: Tensor

    def __init__(self, sizes: Sequence[int]):
        super().__init__(sizes)
        if 0 in sizes:
            raise ConfigError(
                "an embedding needs labels of few values, and one is continuous; "
                "give it bins (corruption.bins) or take another label_loss"
            )
        exists = torch.arange(max(sizes)) < torch.tensor(sizes)[:, None]
        self.register_buffer("exists", exists, persistent=False)
        self.sharpness = nn.Parameter(torch.ones(()))
        self.make_places(sizes)

    def make_places(self, sizes: Sequence[int]) -> None:
        self.free_places = nn.Parameter(torch.randn(len(sizes), max(sizes)))

    def places(self) -> Tensor:
        """Return where the values are, (label, value)."""
        return self.free_places

    def terms(self, codes: Latents, y: Tensor) -> Tensor:
        logits = -((codes[:, :, None] - self.places()) * self.sharpness).square()
        log_p = logits.masked_fill(~self.exists, -torch.inf).log_softmax(2)
        return -log_p.gather(2, y.long()[:, :, None])[:, :, 0]


class OrderedEmbedding(Embedding):
    """An embedding whose places lie at equal distances."""

    def make_places(self, sizes: Sequence[int]) -> None:
        self.start = nn.Parameter(-torch.ones(len(sizes)))  # from -1 to 1 at first
        self.slope = nn.Parameter(2 / (self.counts - 1).clamp_min(1))

    def places(self) -> Tensor:
        counting = torch.arange(self.exists.shape[1], device=self.slope.device)
        return self.start[:, None] + self.slope[:, None] * counting


HEADS: dict[str, type[LabelHead]] = {
    "xent": CrossEntropy,
    "l2": ScaledL2,
    "sigmoid_l2": SigmoidL2,
    "covariance": Covariance,
    "embedding": Embedding,
    "ordered_embedding": OrderedEmbedding,
}
LEARNING: tuple[LabelLoss, ...] = ("l2", "embedding", "ordered_embedding")
"""Losses with something to learn of their own."""
