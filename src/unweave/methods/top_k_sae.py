"""Top-k SAE: many directions, of which an image has only its few strongest.

L. Gao et al., "Scaling and evaluating sparse autoencoders", 2024, arXiv:2406.04093. For
features of a frozen network, which `feature_images` makes data of; pictures are taken as the
numbers they are. With unit directions d_j, far more than an input has,

    z = the k largest of max(E (x - b) + c, 0), all others 0,    x̂ = b + Σ_j z_j d_j
    E‖x - x̂‖² + λ E‖(x - x̂) - ê‖²

ê is made of the strongest of the latents that have not been among the k for a while: what
others leave is what they learn from, or they would never be used again. There is no other
weight: k says how sparse codes are.

Differs from the paper: the error is summed over features, not divided by that of the mean;
directions have unit length by definition, rather than by a correction after each step.

Use it to see what features of a trained network consist of. Not for images themselves, where a
convolution sees more, and not without the random baseline beside it: sparse directions of random
features look meaningful too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from unweave.batches import Batch, Unsupervised
from unweave.data import DataSummary
from unweave.errors import ConfigError, DataError
from unweave.methods._method import Loss, Method, Player, Turn
from unweave.methods._seen import SeenCodes
from unweave.networks import Architecture, ImageShape, Networks
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tables import to_numpy
from unweave.tensors import Images, Latents, Scalar


class Features(Unsupervised):
    """Features of a frozen network, or images."""


class Directions(nn.Module):
    """Unit directions and where they start from."""

    def __init__(self, latents: int, image_shape: ImageShape):
        super().__init__()
        self.image_shape = image_shape
        size = prod(image_shape)
        self.free = nn.Parameter(normalize(torch.randn(latents, size), dim=1))
        self.start = nn.Parameter(torch.full((size,), 0.5))

    @property
    def unit(self) -> Tensor:
        """Return the directions, (latent, feature)."""
        return normalize(self.free, dim=1)

    def forward(self, z: Latents) -> Tensor:
        """Return what codes add up to, without the start."""
        return z @ self.unit


class Strengths(nn.Module):
    """How much of each direction an input has; begins as the directions themselves."""

    def __init__(self, directions: Directions):
        super().__init__()
        self.weights = nn.Parameter(directions.unit.detach().clone())
        self.shift = nn.Parameter(torch.zeros(len(self.weights)))

    def forward(self, centred: Tensor) -> Latents:
        return (centred @ self.weights.T + self.shift).relu()


class Idleness(nn.Module):
    """For how many steps each latent has not been among the strongest of any input."""

    steps: Tensor

    def __init__(self, latents: int):
        super().__init__()
        self.register_buffer("steps", torch.zeros(latents, dtype=torch.int64))

    @torch.no_grad()
    def count(self, z: Latents) -> None:
        """Count a step in which latents had these values."""
        self.steps.copy_(torch.where((z > 0).any(0), 0, self.steps + 1))


@dataclass(frozen=True, kw_only=True)
class TopKSAE(Method):
    latent_dim: int = 64
    """Number of directions. Paper: 2,048 to 16 million, many times the features there are."""
    active: int = 4
    """k, how many directions an input has. Paper: 32 to 512 of these."""
    idle_weight: Schedule = constant(1 / 32)
    """λ, weight of what idle latents learn from. Paper: 1/32."""
    idle_steps: int = 200
    """After how many steps a latent counts as idle. Paper: 10 million tokens."""
    idle_active: int = 8
    """How many idle latents learn from an input. Paper: 512 of 2,048 and more."""
    optimizer: Optimizer = Adam(1e-3)
    """How encoder and directions are updated. Paper: Adam, 1e-4 and the like by size."""

    main_knob = "active"
    supervision = Features()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.active <= self.latent_dim:
            raise ConfigError(
                f"active must lie between 1 and latent_dim, which is {self.latent_dim}, "
                f"found {self.active}"
            )
        for name in ("idle_steps", "idle_active"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, found {getattr(self, name)}")

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.decoder = Directions(self.latent_dim, data.image_shape)
        nets.encoder = Strengths(nets.decoder)
        nets.idle = Idleness(self.latent_dim)
        nets.seen = SeenCodes(self.latent_dim)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {"autoencoder": Player(("encoder", "decoder"), self.optimizer)}

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Turn]:
        inputs = batch.images.flatten(1)
        strengths = self.strengths(nets, batch.images)
        z = strongest(strengths, self.active)
        error = inputs - nets.decoder.start - nets.decoder(z)
        nets.idle.count(z)
        nets.seen.remember(z)
        idle = nets.idle.steps >= self.idle_steps
        left = self.left_to_idle(nets, strengths, idle, error.detach())
        squared = error.square().sum(1).mean()
        yield Turn(
            "autoencoder",
            Loss(
                squared + self.idle_weight.at(step) * left,
                squared_error=squared,
                left_to_idle=left,
                idle=idle.float().mean(),
            ),
        )

    def left_to_idle(
        self, nets: Networks, strengths: Latents, idle: Tensor, error: Tensor
    ) -> Scalar:
        """Return how far idle latents are from what the others leave; 0 if none is idle."""
        if not idle.any():
            return error.new_zeros(())
        chosen = strongest(strengths * idle, min(self.idle_active, self.latent_dim))
        return (error - nets.decoder(chosen)).square().sum(1).mean()

    def strengths(self, nets: Networks, images: Images) -> Latents:
        """Return how much of each direction images have, before all but a few are left out."""
        found: Latents = nets.encoder(images.flatten(1) - nets.decoder.start).float()
        return found

    def encode(self, nets: Networks, images: Images) -> Latents:
        return strongest(self.strengths(nets, images), self.active)

    def decode(self, nets: Networks, codes: Latents) -> Images:
        flat = (nets.decoder.start + nets.decoder(codes)).clamp(0, 1)
        return flat.unflatten(1, nets.decoder.image_shape)

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        """Draw codes seen last: there is no other prior."""
        drawn: Latents = nets.seen.sample(count)
        return drawn

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return what is left of images, and how many latents some of them have."""
        z = self.encode(nets, images)
        error = images.flatten(1) - nets.decoder.start - nets.decoder(z)
        return {"squared_error": error.square().sum(1).mean()}


def strongest(strengths: Latents, count: int) -> Latents:
    """Return the largest few of each line, and 0 for all others."""
    found = strengths.topk(count, dim=1)
    return torch.zeros_like(strengths).scatter(1, found.indices, found.values)


def feature_images(features: Any) -> np.ndarray:
    """Return a table (row, feature) as images (row, 1, feature) in [0, 1].

    One scale and one shift serve all features, so that directions stay what they were.
    `from_arrays` makes a data set of them, and a file of them (`numpy.save`) is one.
    """
    table = np.asarray(to_numpy(features), dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise DataError(f"features are a table (row, feature), found an array {table.shape}")
    if not np.isfinite(table).all():
        rows = np.flatnonzero(~np.isfinite(table).all(axis=1))
        raise DataError(f"features must be numbers; row {rows[0]} has one that is none")
    least, largest = table.min(), table.max()
    return ((table - least) / ((largest - least) or 1.0)).astype(np.float32)[:, None]
