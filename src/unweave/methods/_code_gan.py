"""What InfoGAN and its successors share: a generator of codes, a judge, a head that reads codes.

The trunk sees images with noise on every pixel where `input_noise` says so: C. K. Sønderby et
al., ICLR 2017, arXiv:1610.04490. A generator can write its code into shades that nobody sees,
where its head finds it; then the head reads nothing in real images. Noise drowns such writing,
and the shades by which a judge tells drawn images, of black and white only, from generated ones.
That a judge sees the spread of a batch is of T. Karras et al., ICLR 2018, arXiv:1710.10196.
R1 is of L. Mescheder et al., ICML 2018, arXiv:1801.04406.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from unweave import catalog
from unweave.batches import Batch
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._code import Part
from unweave.methods._generators import activation_first
from unweave.methods._method import Loss, Method, Player, Turn
from unweave.methods._play import Move
from unweave.networks import LEAK, Architecture, Networks, batch_normalized, spectrally_normalized
from unweave.probability.adversarial import discriminator_loss, fooling_loss
from unweave.probability.priors import sample_one_hot
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar

VARIANCE_OF_UNIFORM = 1 / 3
CONVOLUTIONS = nn.Conv2d | nn.ConvTranspose2d
TINY = 1e-8  # below which features count as not varying, where a root has no slope
SEEN = 1000  # images whose brightness a generator begins with
NO_SPEED: Mapping[str, float] = MappingProxyType({})


class FixedNoise(nn.Module):
    """The noise with which codes are decoded, drawn once, so that only codes change images."""

    noise: Tensor

    def __init__(self, size: int):
        super().__init__()
        self.register_buffer("noise", uniform(1, size))


@dataclass(frozen=True, kw_only=True)
class CodeGAN(Method):
    """A generator and a discriminator with a second head, which reads codes back."""

    latent_dim: int = 2
    """Number of continuous codes. Paper: 2 on MNIST, 5 on faces, 1 on chairs, 4 on SVHN."""
    categories: tuple[int, ...] = (10,)
    """Number of values of each categorical code. Paper: one code of 10 on MNIST; 3 of 20 on
    chairs, 4 of 10 on SVHN, 10 of 10 on CelebA."""
    noise_dim: int = 62
    """Number of uniform noise inputs that no head reads back. Paper: 62 on MNIST."""
    information_weight: Schedule = constant(1.0)
    """Weight λ of the information. Paper: 1; InfoGAN-CR on dSprites: 0.05."""
    continuous_weight: float = 1.0
    """How much the information of continuous codes counts beside that of categories. Paper: 1 on
    MNIST; less where continuous codes would otherwise outweigh the judge."""
    generator_updates: int = 1
    """Updates of the generator for each of the discriminator. Paper: 1; InfoGAN-CR: 2."""
    gradient_penalty: float = 0.0
    """Weight of R1, half the squared slope of the judge at real images; 0 for none."""
    normalized_heads: bool = False
    """Whether judge and code head are spectrally normalised like the trunk. InfoGAN-CR: yes."""
    input_noise: Schedule = constant(0.0)
    """Deviation of noise on every pixel that the discriminator sees in training; 0 for none."""
    sees_spread: bool = False
    """Whether the judge sees how much the features of a batch vary, so that images that are all
    alike give a generator away."""
    activation_first: bool = False
    """Whether the generator normalises after its activations, not before. InfoGAN-CR: yes."""
    average_images: float = 0.0
    """Images until a weight counts half in the running averages of the networks, which are what
    makes and reads images after training; 0 for no averages."""
    optimizer: Optimizer = Adam(1e-3, betas=(0.5, 0.999))
    """How the generator is updated. Paper: Adam, 1e-3, first beta 0.5."""
    discriminator_width: int = 128
    """Features of the trunk and hidden units of the code head. Paper: 1024 and 128."""
    discriminator_optimizer: Optimizer = Adam(2e-3, betas=(0.5, 0.999))
    """How trunk, judge and code head are updated. Paper: Adam, 2e-4, first beta 0.5, with batch
    normalisation; a trunk that is spectrally normalised hardly moves at that rate, and
    InfoGAN-CR takes 2e-3."""

    main_knob = "information_weight"

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(size < 2 for size in self.categories):
            raise ConfigError(f"a categorical code has 2 values or more, found {self.categories}")
        if self.noise_dim < 1 or self.discriminator_width < 1:
            raise ConfigError("noise_dim and discriminator_width must be 1 or more")
        if self.generator_updates < 1:
            raise ConfigError(
                f"generator_updates must be 1 or more, found {self.generator_updates}"
            )
        self.refuse_negative("continuous_weight", "gradient_penalty", "average_images")

    @property
    def size(self) -> int:
        """Return how many numbers the codes take, categorical ones as one-hot."""
        return sum(self.categories) + self.latent_dim

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        width = self.discriminator_width
        nets = Networks()
        nets.generator = batch_normalized(
            architecture.decoder(self.noise_dim + self.size, data.image_shape)
        )
        if self.activation_first:
            nets.generator = activation_first(nets.generator)
        nets.trunk = nn.Sequential(
            spectrally_normalized(architecture.encoder(data.image_shape, width)),
            nn.LeakyReLU(LEAK, inplace=True),
        )
        nets.judge = nn.Linear(width + self.sees_spread, 1)
        nets.code_head = nn.Sequential(
            nn.Linear(width, width), nn.LeakyReLU(LEAK, inplace=True), nn.Linear(width, self.size)
        )
        if self.normalized_heads:
            nets.judge = spectrally_normalized(nets.judge)
            nets.code_head = spectrally_normalized(nets.code_head)
        nets.fixed = FixedNoise(self.noise_dim)
        return nets

    def fit(self, nets: Networks, data: FactorImages, seed: int) -> None:
        """Let the generator begin with images as bright as the data's.

        From grey ones a judge of images on a black ground wins at once, and the generator
        spends its first steps in the dark.
        """
        rows = np.random.default_rng((seed, 0xB1A5)).permutation(len(data))[:SEEN]
        bright = torch.from_numpy(data.images(np.sort(rows)).mean((0, 2, 3))).clamp(0.01, 0.99)
        last = [m for m in nets.generator.modules() if isinstance(m, nn.Linear | CONVOLUTIONS)][-1]
        if last.bias is not None and len(last.bias) % len(bright) == 0:
            with torch.no_grad():
                each = len(last.bias) // len(bright)  # a linear layer has a bias for every pixel
                last.bias.copy_(bright.logit().repeat_interleave(each))

    @property
    def players(self) -> dict[str, Player]:
        return {
            "discriminator": self.player(
                ("trunk", "judge", "code_head"), self.discriminator_optimizer
            ),
            "generator": self.player(("generator",), self.optimizer),
        }

    def player(
        self, owned: tuple[str, ...], optimizer: Optimizer, speed: Mapping[str, float] = NO_SPEED
    ) -> Player:
        """Return a player whose networks are shown by their running averages, if there are any."""
        average = dict.fromkeys(owned, self.average_images) if self.average_images else {}
        return Player(owned, optimizer, speed, average)

    def turns(self, nets: Networks, batch: Any, step: int) -> Iterator[Move]:
        noise, codes = self.drawn(nets, batch)
        fakes = self.render(nets, noise, codes)
        yield Turn("discriminator", self.judging(nets, batch.images, fakes.detach(), codes, step))
        for update in range(self.generator_updates):
            if update:
                fakes = self.render(nets, noise, codes)
            yield Turn("generator", self.fooling(nets, fakes, codes, step))

    def drawn(self, nets: Networks, batch: Batch) -> tuple[Tensor, Latents]:
        """Draw noise and codes for as many images as a batch has."""
        count, device = len(batch.images), batch.images.device
        if count < 2:
            name = catalog.name_of(self)
            raise ConfigError(f"{name} normalises batches: batch_size must be 2 or more, found 1")
        codes = self.prior_codes(nets, count, device)
        return uniform(count, self.noise_dim, device), codes

    def judging(
        self, nets: Networks, images: Images, fakes: Images, codes: Latents, step: int
    ) -> Loss:
        """Return what trunk, judge and code head lower."""
        loss, features = self.judged(nets, images, fakes, step)
        information = self.information(nets, nets.code_head(features), codes)
        return loss.plus(-self.information_weight.at(step) * self.weighed(information))

    def judged(
        self, nets: Networks, images: Images, fakes: Images, step: int
    ) -> tuple[Loss, Tensor]:
        """Return the loss of the judge, and what the trunk sees in generated images."""
        penalized = self.gradient_penalty > 0
        if penalized:
            images = images.detach().requires_grad_()
        features = nets.trunk(self.blurred(torch.cat([images, fakes]), step))
        real, fake = (self.verdict(nets, half) for half in features.chunk(2))
        judging = discriminator_loss(real, fake)
        loss = Loss(judging, judging=judging, real_logit=real.mean(), fake_logit=fake.mean())
        if penalized:
            (slopes,) = torch.autograd.grad(real.sum(), images, create_graph=True)
            penalty = slopes.square().flatten(1).sum(1).mean()
            loss = loss.plus(0.5 * self.gradient_penalty * penalty, squared_slope=penalty)
        return loss, features[len(images) :]

    def fooling(self, nets: Networks, fakes: Images, codes: Latents, step: int) -> Loss:
        """Return what the generator lowers."""
        features = nets.trunk(self.blurred(fakes, step))
        fooling = fooling_loss(self.verdict(nets, features))
        information = self.information(nets, nets.code_head(features), codes)
        categorical, continuous = information
        return Loss(
            fooling - self.information_weight.at(step) * self.weighed(information),
            fooling=fooling,
            categorical_information=categorical,
            continuous_information=continuous,
        )

    def verdict(self, nets: Networks, features: Tensor) -> Tensor:
        """Return how real the judge takes a batch to be, as logits."""
        if self.sees_spread:
            spread = (features.var(0, unbiased=False) + TINY).sqrt().mean()
            features = torch.cat([features, spread.expand(len(features), 1)], dim=1)
        logits: Tensor = nets.judge(features)
        return logits.float()

    def blurred(self, images: Images, step: int) -> Images:
        """Return images with the noise that the discriminator sees in training."""
        deviation = self.input_noise.at(step)
        return images + deviation * torch.randn_like(images) if deviation else images

    def weighed(self, information: Tensor) -> Scalar:
        """Return the information of both kinds of codes, continuous ones by their weight."""
        categorical, continuous = information
        return categorical + self.continuous_weight * continuous

    def prior_codes(
        self, nets: Networks, count: int, device: torch.device | str = "cpu"
    ) -> Latents:
        """Draw codes from their prior: one-hot categories first, then continuous ones."""
        parts = [sample_one_hot(count, size, device) for size in self.categories]
        return torch.cat([*parts, uniform(count, self.latent_dim, device)], dim=1)

    def render(self, nets: Networks, noise: Tensor, codes: Latents) -> Images:
        """Return the images the generator makes, in [0, 1]."""
        return torch.sigmoid(nets.generator(torch.cat([noise, codes], dim=1)).float())

    def information(self, nets: Networks, outputs: Tensor, codes: Latents) -> Tensor:
        """Return the bound L in nats, of the categorical and of the continuous codes.

        0 for categories that were not read at all, log m for m categories read
        without doubt. Continuous codes have at most log 2 - ½ log 2π each, below 0:
        a Gaussian of variance 1 is wider than what it describes.
        """
        sizes = [*self.categories, self.latent_dim]
        *logits, means = outputs.float().split(sizes, dim=1)
        *categories, values = codes.split(sizes, dim=1)
        categorical = outputs.new_zeros((), dtype=torch.float32)
        for logit, category, entropy in zip(logits, categories, self.entropies(nets), strict=True):
            categorical = categorical + entropy - cross_entropy(logit, category.argmax(1))
        log_density = -0.5 * ((values - means).square() + math.log(2 * math.pi))
        continuous = (log_density + math.log(2)).sum(1).mean()
        return torch.stack([categorical, continuous])

    def entropies(self, nets: Networks) -> list[float]:
        """Return the entropy H(c) of each categorical code, in nats."""
        return [math.log(size) for size in self.categories]

    def encode(self, nets: Networks, images: Images) -> Latents:
        """Return what the code head reads: probabilities of categories, then means."""
        outputs = nets.code_head(nets.trunk(images)).float()
        *logits, means = outputs.split([*self.categories, self.latent_dim], dim=1)
        return torch.cat([*(logit.softmax(1) for logit in logits), means], dim=1)

    def decode(self, nets: Networks, codes: Latents) -> Images:
        """Return images of codes, all with one noise; of a category the likeliest value."""
        return self.render(nets, nets.fixed.noise.expand(len(codes), -1), self.certain(codes))

    def draw_images(self, nets: Networks, codes: Latents) -> Images:
        noise = uniform(len(codes), self.noise_dim, codes.device)
        return self.render(nets, noise, self.certain(codes))

    def certain(self, codes: Latents) -> Latents:
        """Return codes with one-hot categories: the generator has seen no others."""
        *categories, values = codes.split([*self.categories, self.latent_dim], dim=1)
        chosen = [one_hot(c.argmax(1), c.shape[1]).to(codes.dtype) for c in categories]
        return torch.cat([*chosen, values], dim=1)

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        categories = [Part(size, "category") for size in self.categories]
        return (*categories, Part(self.latent_dim))

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        return self.prior_codes(nets, count)

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return how well codes are read back from images generated with them."""
        count, device = len(images), images.device
        codes = self.prior_codes(nets, count, device)
        fakes = self.render(nets, uniform(count, self.noise_dim, device), codes)
        read = self.encode(nets, fakes)
        *guesses, means = read.split([*self.categories, self.latent_dim], dim=1)
        *categories, values = codes.split([*self.categories, self.latent_dim], dim=1)
        right = [
            (guess.argmax(1) == category.argmax(1)).float().mean()
            for guess, category in zip(guesses, categories, strict=True)
        ]
        figures = {f"code_{i}_accuracy": value for i, value in enumerate(right)}
        # Of the variance of the prior, so that the mean over parts of the images is exact.
        error = (means - values).square().mean() / VARIANCE_OF_UNIFORM
        real, fake = (self.verdict(nets, nets.trunk(each)) for each in (images, fakes))
        return figures | {
            "continuous_r2": 1 - error,
            "real_logit": real.mean(),
            "fake_logit": fake.mean(),
        }


def uniform(count: int, size: int, device: torch.device | str = "cpu") -> Tensor:
    """Draw numbers from [-1, 1]."""
    return 2 * torch.rand(count, size, device=device) - 1
