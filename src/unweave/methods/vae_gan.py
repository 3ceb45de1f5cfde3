"""VAE-GAN: a class that must look right with any other image's style, as a judge of images sees it.

M. Mathieu et al., "Disentangling factors of variation in deep representations using
adversarial training", NeurIPS 2016, arXiv:1611.03383. Of an image the encoder gives a
content s, which has no noise, and a style z ~ q(z|x). With x₁ and x₂ of one class, x₃ of
any, and a judge D that is told the class c an image should have,

    autoencoder   v E[-log p(x_i|s_i, z_i)] + E[-log p(x₁|s₂, z₁) - log p(x₂|s₁, z₂)] / 2
                  + β KL(q(z|x) ‖ N(0, I)) - w E[log D(G(s₂, z₃), c₂) + log D(G(s₃, z₂), c₃)] / 2
    judge         -E[log D(x, c)] - E[log(1 - D(G, c))], with the x₂ and x₃ of the same classes

Images of a class must do with each other's content, so the content holds no more than the
class. And as G(s₂, z₃) has to look like class c₂, a style that brought its own class along
would be found out. The swap with a style from the prior, G(s₂, z), is judged as well once
`prior_weight` is above 0.

Real images are to be judged 0.95 real, not 1, and that is also what others are made to look.

The class is told in training alone: contents and styles are found in any image later.

Differs from the paper: the class joins what the judge sees as a vector added to the features
of its trunk, not as maps at three sizes; the trunk is the encoder of `--architecture`, with
spectral normalisation. A deviation is read in one way, where the authors' code draws z with
the root of the deviation that it penalises.

Use it if classes are known and images of one's class in another's style must look real. Not for
few images or short trainings: a judge of images needs both; `gvae` and `lord` are steadier.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, leaky_relu

from unweave.batches import TripletBatch, Triplets, shared_column
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._code import Part
from unweave.methods._method import Loss, Player, Turn
from unweave.methods._seen import SeenCodes
from unweave.networks import LEAK, Architecture, Networks, spectrally_normalized
from unweave.probability.gaussian import DiagonalGaussian
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar

REAL = 0.95  # what the judge should say of real images, and fakes want it to say of them


class ClassJudge(nn.Module):
    """Logits of images being real and of the class they are said to have."""

    def __init__(self, trunk: nn.Module, classes: int, width: int):
        super().__init__()
        self.trunk = trunk
        self.classes = nn.Embedding(classes, width)
        self.head = nn.Sequential(
            nn.Linear(width, width), nn.LeakyReLU(LEAK, inplace=True), nn.Linear(width, 1)
        )

    def forward(self, images: Images, classes: Tensor) -> Tensor:
        features = self.trunk(images) + self.classes(classes)
        logits: Tensor = self.head(leaky_relu(features, LEAK))[:, 0].float()
        return logits


class Encoded(NamedTuple):
    """Contents and styles of images."""

    content: Latents
    style: DiagonalGaussian


@dataclass(frozen=True, kw_only=True)
class VAEGAN(Autoencoder):
    latent_dim: int = 10
    """Number of dimensions of the style. Paper: 512, with a content of 64."""
    content_dim: int = 10
    """Number of dimensions of the content, which has no noise. Paper: 64."""
    class_column: str = ""
    """Factor or column that is the class; by default a column called group or label, else the
    first factor without order, else the one with fewest values."""
    reconstruction_weight: Schedule = constant(0.5)
    """Weight v of images decoded from their own content. Paper: 0.5."""
    beta: Schedule = constant(1.0)
    """Weight of the KL of the style. Paper: 0.6 for errors summed over pixels."""
    adversarial_weight: Schedule = constant(10.0)
    """Weight w of looking to the judge like the class whose content was taken, against pixels
    that are summed. Paper: 0.01 for errors averaged over pixels, which is 10 for the sum over
    32×32; 1 on Extended Yale B."""
    prior_weight: Schedule = constant(0.0)
    """Weight of the same for a style drawn from the prior. Authors' code: 0."""
    optimizer: Optimizer = Adam(2e-4, betas=(0.5, 0.999))
    """How encoder and decoder are updated. Paper: Adam, 2e-4, first beta 0.5."""
    discriminator_width: int = 128
    """Features of the judge's trunk and units of its hidden layer."""
    discriminator_optimizer: Optimizer = Adam(2e-4, betas=(0.5, 0.999))
    """How the judge is updated. Authors' code: SGD, unless Adam is asked for."""

    main_knob = "adversarial_weight"
    swaps = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("content_dim", "discriminator_width"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, found {getattr(self, name)}")

    def settled(self, steps: int, data: FactorImages) -> Self:
        settled = super().settled(steps, data)
        return replace(settled, class_column=shared_column(data, self.class_column))

    @property
    def supervision(self) -> Triplets:
        return Triplets(self.class_column, any_third=True)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        if self.class_column not in data.column_sizes:
            raise ConfigError(
                f"the class {self.class_column!r} is none of the columns {[*data.column_sizes]}"
            )
        outputs, width = self.content_dim + 2 * self.latent_dim, self.discriminator_width
        nets = Networks()
        nets.encoder = architecture.encoder(data.image_shape, outputs)
        nets.decoder = architecture.decoder(self.content_dim + self.latent_dim, data.image_shape)
        nets.judge = ClassJudge(
            spectrally_normalized(architecture.encoder(data.image_shape, width)),
            data.column_sizes[self.class_column],
            width,
        )
        nets.seen = SeenCodes(self.content_dim)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {
            "autoencoder": Player(("encoder", "decoder"), self.optimizer),
            "judge": Player(("judge",), self.discriminator_optimizer),
        }

    def turns(self, nets: Networks, batch: TripletBatch, step: int) -> Iterator[Turn]:
        triplets = len(batch.images)
        images = torch.cat([batch.images, batch.same, batch.others])
        content, style = self.split(nets, images)
        nets.seen.remember(content.detach())
        z = style.sample()
        # Images of one class exchange contents; the third keeps its own.
        of_first, of_same, of_other = content.split(triplets)
        z_first, z_same, z_other = z.split(triplets)
        reconstruction = self.reconstruction(nets, torch.cat([content, z], dim=1), images)
        swapped = self.reconstruction(
            nets,
            torch.cat([torch.cat([of_same, of_first]), torch.cat([z_first, z_same])], dim=1),
            images[: 2 * triplets],
        )
        kl = style.kl_to_prior().sum(1).mean()
        classes = torch.cat([batch.values, batch.other_values])
        fakes = self.render(nets, torch.cat([of_same, of_other]), torch.cat([z_other, z_same]))
        fooling = towards(REAL, nets.judge(fakes, classes))
        total = (
            self.reconstruction_weight.at(step) * reconstruction
            + swapped
            + self.beta.at(step) * kl
            + self.adversarial_weight.at(step) * fooling
        )
        loss = Loss(total, reconstruction=reconstruction, swapped=swapped, kl=kl, fooling=fooling)
        said = classes  # of the fakes
        if prior_weight := self.prior_weight.at(step):
            drawn = self.render(nets, of_same, torch.randn_like(z_same))
            fooling_by_prior = towards(REAL, nets.judge(drawn, batch.values))
            loss = loss.plus(prior_weight * fooling_by_prior, fooling_by_prior=fooling_by_prior)
            fakes, said = torch.cat([fakes, drawn]), torch.cat([said, batch.values])
        fakes = fakes.detach()
        yield Turn("autoencoder", loss)

        real_logits = nets.judge(images[triplets:], classes)
        fake_logits = nets.judge(fakes, said)
        yield Turn(
            "judge",
            Loss(
                towards(REAL, real_logits) + towards(0.0, fake_logits),
                real_logit=real_logits.mean(),
                fake_logit=fake_logits.mean(),
            ),
        )

    def split(self, nets: Networks, images: Images) -> Encoded:
        """Return the contents and the posteriors of the styles."""
        outputs = nets.encoder(images).float()
        style = DiagonalGaussian.from_outputs(outputs[:, self.content_dim :])
        return Encoded(outputs[:, : self.content_dim], style)

    def render(self, nets: Networks, content: Latents, style: Latents) -> Images:
        """Return the images of contents and styles, in [0, 1]."""
        return self.decode(nets, torch.cat([content, style], dim=1)).float()

    def encode(self, nets: Networks, images: Images) -> Latents:
        content, style = self.split(nets, images)
        return torch.cat([content, style.mean], dim=1)

    def draw_codes(self, nets: Networks, images: Images) -> Latents:
        content, style = self.split(nets, images)
        return torch.cat([content, style.sample()], dim=1)

    def swap(self, nets: Networks, content_images: Images, style_images: Images) -> Images:
        content = self.split(nets, content_images).content
        return self.render(nets, content, self.split(nets, style_images).style.mean)

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        return Part(self.content_dim, role="content"), Part(self.latent_dim, role="style")

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        """Draw contents seen last, each with a style from the prior."""
        content = nets.seen.sample(count)
        return torch.cat([content, torch.randn(count, self.latent_dim).to(content)], dim=1)


def towards(target: float, logits: Tensor) -> Scalar:
    """Return the cross-entropy of logits with one answer for all of them."""
    return binary_cross_entropy_with_logits(logits, torch.full_like(logits, target))
