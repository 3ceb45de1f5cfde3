"""M1+M2: the classes of images are found among the codes of a VAE that has seen all of them.

D. P. Kingma et al., "Semi-supervised Learning with Deep Generative Models", NeurIPS
2014, arXiv:1406.5298, section 2.3. In a first stage a VAE learns codes z₁ of images, without
labels. In a second it rests, and `m2` is trained on draws of z₁ in the place of images:

    first    E[-log p(x|z₁)] + β KL(q(z₁|x) ‖ N(0, I))
    second   L(z₁, y) = E[-log p(z₁|y, z₂)] - log p(y) + KL(q(z₂|z₁, y) ‖ N(0, I))
             (1 - s) E U(z₁) + s E L(z₁', y') - α E log q(y'|z₁')

with z₁ ~ q(z₁|x), drawn anew at each step, and U the sum over classes as in `m2`. What the
first stage has brought into few numbers, a few labels name more easily than pixels. p(z₁|y, z₂) is
Gaussian, with a variance of its own for each number. Numbers whose means hardly vary from image
to image (a deviation of 0.1 or less) are left out, the others are standardised.

Codes of images are made of means, not of draws: q(y|z₁) of the mean of z₁, and the mean of
z₂ for the likeliest class. An image is decoded through both models.

Any method's codes can be named by a few labels, which is M1, and be the first stage of an M1+M2:
`unweave evaluate RUN --probe labels=100` does both.

Differs from the paper: the first stage is a part of the same run; the numbers are standardised.

Use it if very few images have a class and classes lie apart in what a VAE finds by itself. Not if
a class is a matter of few pixels, which the first stage leaves out or strews: there images
without labels gave the second stage nothing, and `m2` looks at the pixels.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from unweave.batches import LabelledBatch
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._classes import ClassAutoencoder, ClassPrior
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, GaussianEncoder, Networks
from unweave.probability.class_bound import marginal_bound
from unweave.probability.gaussian import DiagonalGaussian
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar

LEAST_DEVIATION = 0.1
"""Of the means of a number of z₁: below it, it says next to nothing, and is left out."""
FORGETTING = 0.01
"""Share of a batch in the running mean and variance of z₁."""
SECOND_STAGE = ("classifier", "style_encoder", "code_decoder")
"""The networks that learn in the second stage."""


class Scale(nn.Module):
    """How the means of z₁ lie; no player owns it, and checkpoints hold it."""

    mean: Tensor
    variance: Tensor
    count: Tensor

    def __init__(self, size: int):
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("variance", torch.ones(size))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    @torch.no_grad()
    def follow(self, codes: Latents) -> None:
        """Take in a batch: the first ones count alike, later ones by FORGETTING."""
        self.count += 1
        share = max(1 / int(self.count), FORGETTING)
        apart = codes.mean(0) - self.mean
        self.mean += share * apart
        inside = codes.var(0, correction=0) + (1 - share) * apart.square()
        self.variance += share * (inside - self.variance)

    @property
    def kept(self) -> Tensor:
        """Return 1 for each number that says something, else 0; if none does, for all."""
        varies = self.variance > LEAST_DEVIATION**2
        return (varies | ~varies.any()).float()

    def forward(self, codes: Latents) -> Latents:
        """Return codes standardised, with 0 for what is left out."""
        return self.kept * (codes - self.mean) / self.variance.clamp_min(LEAST_DEVIATION**2).sqrt()

    def back(self, scaled: Latents) -> Latents:
        """Return the codes of standardised ones; what was left out is at its mean."""
        return self.mean + self.kept * scaled * self.variance.sqrt()


def layers(inputs: int, hidden: int, outputs: int) -> nn.Module:
    """Return a network with a hidden layer of the paper's kind."""
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Softplus(), nn.Linear(hidden, outputs))


