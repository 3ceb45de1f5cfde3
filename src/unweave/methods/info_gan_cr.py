"""InfoGAN-CR: InfoGAN with a player that must tell which code two images share.

Z. Lin et al., "InfoGAN-CR and ModelCentrality: Self-supervised Model Training and
Selection for Disentangling GANs", ICML 2020, arXiv:1906.06034, eq. (4) and appendix. With a
code i drawn evenly of K, two images x, x' of one noise whose codes agree in i and differ
in all others, and a network H that sees both:

    discriminator   as InfoGAN's
    H               L = -E log H(i|x, x')
    generator       InfoGAN's + α L

G and H lower L together: an image must show which of its codes was changed. A generator
that moves every code the same way has L = log K. H learns from the first step on; α is 0 for
most of a run, so that a trained InfoGAN is regularised at its end. Pairs may be pushed apart
by a gap, wide at first, which makes them easy to tell. Whenever α or the gap changes, H and
its optimizer begin afresh. While α = 0 the generator does not notice the pairs at all.

Differs from the paper: trunk, H and generator are the run's architecture. Spectral
normalisation takes a step at every pass and not once in a step. Categorical codes, of which
the paper has none, are the same in both images, as the noise is.

Use it as `info_gan`, if codes that are independent of each other matter and there is time for a
last stage. Not for short trainings: the contrast is a stage at the end, and starts from an
InfoGAN that works.
"""

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from unweave.batches import Batch
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._code_gan import CodeGAN, uniform
from unweave.methods._method import Loss, Player, Turn
from unweave.methods._play import Move, Restart
from unweave.networks import (
    LEAK,
    Architecture,
    Networks,
    spectrally_normalized,
    still_statistics,
)
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar

LATE = 0.89
"""Share of a run after which the paper turns the regulariser on: 288,000 of 322,560 steps."""


class Pairs(NamedTuple):
    """Codes of pairs of images, and the noise that both of a pair share."""

    shared: Tensor
    """Which continuous code is the same in both."""
    first: Latents
    second: Latents
    noise: Tensor


