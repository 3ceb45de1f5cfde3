"""StyleGAN: a generator that takes a style at every size, and the directions in its styles.

T. Karras, S. Laine, T. Aila, "A Style-Based Generator Architecture for Generative Adversarial
Networks", CVPR 2019, arXiv:1812.04948, with the layers of its successor, arXiv:1912.04958. A
mapping network f makes styles of noise, w = f(z), a synthesis network G draws an image from
one style for each size of map, coarse to fine, and noise n, and with judge D:

    discriminator   -E log σ(D(x)) - E log(1 - σ(D(G(w, n)))) + γ/2 E‖∇_x D(x)‖²
    generator       -E log σ(D(G(w, n)))

The penalty, R1 (arXiv:1801.04406), is taken in one step of `lazy` and weighs `lazy` times as
much there. Of most images the finer maps have the style of another draw, from a random size on.

What is called a code here is found when training ends. Its latents are directions v_j of w, of
unit length, in units of the deviation s_j that styles have along them:

    c_j = v_j · (w - w̄) / s_j,    w = w̄ + Σ_j c_j s_j v_j

`ganspace` takes the principal components of styles (E. Härkönen et al., NeurIPS 2020,
arXiv:2004.02546), `sefa` those directions that the modulations of the layers answer to most, the
right singular vectors of their weights (Y. Shen, B. Zhou, CVPR 2021, arXiv:2007.06600). With
`blocks` the code has such directions for each range of sizes, and a latent moves the styles
of its own. Then a head on the judge's features is regressed on the generator's own images: it
gives the codes of images that nobody generated, such as those of the data. Until then it says
nothing. A swap takes the coarse styles of one image and the fine ones of another.

Differs from the papers: teaching size, with one convolution for each size of map and a judge
without residual connections; no penalty on path lengths; R1 shares the update of the step it
is taken in, so that Adam's rates need no correction; pixels end in a sigmoid and lie in [0, 1],
where γ has the effect of 4 γ on [-1, 1]; noise is quiet, and codes are decoded without any. The
run's architecture is not used.

Use it to generate images by coarse and fine styles, and to look for directions among them. Not
for codes of given images, which it reads back by a regression alone, and not in a few minutes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss, normalize

from unweave.batches import Batch
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._code import Part
from unweave.methods._method import Loss, Method, Player, Turn
from unweave.methods._style_networks import Judge, Mapping, Synthesis
from unweave.networks import Architecture, Networks
from unweave.probability.adversarial import discriminator_loss, fooling_loss
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar

DRAWS = 10_000  # styles that directions are found in
LOOK_EVERY = 500  # steps after which they are found again, for pictures on the way
LEAST_SPREAD = 1e-6
HEAD_WIDTH, HEAD_RATE, HEAD_BATCH, HEAD_EPOCHS = 128, 2e-3, 128, 30
PART = 256  # images generated at once for the head


class Directions(nn.Module):
    """Mean style and, for each block of the code, directions and the spread along them."""

    mean: Tensor
    along: Tensor
    spread: Tensor

    def __init__(self, blocks: int, latents: int, width: int):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("along", torch.eye(latents, width).repeat(blocks, 1, 1))
        self.register_buffer("spread", torch.ones(blocks, latents))

    def codes(self, styles: Tensor) -> Latents:
        """Return the codes of styles (image, block, width)."""
        parts = torch.einsum("nbw,blw->nbl", styles - self.mean, self.along) / self.spread
        return parts.flatten(1)

    def styles(self, codes: Latents) -> Tensor:
        """Return the styles (image, block, width) of codes, with nothing but these directions."""
        parts = codes.unflatten(1, self.spread.shape) * self.spread
        return self.mean + torch.einsum("nbl,blw->nbw", parts, self.along)


@dataclass(frozen=True, kw_only=True)
class StyleGAN(Method):
    latent_dim: int = 10
    """Number of directions, of each block if there are several. GANSpace: 80 of 512."""
    directions: Literal["ganspace", "sefa"] = "ganspace"
    """Principal components of styles, or what the layers' modulations answer to most."""
    sefa_by_channel: bool = True
    """Whether every channel that a style modulates counts alike for `sefa`. Its authors: yes."""
    blocks: tuple[int, ...] = ()
    """Before which layers, counted from the coarsest, a block of the code of its own begins: 2
    for directions of the sizes 4 and 8 and others of those from 16 on. Empty: a latent moves all
    layers."""
    width: int = 32
    """Numbers of noise z and of a style w. Paper: 512."""
    mapping_layers: int = 4
    """Layers of the mapping network. Paper: 8."""
    mapping_speed: float = 0.1
    """Learning rate of the mapping network, as a share of the generator's. Paper: 0.01 in runs
    of a million steps and more."""
    generator_channels: tuple[int, ...] = (32, 32, 16, 8)
    """Channels of maps, from the coarsest on; the last is repeated. Paper: 512 down to 16."""
    discriminator_width: int = 64
    """Hidden units of the judge's linear layer; its channels are the generator's. Paper: 512."""
    mixing: float = 0.9
    """Share of images with two styles. Paper: 0.9."""
    noise: float = 0.1
    """Deviation of the noise that is added to maps; 0 for none. Paper: 1, which makes edges of
    black and white images ragged: they are dithered before they are learnt."""
    r1_weight: Schedule = constant(0.02)
    """γ, weight of R1. Paper: 10 for images in [-1, 1] of 1,024 pixels a side; with 1 for small
    black and white ones the judge hardly learns."""
    lazy: int = 8
    """In one of how many steps R1 is taken. Paper: 16."""
    average_images: float = 2_000.0
    """Images after which a weight counts half in the running average that is shown. Paper:
    10,000, of 25 million."""
    truncation: float = 1.0
    """ψ, by which codes are drawn nearer to their mean: 0.7 for fewer, better samples. Training
    and scores do not know of it."""
    head_images: int = 8_192
    """Generated images that the head which reads codes is regressed on."""
    optimizer: Optimizer = Adam(2e-3, betas=(0.0, 0.99))
    """How mapping and synthesis are updated. Paper: Adam, 2e-3, betas 0 and 0.99."""
    discriminator_optimizer: Optimizer = Adam(2e-3, betas=(0.0, 0.99))
    """How the judge is updated. Paper: Adam, 2e-3, betas 0 and 0.99."""

    main_knob = "r1_weight"
    swaps = True

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = ("width", "mapping_layers", "discriminator_width", "lazy", "head_images")
        for name in counts:
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, found {getattr(self, name)}")
        for name in ("mapping_speed", "average_images"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, found {getattr(self, name)}")
        if not self.generator_channels or min(self.generator_channels) < 1:
            raise ConfigError(
                f"generator_channels must be 1 or more each, found {self.generator_channels}"
            )
        if not 0 <= self.mixing <= 1:
            raise ConfigError(f"mixing is a share from 0 to 1, found {self.mixing}")
        if self.latent_dim > self.width:
            raise ConfigError(
                f"latent_dim must be at most the width of a style, {self.width}, "
                f"found {self.latent_dim}"
            )
        self.refuse_negative("truncation", "noise")

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.judge = Judge(data.image_shape, self.generator_channels, self.discriminator_width)
        nets.mapping = Mapping(self.width, self.mapping_layers)
        nets.synthesis = Synthesis(data.image_shape, self.width, self.generator_channels)
        layers = len(nets.synthesis.sizes)
        if list(self.blocks) != sorted(set(self.blocks) & set(range(1, layers))):
            raise ConfigError(
                f"blocks are rising numbers from 1 to {layers - 1}, the layers of images of "
                f"{data.image_shape[1]}×{data.image_shape[2]}, found {self.blocks}"
            )
        nets.directions = Directions(1 + len(self.blocks), self.latent_dim, self.width)
        size = self.latent_dim * (1 + len(self.blocks))
        nets.code_head = nn.Sequential(
            nn.Linear(nets.judge.features_size, HEAD_WIDTH),
            nn.LeakyReLU(0.2),
            nn.Linear(HEAD_WIDTH, size),
        )
        return nets

    @property
    def players(self) -> dict[str, Player]:
        shown = dict.fromkeys(("mapping", "synthesis"), self.average_images)
        return {
            "discriminator": Player(("judge",), self.discriminator_optimizer),
            "generator": Player(
                ("mapping", "synthesis"),
                self.optimizer,
                speed={"mapping": self.mapping_speed},
                average=shown,
            ),
        }

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Turn]:
        if step % LOOK_EVERY == 0:
            self.find_directions(nets)
        count = len(batch.images)
        fakes = self.render(
            nets, self.mixed_styles(nets, count), nets.synthesis.draw_noise(count, self.noise)
        )
        yield Turn("discriminator", self.judging(nets, batch.images, fakes.detach(), step))
        fooling = fooling_loss(nets.judge(fakes).float())
        yield Turn("generator", Loss(fooling, fooling=fooling))

    def judging(self, nets: Networks, images: Images, fakes: Images, step: int) -> Loss:
        """Return the judge's loss, with R1 in some of the steps."""
        is_lazy = step % self.lazy == 0
        images = images.detach().requires_grad_(is_lazy)
        # One batch after the other: the judge compares the images of a batch.
        real, fake = nets.judge(images).float(), nets.judge(fakes).float()
        judging = discriminator_loss(real, fake)
        loss = Loss(judging, judging=judging, real_logit=real.mean(), fake_logit=fake.mean())
        if not is_lazy:
            return loss
        slope = squared_slope(real, images)
        return loss.plus(self.lazy * self.r1_weight.at(step) / 2 * slope, squared_slope=slope)

    def mixed_styles(self, nets: Networks, count: int) -> Tensor:
        """Draw styles (image, layer, width), of most images two, the second from a layer on."""
        layers, device = len(nets.synthesis.sizes), nets.synthesis.start.device
        first, second = self.draw_styles(nets, 2 * count).chunk(2)
        crossover = torch.randint(1, layers, (count,), device=device)
        crossover[torch.rand(count, device=device) >= self.mixing] = layers
        return mixed(first, second, crossover, layers)

    def draw_styles(self, nets: Networks, count: int) -> Tensor:
        """Draw styles (image, width)."""
        device = nets.synthesis.start.device
        styles: Tensor = nets.mapping(torch.randn(count, self.width, device=device))
        return styles

    def render(self, nets: Networks, styles: Tensor, noise: list[Tensor]) -> Images:
        """Return the images that styles (image, layer, width) and noise make, in [0, 1]."""
        return torch.sigmoid(nets.synthesis(styles, noise).float())

    def draw_at(self, nets: Networks, w: Tensor) -> Images:
        """Return images of one style (image, width) for all layers, without noise."""
        styles = w[:, None].expand(-1, len(nets.synthesis.sizes), -1)
        return self.render(nets, styles, nets.synthesis.no_noise())

    def per_layer(self, nets: Networks, styles: Tensor) -> Tensor:
        """Return the style of each layer from that of its block, (image, block, width)."""
        parts = [
            styles[:, block, None].expand(-1, end - begin, -1)
            for block, (begin, end) in enumerate(self.ranges(nets))
        ]
        return torch.cat(parts, dim=1)

    def ranges(self, nets: Networks) -> list[tuple[int, int]]:
        """Return the first layer of each block, and the first after it."""
        return list(pairwise([0, *self.blocks, len(nets.synthesis.sizes)]))

    @torch.no_grad()
    def find_directions(self, nets: Networks) -> None:
        """Set mean, directions and spread by the networks as they are."""
        found = nets.directions
        styles = self.draw_styles(nets, DRAWS).cpu().double()  # which not every device has
        found.mean.copy_(styles.mean(0))
        centred = styles - styles.mean(0)
        for block, (begin, end) in enumerate(self.ranges(nets)):
            if self.directions == "ganspace":
                along = principal_directions(centred)
            else:
                answers = nets.synthesis.modulations(begin, end).cpu().double()
                along = answered_directions(answers, by_channel=self.sefa_by_channel)
            along = along[: self.latent_dim]
            found.along[block] = along
            found.spread[block] = (centred @ along.T).std(0).clamp_min(LEAST_SPREAD)

    def finish(self, nets: Networks, data: FactorImages, seed: int) -> None:
        """Find the directions of the averaged networks, and regress the head that reads codes."""
        self.find_directions(nets)
        features, codes = self.head_pairs(nets)
        regress(nets.code_head, features, codes)

    @torch.no_grad()
    def head_pairs(self, nets: Networks) -> tuple[Tensor, Latents]:
        """Return the judge's features of generated images, and the codes these were made with.

        Blocks have styles of their own, so that the head learns to tell them apart.
        """
        features, codes = [], []
        blocks = 1 + len(self.blocks)
        for begin in range(0, self.head_images, PART):
            count = min(PART, self.head_images - begin)
            styles = self.draw_styles(nets, count * blocks).unflatten(0, (count, blocks))
            noise = nets.synthesis.draw_noise(count, self.noise)
            images = self.render(nets, self.per_layer(nets, styles), noise)
            features.append(nets.judge.features(images))
            codes.append(nets.directions.codes(styles))
        return torch.cat(features), torch.cat(codes)

    def encode(self, nets: Networks, images: Images) -> Latents:
        codes: Latents = nets.code_head(nets.judge.features(images)).float()
        return codes

    def decode(self, nets: Networks, codes: Latents) -> Images:
        """Return images of codes, without noise, styles at their mean but along the directions."""
        styles = self.per_layer(nets, nets.directions.styles(codes))
        return self.render(nets, styles, nets.synthesis.no_noise())

    def draw_images(self, nets: Networks, codes: Latents) -> Images:
        """Draw what codes leave open: what styles have beside the directions, and the noise."""
        found, count = nets.directions, len(codes)
        others = self.draw_styles(nets, count)[:, None].expand(-1, 1 + len(self.blocks), -1)
        beside = others - found.styles(found.codes(others))
        styles = self.per_layer(nets, found.styles(codes) + self.truncation * beside)
        return self.render(nets, styles, nets.synthesis.draw_noise(count, self.noise))

    def swap(self, nets: Networks, content_images: Images, style_images: Images) -> Images:
        """Mix: the coarse styles of one image, from a layer on the fine ones of another."""
        first, second = (
            self.per_layer(nets, nets.directions.styles(self.encode(nets, images)))
            for images in (content_images, style_images)
        )
        layers = first.shape[1]
        begin = self.blocks[0] if self.blocks else layers // 2
        styles = torch.cat([first[:, :begin], second[:, begin:]], dim=1)
        return self.render(nets, styles, nets.synthesis.no_noise())

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        if len(self.blocks) == 1:
            return Part(self.latent_dim, role="content"), Part(self.latent_dim, role="style")
        return (Part(self.latent_dim),) * (1 + len(self.blocks))

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        """Draw codes of styles, by ψ nearer to the mean."""
        styles = self.draw_styles(nets, count)[:, None].expand(-1, 1 + len(self.blocks), -1)
        codes: Latents = self.truncation * nets.directions.codes(styles)
        return codes

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return what the judge says of images and fakes, and how well codes are read back."""
        count = len(images)
        codes = self.sample_prior(nets, count)
        fakes = self.draw_images(nets, codes)
        # Of a variance of 1, so that the mean over parts of the images is exact.
        error = (self.encode(nets, fakes) - codes).square().mean()
        return {
            "real_logit": nets.judge(images).float().mean(),
            "fake_logit": nets.judge(fakes).float().mean(),
            "codes_read_r2": 1 - error,
        }


def squared_slope(logits: Tensor, images: Images) -> Scalar:
    """Return E‖∇_x D(x)‖², which can be differentiated again."""
    (slopes,) = torch.autograd.grad(logits.sum(), images, create_graph=True)
    return slopes.square().flatten(1).sum(1).mean()


def mixed(first: Tensor, second: Tensor, crossover: Tensor, layers: int) -> Tensor:
    """Return styles (image, layer, width): the second's from layer `crossover` on."""
    takes_second = torch.arange(layers, device=first.device) >= crossover[:, None]
    return torch.where(takes_second[:, :, None], second[:, None], first[:, None])


