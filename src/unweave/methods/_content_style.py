"""What methods share that tell the content of a group from the style of each image."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch

from unweave.batches import GroupBatch, Groups
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._code import Part
from unweave.methods._gaussian_vae import GaussianAutoencoder
from unweave.methods._method import Loss, Turn
from unweave.networks import Architecture, GaussianEncoder, Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.priors import sample_code_prior
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents


@dataclass(frozen=True, kw_only=True)
class ContentStyleVAE(GaussianAutoencoder):
    """A code of content, then style; the images of a group have one content."""

    latent_dim: int = 10
    """Number of dimensions of the style; too many, and the content is ignored."""
    content_dim: int = 10
    """Number of dimensions of the content."""
    group: str = ""
    """Factor or column whose value the images of a group share; by default a column called
    group or label, else the first factor without order, else the one with fewest values."""
    group_size: int = 5
    """Images of a group."""
    vary_group_size: bool = False
    """Whether each step draws the size of its groups from 1 to group_size, so that evidence
    from one image is nothing new when the model is used."""
    content_noise: Literal["group", "image"] = "group"
    """Whether the content is drawn from its posterior once for a group, or for each image."""
    beta: Schedule = constant(1.0)
    """Weight of both KL terms."""

    main_knob = "group_size"
    swaps = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("content_dim", "group_size"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, found {getattr(self, name)}")

    @property
    def supervision(self) -> Groups:
        return Groups(self.group, self.group_size, self.vary_group_size)

    @abstractmethod
    def pool(self, q: DiagonalGaussian) -> DiagonalGaussian:
        """Return the content of groups from that of their images (group, image, latent)."""

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        size = self.content_dim + self.latent_dim
        nets = Networks()
        nets.encoder = GaussianEncoder(architecture.encoder(data.image_shape, 2 * size))
        nets.decoder = architecture.decoder(size, data.image_shape)
        return nets

    def turns(self, nets: Networks, batch: GroupBatch, step: int) -> Iterator[Turn]:
        yield Turn("autoencoder", self.loss(nets, batch, step))

    def loss(self, nets: Networks, batch: GroupBatch, step: int) -> Loss:
        """Return the evidence bound of groups, negated and divided by their images."""
        content, style = self.split(self.posterior(nets, batch.images))
        shared = self.pool_groups(content, batch.group_size)
        z = torch.cat([self.draw_content(shared, batch.group_size), style.sample()], dim=1)
        reconstruction = self.reconstruction(nets, z, batch.images)
        kl_style = self.kl_to_prior(style).sum(1).mean()
        kl_content = self.kl_to_prior(shared).sum(1).mean()
        penalty = kl_style + kl_content / batch.group_size
        return Loss(
            reconstruction + self.beta.at(step) * penalty,
            reconstruction=reconstruction,
            kl_style=kl_style,
            kl_content=kl_content,
        )

    def split(self, q: DiagonalGaussian) -> tuple[DiagonalGaussian, DiagonalGaussian]:
        """Return content and style."""
        size = self.content_dim
        return (
            DiagonalGaussian(q.mean[:, :size], q.logvar[:, :size]),
            DiagonalGaussian(q.mean[:, size:], q.logvar[:, size:]),
        )

    def pool_groups(self, content: DiagonalGaussian, size: int) -> DiagonalGaussian:
        """Return the content of groups, each of `size` images in a row."""
        shape = (-1, size, self.content_dim)
        return self.pool(
            DiagonalGaussian(content.mean.reshape(shape), content.logvar.reshape(shape))
        )

    def draw_content(self, shared: DiagonalGaussian, size: int) -> Latents:
        """Draw a content for each image of groups."""
        if self.content_noise == "group":
            return shared.sample().repeat_interleave(size, dim=0)
        return DiagonalGaussian(
            shared.mean.repeat_interleave(size, dim=0), shared.logvar.repeat_interleave(size, dim=0)
        ).sample()

    def accumulate(self, nets: Networks, images: Images) -> DiagonalGaussian:
        content, _ = self.split(self.posterior(nets, images))
        return self.pool_groups(content, len(images))

    def swap(self, nets: Networks, content_images: Images, style_images: Images) -> Images:
        content, _ = self.split(self.posterior(nets, content_images))
        _, style = self.split(self.posterior(nets, style_images))
        return self.decode(nets, torch.cat([content.mean, style.mean], dim=1))

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        return Part(self.content_dim, role="content"), Part(self.latent_dim, role="style")

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        return sample_code_prior(self.code_prior, count, self.content_dim + self.latent_dim)