@dataclass(frozen=True, kw_only=True)
class InfoGANCR(CodeGAN):
    latent_dim: int = 5
    """Number of continuous codes, of which pairs share one. Paper: 5 on dSprites."""
    categories: tuple[int, ...] = ()
    """Number of values of each categorical code; both images of a pair have the same. Paper:
    none."""
    noise_dim: int = 5
    """Number of uniform noise inputs that no head reads back. Paper: 5 on dSprites."""
    information_weight: Schedule = constant(0.05)
    """Weight λ of the information. Paper: 0.05 on dSprites, 0.2 on teapots, 2 on CelebA."""
    contrast_weight: Schedule | None = None
    """Weight α of the regulariser, which may change once: 0:2:0:8900 is 2 from step 8,900 on.
    If not given, 0 and then 2, from 89 % of the run on. Paper: 2 on dSprites, 3 on teapots."""
    gap: Schedule = constant(0.0)
    """By how much other codes of a pair differ at least, of 2; it may change once, as α may.
    Paper: 0 on dSprites; on teapots 1.9 until step 85,000, then 0."""
    generator_updates: int = 2
    """Updates of the generator in a step, with the same codes and pairs. Paper: 2."""
    normalized_heads: bool = True
    """Whether judge and code head are spectrally normalised like the trunk. Paper: yes."""
    activation_first: bool = True
    """Whether the generator normalises after its activations, not before. Paper: yes."""
    optimizer: Optimizer = Adam(1e-3, betas=(0.5, 0.999))
    """How the generator is updated. Paper: Adam, 1e-3, first beta 0.5."""
    discriminator_optimizer: Optimizer = Adam(2e-3, betas=(0.5, 0.999))
    """How trunk, judge and code head are updated. Paper: Adam, 2e-3, first beta 0.5."""
    contrast_optimizer: Optimizer = Adam(2e-3, betas=(0.5, 0.999))
    """How H is updated. Paper: Adam, 2e-3, first beta 0.5."""

    main_knob = "contrast_weight"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("contrast_weight", "gap"):
            schedule = getattr(self, name)
            if schedule is not None and schedule.start != schedule.end and schedule.steps:
                raise ConfigError(
                    f"{name} may change at one step only, since H begins afresh whenever it does; "
                    f"write {schedule.start:g}:{schedule.end:g}:0:STEP, found {schedule}"
                )
        if max(self.gap.start, self.gap.end) >= 2:
            raise ConfigError(f"gap must lie in [0, 2), as codes lie in [-1, 1]; found {self.gap}")

    def settled(self, steps: int, data: FactorImages) -> Self:
        if self.contrast_weight is not None:
            return self
        return replace(self, contrast_weight=Schedule(0.0, 2.0, 0, math.floor(LATE * steps)))

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        channels, height, width = data.image_shape
        pair = (2 * channels, height, width)
        nets.contrast = nn.Sequential(
            spectrally_normalized(architecture.encoder(pair, self.discriminator_width)),
            nn.LeakyReLU(LEAK, inplace=True),
            nn.Linear(self.discriminator_width, self.latent_dim),
        )
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {**super().players, "contrast": Player(("contrast",), self.contrast_optimizer)}

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Move]:
        noise, codes = self.drawn(nets, batch)
        alpha, gap = self.regularized(step)
        # Drawn after all that InfoGAN draws: with α = 0 its numbers are InfoGAN's.
        pairs = self.pairs(nets, len(codes), gap, codes.device)
        if step and (alpha, gap) != self.regularized(step - 1):
            yield Restart("contrast")
        unnoticed = nullcontext() if alpha else still_statistics(nets.generator)
        with torch.no_grad(), unnoticed:
            first, second = self.render_pairs(nets, pairs)
        yield Turn("contrast", self.telling(nets, first, second, pairs))

        fakes = self.render(nets, noise, codes)
        yield Turn("discriminator", self.judging(nets, batch.images, fakes.detach(), codes, step))
        for update in range(self.generator_updates):
            if update:
                fakes = self.render(nets, noise, codes)
            loss = self.fooling(nets, fakes, codes, step)
            if alpha:
                contrast = self.telling(nets, *self.render_pairs(nets, pairs), pairs).total
                loss = loss.plus(alpha * contrast, contrast=contrast)
            yield Turn("generator", loss)

    def regularized(self, step: int) -> tuple[float, float]:
        """Return α and the gap at a step."""
        assert self.contrast_weight is not None  # `settled` has filled it in
        return self.contrast_weight.at(step), self.gap.at(step)

    def pairs(
        self, nets: Networks, count: int, gap: float, device: torch.device | str = "cpu"
    ) -> Pairs:
        """Draw codes of pairs that share one continuous code and differ in the others."""
        codes = self.prior_codes(nets, count, device)
        names = codes[:, : sum(self.categories)]
        # Both values within the reach that leaves room to push them apart by half the gap.
        one, other = ((1 - gap / 2) * uniform(count, self.latent_dim, device) for _ in range(2))
        push = torch.where(one >= other, gap / 2, -gap / 2)
        shared = torch.randint(self.latent_dim, (count,), device=device)
        same = nn.functional.one_hot(shared, self.latent_dim).bool()
        first = one + push
        second = torch.where(same, first, other - push)
        noise = uniform(count, self.noise_dim, device)
        return Pairs(shared, torch.cat([names, first], 1), torch.cat([names, second], 1), noise)

    def render_pairs(self, nets: Networks, pairs: Pairs) -> tuple[Images, Images]:
        """Return the images of pairs."""
        both = torch.cat([pairs.first, pairs.second])
        first, second = self.render(nets, pairs.noise.repeat(2, 1), both).chunk(2)
        return first, second

    def telling(self, nets: Networks, first: Images, second: Images, pairs: Pairs) -> Loss:
        """Return L, and how often H names the code that two images share."""
        logits = nets.contrast(torch.cat([first, second], dim=1)).float()
        accuracy = (logits.argmax(1) == pairs.shared).float().mean()
        return Loss(cross_entropy(logits, pairs.shared), shared_code_accuracy=accuracy)

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return how well codes are read back, and how well H tells which one pairs share."""
        pairs = self.pairs(nets, len(images), 0.0, images.device)
        told = self.telling(nets, *self.render_pairs(nets, pairs), pairs)
        return super().diagnose(nets, images) | {"contrast": told.total, **told.terms}
