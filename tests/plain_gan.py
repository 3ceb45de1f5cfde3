"""A generator without an encoder, as a stranger would write one; only tests know it.

I. Goodfellow et al., "Generative Adversarial Nets", NeurIPS 2014, arXiv:1406.2661. One
category and a few numbers are the noise, so that both are drawn, chosen and slid.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.methods import Loss, Method, Part, Player, Turn
from unweave.networks import Architecture, Networks
from unweave.probability.adversarial import discriminator_loss, fooling_loss
from unweave.probability.priors import sample_one_hot
from unweave.settings.optimizers import Adam
from unweave.tensors import Images, Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class PlainGAN(Method):
    latent_dim: int = 4
    """Number of dimensions of the noise beside the category."""
    categories: int = 3
    """Values of the category."""
    optimizer: Adam = Adam(1e-3, betas=(0.5, 0.999))
    """How both networks are updated."""

    main_knob = "latent_dim"
    codes_from = "nowhere"

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.generator = architecture.decoder(self.categories + self.latent_dim, data.image_shape)
        nets.judge = architecture.encoder(data.image_shape, 1)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {
            "judge": Player(("judge",), self.optimizer),
            "generator": Player(("generator",), self.optimizer),
        }

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Turn]:
        fakes = self.decode(nets, self.sample_prior(nets, len(batch.images)))
        judging = discriminator_loss(nets.judge(batch.images), nets.judge(fakes.detach()))
        yield Turn("judge", Loss(judging))
        yield Turn("generator", Loss(fooling_loss(nets.judge(fakes))))

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        return Part(self.categories, "category"), Part(self.latent_dim)

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        return torch.cat(
            [sample_one_hot(count, self.categories), torch.randn(count, self.latent_dim)], dim=1
        )

    def decode(self, nets: Networks, codes: Latents) -> Images:
        return torch.sigmoid(nets.generator(codes))

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        fakes = self.decode(nets, self.sample_prior(nets, len(images)))
        return {"real_logit": nets.judge(images).mean(), "fake_logit": nets.judge(fakes).mean()}