@dataclass(frozen=True, kw_only=True)
class M1M2(ClassAutoencoder):
    latent_dim: int = 10
    """Number of dimensions of the style z₂. Paper: 50."""
    code_dim: int = 20
    """Number of dimensions of z₁, the code of the first stage. Paper: 50."""
    first_stage_steps: int | None = None
    """Steps of the first stage; by default half of the run's."""
    beta: Schedule = constant(1.0)
    """Weight of the KL in the first stage. Paper: 1."""
    classification_weight: Schedule = constant(1.0)
    """Weight α of the classifier's loss, against bounds in nats of a z₁. Paper: 0.1."""
    hidden: int = 256
    """Units of the hidden layers of the second stage. Paper: 300 with 100 labels, else 500."""
    second_optimizer: Optimizer = Adam(1e-3)
    """How the networks of the second stage are updated. Paper: 3e-4."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("code_dim", "hidden"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, found {getattr(self, name)}")
        if self.first_stage_steps is not None and self.first_stage_steps < 1:
            raise ConfigError(f"first_stage_steps must be above 0, found {self.first_stage_steps}")

    def settled(self, steps: int, data: FactorImages) -> Self:
        settled = super().settled(steps, data)
        return replace(settled, first_stage_steps=self.first_stage_steps or max(steps // 2, 1))

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        size = self.code_dim
        nets = Networks()
        nets.encoder = GaussianEncoder(architecture.encoder(data.image_shape, 2 * size))
        nets.decoder = architecture.decoder(size, data.image_shape)
        self.add_second_stage(nets, size, self.class_count(data))
        return nets

    def add_second_stage(self, nets: Networks, size: int, classes: int) -> None:
        """Add what M2 of codes of this size consists of."""
        nets.classes = ClassPrior(classes)
        nets.scale = Scale(size)
        nets.classifier = layers(size, self.hidden, classes)
        nets.style_encoder = layers(size + classes, self.hidden, 2 * self.latent_dim)
        nets.code_decoder = layers(classes + self.latent_dim, self.hidden, 2 * size)

    @property
    def players(self) -> dict[str, Player]:
        """Return one player for each stage."""
        return {
            "m1": Player(("encoder", "decoder"), self.optimizer),
            "m2": Player(SECOND_STAGE, self.second_optimizer),
        }

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Turn]:
        if self.first_stage_steps is None or step < self.first_stage_steps:
            yield Turn("m1", self.image_loss(nets, batch.unlabelled.images, step))
        else:
            yield Turn("m2", self.code_loss(nets, batch, step))

    def image_loss(self, nets: Networks, images: Images, step: int) -> Loss:
        """Return what the VAE lowers in the first stage."""
        q: DiagonalGaussian = nets.encoder(images)
        nets.scale.follow(q.mean)
        reconstruction = self.reconstruction(nets, q.sample(), images)
        kl = q.kl_to_prior().sum(1).mean()
        return Loss(reconstruction + self.beta.at(step) * kl, reconstruction=reconstruction, kl=kl)

    def code_loss(self, nets: Networks, batch: LabelledBatch, step: int) -> Loss:
        """Return what M2 lowers in the second stage, of draws of z₁."""
        others = self.codes(nets, batch.unlabelled.images, drawn=True)
        unlabelled, entropy = self.summed(nets, others)
        codes, told = self.codes(nets, batch.images, drawn=True), batch.labels[:, 0].long()
        labelled = self.bounds(nets, codes, one_hot(told, len(nets.classes)).float()).mean()
        classification = cross_entropy(nets.classifier(codes), told)
        share = batch.labelled / batch.population
        return Loss(
            (1 - share) * unlabelled
            + share * labelled
            + self.classification_weight.at(step) * classification,
            unlabelled_bound=unlabelled,
            labelled_bound=labelled,
            classification=classification,
            class_entropy=entropy,
        )

    def codes(self, nets: Networks, images: Images, *, drawn: bool = False) -> Latents:
        """Return z₁ as the second stage sees it: means, or draws; the encoder does not learn."""
        q: DiagonalGaussian = nets.encoder(images)
        codes: Latents = nets.scale(q.sample() if drawn else q.mean)
        return codes.detach() if drawn else codes

    def bounds(self, nets: Networks, codes: Latents, y: Latents) -> Tensor:
        """Return L(z₁, y) of each line, (line,)."""
        q = DiagonalGaussian.from_outputs(nets.style_encoder(torch.cat([codes, y], dim=1)))
        p = self.made_of(nets, torch.cat([y, q.sample()], dim=1))
        reconstruction = -(nets.scale.kept * p.log_density(codes)).sum(1)
        return reconstruction - y @ nets.classes.probabilities.log() + q.kl_to_prior().sum(1)

    def every_class(self, nets: Networks, codes: Latents) -> tuple[Tensor, Tensor]:
        """Return log q(y|z₁) and the bounds, each (image, class)."""
        classes = len(nets.classes)
        log_q = nets.classifier(codes).log_softmax(1)
        y = torch.eye(classes, device=codes.device).repeat(len(codes), 1)
        bounds = self.bounds(nets, codes.repeat_interleave(classes, dim=0), y)
        return log_q, bounds.view(-1, classes)

    def summed(self, nets: Networks, codes: Latents) -> tuple[Scalar, Scalar]:
        """Return U = Σ_y q (L + log q) and the entropy of q, both averaged over the images."""
        log_q, bounds = self.every_class(nets, codes)
        return marginal_bound(log_q, bounds)

    def made_of(self, nets: Networks, codes: Latents) -> DiagonalGaussian:
        """Return p(z₁|y, z₂), standardised."""
        return DiagonalGaussian.from_outputs(nets.code_decoder(codes))

    def class_and_style(self, nets: Networks, codes: Latents) -> tuple[Tensor, DiagonalGaussian]:
        """Return q(y|z₁), and q(z₂|z₁, y) of the likeliest class."""
        y = nets.classifier(codes).softmax(1)
        likeliest = one_hot(y.argmax(1), len(nets.classes)).float()
        given = torch.cat([codes, likeliest], dim=1)
        return y, DiagonalGaussian.from_outputs(nets.style_encoder(given))

    def encode(self, nets: Networks, images: Images) -> Latents:
        y, style = self.class_and_style(nets, self.codes(nets, images))
        return torch.cat([y, style.mean], dim=1)

    def draw_codes(self, nets: Networks, images: Images) -> Latents:
        y, style = self.class_and_style(nets, self.codes(nets, images, drawn=True))
        return torch.cat([y, style.sample()], dim=1)

    def decode(self, nets: Networks, codes: Latents) -> Images:
        return super().decode(nets, nets.scale.back(self.made_of(nets, codes).mean))

    def draw_images(self, nets: Networks, codes: Latents) -> Images:
        """Draw z₁ too, which class and style leave open."""
        return super().decode(nets, nets.scale.back(self.made_of(nets, codes).sample()))

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        y = nets.classes.sample(count)
        return torch.cat([y, torch.randn(count, self.latent_dim).to(y.device)], dim=1)

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return the bound of the first stage, that of the second, and what z₁ are left."""
        q: DiagonalGaussian = nets.encoder(images)
        reconstruction = self.reconstruction(nets, q.sample(), images)
        kl = q.kl_to_prior().sum(1).mean()
        unlabelled, entropy = self.summed(nets, self.codes(nets, images, drawn=True))
        return {
            "reconstruction": reconstruction,
            "kl": kl,
            "elbo": -(reconstruction + kl),
            "bound_of_codes": unlabelled,
            "class_entropy": entropy,
            "codes_kept": nets.scale.kept.sum(),
        }