def principal_directions(centred: Tensor) -> Tensor:
    """Return the principal components of styles, the one of most variance first."""
    _, vectors = torch.linalg.eigh(centred.T @ centred)
    return signed(vectors.flip(1).T)


def answered_directions(modulations: Tensor, *, by_channel: bool = True) -> Tensor:
    """Return right singular vectors of modulations (channel, width), the strongest first.

    With `by_channel` every channel counts alike, as in the authors' code.
    """
    rows = normalize(modulations, dim=1) if by_channel else modulations
    _, _, vectors = torch.linalg.svd(rows, full_matrices=True)
    return signed(vectors)


def signed(directions: Tensor) -> Tensor:
    """Return directions (direction, width) whose largest entry is positive: signs mean nothing."""
    largest = directions.gather(1, directions.abs().argmax(1, keepdim=True))
    return directions * torch.where(largest < 0, -1.0, 1.0)


def regress(head: nn.Module, features: Tensor, codes: Latents) -> None:
    """Fit the head to codes by least squares, with a rate that falls to 0."""
    for layer in head.modules():
        if isinstance(layer, nn.Linear):
            layer.reset_parameters()
    optimizer = torch.optim.Adam(head.parameters(), HEAD_RATE)
    batches = -(-len(codes) // HEAD_BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, HEAD_EPOCHS * batches)
    for _ in range(HEAD_EPOCHS):
        for rows in torch.randperm(len(codes), device=codes.device).split(HEAD_BATCH):
            optimizer.zero_grad()
            mse_loss(head(features[rows]), codes[rows]).backward()
            optimizer.step()
            schedule.step()
