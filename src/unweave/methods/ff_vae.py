"""FFVAE: a dimension for each sensitive attribute, and all others independent of them.

E. Creager et al., "Flexibly Fair Representation Learning by Disentanglement", ICML 2019,
arXiv:1906.02589, equation (3), negated. The code is a number b_j for each attribute a_j and
z for all else; D tells codes from those in which z as a whole and each b_j were exchanged
between images:

    autoencoder     E[-log p(x|z, b)] + KL(q(z, b|x) ‖ p(z, b))
                    + α Σ_j E[-log p(a_j|b_j)] + γ E[log D(z, b) - log(1 - D(z, b))]
    discriminator   -½ E[log D(z, b)] - ½ E[log(1 - D(exchanged z', b'))]

where p(a_j = 1|b_j) = σ(b_j). The last term of the autoencoder estimates
KL(q(z, b) ‖ q(z) Π_j q(b_j)). Once it is 0, a code without b_j tells nothing of a_j but what
other attributes tell of it. So one encoder serves every wish: leave out the numbers of the
attributes that must not be used, the first ones of a code in the order of `sensitive`.

Attributes are told in training alone; an image without a value teaches everything but that.
Of more than two values, or of a continuous one, an attribute is spread over [0, 1] in its
order; without an order give a column of two values for each.

Differs from the paper: z' and b' come from a second batch, and D has one logit, both as in
`factor_vae`.

Use it if sensitive attributes are labelled and may have to be left out, singly or together, after
training. Not as a guarantee of fairness: what else says the same stays in the code, so measure
with `unweave apply fairness`; on our small images the rest still told an attribute too well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from unweave.batches import AllLabels, FewClasses, LabelledBatch
from unweave.data import DataSummary, FactorImages
from unweave.methods._code import Part
from unweave.methods._gaussian_vae import GaussianAutoencoder
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, GaussianEncoder, Networks, code_discriminator
from unweave.probability.adversarial import discriminator_loss
from unweave.probability.priors import sample_code_prior
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Latents, Scalar


class Attributes(nn.Module):
    """The loss of telling each attribute from its own number."""

    largest: Tensor

    def __init__(self, sizes: Sequence[int]):
        super().__init__()
        # Of n values the last is n - 1; a continuous attribute lies in [0, 1] already.
        largest = torch.tensor([max(size - 1, 1) for size in sizes], dtype=torch.float32)
        self.register_buffer("largest", largest, persistent=False)

    def forward(self, b: Latents, labels: Tensor) -> Scalar:
        """Return −log p(a|b), summed over attributes; what is missing adds nothing."""
        terms = binary_cross_entropy_with_logits(
            b, labels.nan_to_num() / self.largest, reduction="none"
        )
        return (terms * ~labels.isnan()).sum() / len(b)


@dataclass(frozen=True, kw_only=True)
class FFVAE(GaussianAutoencoder):
    latent_dim: int = 10
    """Number of dimensions beside those of the attributes."""
    sensitive: tuple[str, ...] = ()
    """Factors or columns that are sensitive attributes, each of which gets a dimension; by
    default the first whose name begins with label or, without any, the factor with fewest
    values."""
    alpha: Schedule = constant(10.0)
    """Weight of telling each attribute from its dimension."""
    gamma: Schedule = constant(10.0)
    """Weight of the total correlation of the attributes' dimensions and all others together."""
    discriminator_width: int = 1000
    """Units of each hidden layer of the discriminator."""
    discriminator_depth: int = 2
    """Hidden layers of the discriminator."""
    discriminator_optimizer: Optimizer = Adam(1e-4, betas=(0.5, 0.9))
    """How the discriminator is updated."""

    main_knob = "gamma"

    def settled(self, steps: int, data: FactorImages) -> Self:
        settled = super().settled(steps, data)
        if self.sensitive:
            return settled
        return replace(settled, sensitive=FewClasses().names_among(data.summary.column_sizes))

    @property
    def supervision(self) -> AllLabels:
        return AllLabels(self.sensitive)

    @property
    def size(self) -> int:
        """Return how many dimensions attributes and all else have."""
        return len(self.sensitive) + self.latent_dim

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.encoder = GaussianEncoder(architecture.encoder(data.image_shape, 2 * self.size))
        nets.decoder = architecture.decoder(self.size, data.image_shape)
        nets.attributes = Attributes([data.column_sizes[name] for name in self.sensitive])
        nets.discriminator = code_discriminator(
            self.size, self.discriminator_width, self.discriminator_depth
        )
        return nets

    @property
    def players(self) -> dict[str, Player]:
        judge = Player(("discriminator",), self.discriminator_optimizer)
        return super().players | {"discriminator": judge}

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Turn]:
        q = self.posterior(nets, batch.images)
        codes = q.sample()
        reconstruction = self.reconstruction(nets, codes, batch.images)
        kl = self.kl_to_prior(q).sum(1).mean()
        attributes = nets.attributes(codes[:, : len(self.sensitive)], batch.labels)
        correlation = nets.discriminator(codes).mean()
        total = reconstruction + kl + self.alpha.at(step) * attributes
        yield Turn(
            "autoencoder",
            Loss(
                total + self.gamma.at(step) * correlation,
                reconstruction=reconstruction,
                kl=kl,
                attributes=attributes,
                total_correlation=correlation,
            ),
        )

        with torch.no_grad():
            others = self.posterior(nets, batch.unlabelled.images).sample()
            exchanged = exchange_blocks(others, self.blocks)
        joint_logits = nets.discriminator(codes.detach())
        exchanged_logits = nets.discriminator(exchanged)
        told_apart = (joint_logits > 0).float().mean() + (exchanged_logits < 0).float().mean()
        yield Turn(
            "discriminator",
            Loss(discriminator_loss(joint_logits, exchanged_logits) / 2, told_apart=told_apart / 2),
        )

    @property
    def blocks(self) -> list[int]:
        """Return how many dimensions belong together: one of each attribute, then the rest."""
        return [1] * len(self.sensitive) + [self.latent_dim]

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        attributes = [Part(1, factor=name) for name in self.sensitive]
        return (*attributes, Part(self.latent_dim))

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        return sample_code_prior(self.code_prior, count, self.size)


def exchange_blocks(codes: Latents, sizes: Sequence[int]) -> Latents:
    """Permute blocks of neighbouring dimensions across the batch, each on its own."""
    blocks = codes.split(list(sizes), dim=1)
    orders = (torch.randperm(len(codes), device=codes.device) for _ in blocks)
    return torch.cat([b[order] for b, order in zip(blocks, orders, strict=True)], dim=1)
