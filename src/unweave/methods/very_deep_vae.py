"""Very Deep VAE: a ladder of stochastic layers, each given all above it.

R. Child, "Very Deep VAEs Generalize Autoregressive Models and Can Outperform Them
on Images", ICLR 2021, arXiv:2011.10650. With layers z_1, …, z_L from one pixel down
to fine maps:

    E_q[-log p(x|z)] + Σ_l KL(q(z_l | x, z_<l) ‖ p(z_l | z_<l))

Each of the L rates is in the record. The code given to metrics is that of the top
layers, in units of their prior: (mean of q - mean of p) / deviation of p, the layers
above at their means. So the prior of a code is N(0, I). `decode` leaves the layers
below the code at the mean of their prior, samples draw them too. What the top layers
hold is not decided by the method: with free fine layers the layer of one pixel may
end with a rate near 0, which the record shows. It sees the image through an average over
the whole map, which knows no places. `learnt_top` gives each place a weight instead: -ELBO is
lower by it, but the top layer stays as empty, below 0.03 nats on squares.

Differs from the paper: teaching size, with the finest layer at half the image's side
and one block of the encoder at each size instead of several; Bernoulli pixels instead of a
mixture of discretised logistics; no running mean of the weights; rates in nats per image,
not per pixel, and so is the norm of the gradient. At the start the last convolutions of the
decoder's blocks are smaller by √(1/layers), as in the paper's code, but not those of the
encoder's; biases begin as PyTorch draws them, not at 0.
The run's architecture is not used: the ladder is the method.

Use it for the best likelihood and sharp samples. Not for axes, nor for a short code: it has far
more latents than an image has factors, and only the top ones are its code.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._code import Part
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, BottomUp, Networks, TopDown
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.likelihood import negative_log_likelihood
from unweave.settings.optimizers import Adam, Optimizer
from unweave.tensors import Images, Latents, Scalar


class Inferred(NamedTuple):
    """What one walk down the ladder found for images."""

    logits: Tensor
    latents: list[Tensor]
    posteriors: list[DiagonalGaussian]
    priors: list[DiagonalGaussian]


@dataclass(frozen=True, kw_only=True)
class VeryDeepVAE(Autoencoder):
    latent_dim: int = 10
    """Latents of a layer of one pixel. Paper: 16."""
    map_latents: int = 2
    """Latents at each pixel of the larger layers. Paper: 16."""
    layers_at_size: tuple[int, ...] = (1, 2, 2, 1)
    """Stochastic layers at each size, from one pixel to half the image's side; the last is
    repeated for larger images. Paper: 43 layers on CIFAR-10, up to 78."""
    width: int = 32
    """Channels of the state. Paper: 384 on CIFAR-10."""
    learnt_top: bool = False
    """Whether the encoder's last step, to one pixel, has a weight for each pixel: a better bound,
    but no fuller a top layer. Paper: no, an average, which loses where things are."""
    code_layers: int = 3
    """How many layers from the top make up the code; by default those of 1×1 and 4×4. Only
    a single layer has a Gaussian posterior, which some metrics need."""
    temperature: float = 1.0
    """Factor of the prior's deviations when images are drawn. Paper: 0.7 to 1 for pictures."""
    optimizer: Optimizer = Adam(
        2e-4,
        betas=(0.9, 0.9),
        weight_decay=0.01,
        warmup_steps=100,
        clip_norm=2e5,
        skip_norm=4e5,
    )
    """How the networks are updated. Paper: AdamW, 2e-4, betas 0.9, decay 0.01, 100 steps of
    warm-up, norms 200 and 400 for a loss per pixel: about 1,000 times more for 32×32 pixels."""

    main_knob = "layers_at_size"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.layers_at_size or min(self.layers_at_size) < 0 or self.layers_at_size[0] < 1:
            raise ConfigError(
                "layers_at_size needs 1 or more layers at the top and 0 or more below, "
                f"found {self.layers_at_size}"
            )
        for name in ("code_layers", "width", "map_latents"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, found {getattr(self, name)}")
        self.refuse_negative("temperature")

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.encoder = BottomUp(data.image_shape, self.width, learnt_top=self.learnt_top)
        nets.decoder = TopDown(
            data.image_shape,
            self.width,
            layers_at_size=self.layers_at_size,
            latents=self.latent_dim,
            map_latents=self.map_latents,
        )
        if self.code_layers > len(nets.decoder.layers):
            raise ConfigError(
                f"code_layers {self.code_layers} is more than the {len(nets.decoder.layers)} layers"
            )
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {"autoencoder": Player(("encoder", "decoder"), self.optimizer)}

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Turn]:
        terms = self.evidence(nets, batch.images)
        yield Turn("autoencoder", Loss(terms["reconstruction"] + terms["kl"], **terms))

    def infer(self, nets: Networks, images: Images, *, draw: bool) -> Inferred:
        """Walk down the ladder along the posterior, drawing latents or taking its means."""
        activations = nets.encoder(images)
        latents, posteriors, priors = [], [], []

        def choose(index: int, state: Tensor, prior: DiagonalGaussian) -> Tensor:
            q = nets.decoder.layer(index).posterior(state, activations[nets.decoder.levels[index]])
            posteriors.append(q)
            priors.append(prior)
            latents.append(q.sample() if draw else q.mean)
            return latents[-1]

        return Inferred(nets.decoder(len(images), choose), latents, posteriors, priors)

    def evidence(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return the terms of the evidence bound, the rate of every layer among them."""
        logits, _, posteriors, priors = self.infer(nets, images, draw=True)
        rates = [
            q.kl_to(p).flatten(1).sum(1).mean() for q, p in zip(posteriors, priors, strict=True)
        ]
        reconstruction = negative_log_likelihood(self.likelihood, logits, images, self.pixel_scale)
        terms = {"reconstruction": reconstruction, "kl": torch.stack(rates).sum()}
        for index, rate in enumerate(rates):
            _, height, width = nets.decoder.latent_shape(index)
            terms[f"rate_{index}_of_{height}x{width}"] = rate
        return terms

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        terms = self.evidence(nets, images)
        return terms | {"elbo": -(terms["reconstruction"] + terms["kl"])}

    def encode(self, nets: Networks, images: Images) -> Latents:
        """Return the means of the top layers in units of their priors."""
        return self.code_distribution(nets, images).mean

    def posterior(self, nets: Networks, images: Images) -> DiagonalGaussian | None:
        """Return q of the code, if it is one layer: given a layer above it is not Gaussian."""
        return self.code_distribution(nets, images) if self.code_layers == 1 else None

    def code_distribution(self, nets: Networks, images: Images) -> DiagonalGaussian:
        """Return q of the top layers in units of their priors, layers above at their means."""
        _, _, posteriors, priors = self.infer(nets, images, draw=False)
        top = list(zip(posteriors, priors, strict=True))[: self.code_layers]
        means = [((q.mean - p.mean) / p.std).flatten(1) for q, p in top]
        logvars = [(q.logvar - p.logvar).flatten(1) for q, p in top]
        return DiagonalGaussian(torch.cat(means, dim=1), torch.cat(logvars, dim=1))

    def draw_codes(self, nets: Networks, images: Images) -> Latents:
        """Return latents of the top layers, each drawn below those drawn above it."""
        _, latents, _, priors = self.infer(nets, images, draw=True)
        top = list(zip(latents, priors, strict=True))[: self.code_layers]
        return torch.cat([((z - p.mean) / p.std).flatten(1) for z, p in top], dim=1)

    def decode(self, nets: Networks, codes: Latents) -> Images:
        """Return images of codes, with the layers below the code at the means of their priors."""
        return self.render(nets, codes, temperature=0.0)

    def draw_images(self, nets: Networks, codes: Latents) -> Images:
        return self.render(nets, codes, self.temperature)

    def render(self, nets: Networks, codes: Latents, temperature: float) -> Images:
        """Walk down the ladder from codes; below them, latents are drawn from the prior."""
        shapes = self.code_shapes(nets)
        given = codes.split([prod(shape) for shape in shapes], dim=1)

        def choose(index: int, state: Tensor, prior: DiagonalGaussian) -> Tensor:
            if index < self.code_layers:
                noise = given[index].unflatten(1, shapes[index])
            else:
                noise = temperature * torch.randn_like(prior.mean)
            return prior.mean + prior.std * noise

        return torch.sigmoid(nets.decoder(len(codes), choose).float())

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        return tuple(Part(prod(shape)) for shape in self.code_shapes(nets))

    def code_shapes(self, nets: Networks) -> list[tuple[int, int, int]]:
        """Return the shape of each layer of the code, the top one first."""
        return [nets.decoder.latent_shape(i) for i in range(self.code_layers)]

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        size = sum(prod(shape) for shape in self.code_shapes(nets))
        return self.temperature * torch.randn(count, size)
