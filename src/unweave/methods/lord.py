"""LORD: a code for each image and one for each class, optimised directly, then amortised.

A. Gabbay and Y. Hoshen, "Demystifying Inter-Class Disentanglement", ICLR 2020,
arXiv:1906.11796. Stage one optimises a table c of contents, one row for each image i,
a table e of classes, one row for each class y, and a generator G; stage two trains
encoders E_c, E_y to find those codes, and G goes on. With noise ξ of N(0, I):

    stage one   d(G(c_i + σξ, e_y), x_i) + λ |c_i|²
    stage two   d(G(E_c(x), E_y(x)), x) + a (|E_c(x) - c_i|² + |E_y(x) - e_y|²)

A class code is shared by its images, so it holds nothing of one of them; noise and
decay keep from the content what the class gives for free. The class reaches G by
AdaIN only. Codes are content, then class; before stage two they mean nothing, as
the encoders have not been trained yet.

Differs from the paper: d is not the distance of a trained VGG's features, which would
have to be downloaded, but that of pixels and Laplacian pyramids, squared unless asked otherwise:
where most pixels are background, the image nearest to all others by absolute differences is
nothing but background, and the generator does not come back from it. It is summed over pixels,
so λ and a are as many times larger than in a mean. Small networks, encoders of the run's
architecture; stage two has a constant learning rate.

Use it if every image has a class and style must say nothing of it. Not for classes that were not
trained on, which its table does not have. Each image it learns from has a code of its own in the
first stage, which wants visiting often: of very many images it takes some.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, Self

import torch

from unweave.batches import Indexed, IndexedBatch, shared_column
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._code import Part
from unweave.methods._method import Loss, Method, Player, Turn
from unweave.networks import Architecture, ClassGenerator, Networks, squared_distance, table
from unweave.probability.perceptual import pyramid_distance
from unweave.settings.optimizers import Adam, Optimizer
from unweave.tensors import Images, Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class LORD(Method):
    latent_dim: int = 10
    """Number of dimensions of the content. Paper: 128."""
    class_dim: int = 10
    """Number of dimensions of the class code. Paper: 256."""
    class_column: str = ""
    """Factor or column that is the class; by default a column called group or label, else the
    first factor without order, else the one with fewest values."""
    images: int = 10_000
    """Of how many images at most, chosen at random, contents are learnt; 0 is all. Paper: all.
    Contents that are seldom visited stay near 0, and encoders have nothing to find."""
    first_stage_steps: int | None = None
    """Steps of stage one; by default half of the run's."""
    noise: float = 1.0
    """Deviation σ of the noise on contents. Paper: 1."""
    content_decay: float = 0.1
    """Weight λ of the squared content. Paper: 1e-4 for a distance averaged over pixels, which
    is 0.1 for the sum over 32×32."""
    code_weight: float = 10_000.0
    """Weight a of finding the codes of stage one. Paper: 10 for a distance averaged over
    pixels, which is 10,000 for the sum over 32×32."""
    distance: Literal["squared", "absolute"] = "squared"
    """How differences of pixels and of pyramids are summed. Paper: absolute, of features."""
    channels: int = 64
    """Channels of the generator's smallest map, halved at each size above. Paper: 256 in all."""
    optimizer: Optimizer = Adam(3e-4, betas=(0.5, 0.999))
    """How the generator is updated in stage one, decaying over it. Paper: Adam, 3e-4, first
    beta 0.5, half a cosine to 1e-5."""
    table_speed: float = 10.0
    """How many times faster than the generator the tables learn. Paper: 10; 100 was better in
    a short run with few dimensions."""
    encoder_optimizer: Optimizer = Adam(1e-4, betas=(0.5, 0.999))
    """How encoders and generator are updated in stage two. Paper: Adam, 1e-4, first beta 0.5."""

    main_knob = "content_decay"
    swaps = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("class_dim", "channels", "table_speed"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, found {getattr(self, name)}")
        self.refuse_negative("noise", "content_decay", "code_weight", "images")
        if self.first_stage_steps is not None and self.first_stage_steps < 1:
            raise ConfigError(f"first_stage_steps must be above 0, found {self.first_stage_steps}")

    def settled(self, steps: int, data: FactorImages) -> Self:
        return replace(
            self,
            class_column=shared_column(data, self.class_column),
            images=self.images if self.images < len(data) else 0,
            first_stage_steps=self.first_stage_steps or max(steps // 2, 1),
        )

    @property
    def supervision(self) -> Indexed:
        return Indexed(self.class_column, self.images)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        if self.class_column not in data.column_sizes:
            raise ConfigError(
                f"the class {self.class_column!r} is none of the columns {[*data.column_sizes]}"
            )
        nets = Networks()
        nets.contents = table(self.supervision.table_rows(data.rows), self.latent_dim)
        nets.classes = table(data.column_sizes[self.class_column], self.class_dim)
        nets.generator = ClassGenerator(
            self.latent_dim, self.class_dim, data.image_shape, self.channels
        )
        nets.content_encoder = architecture.encoder(data.image_shape, self.latent_dim)
        nets.class_encoder = architecture.encoder(data.image_shape, self.class_dim)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        """Return one player for each stage; the generator plays in both."""
        decaying = replace(self.optimizer, decay_steps=self.first_stage_steps or 0)
        speed = {"contents": self.table_speed, "classes": self.table_speed}
        return {
            "latents": Player(("generator", "contents", "classes"), decaying, speed),
            "encoders": Player(
                ("generator", "content_encoder", "class_encoder"), self.encoder_optimizer
            ),
        }

    def turns(self, nets: Networks, batch: IndexedBatch, step: int) -> Iterator[Turn]:
        if self.first_stage_steps is None or step < self.first_stage_steps:
            yield Turn("latents", self.latent_loss(nets, batch))
        else:
            yield Turn("encoders", self.encoder_loss(nets, batch))

    def latent_loss(self, nets: Networks, batch: IndexedBatch) -> Loss:
        """Return what tables and generator lower in stage one."""
        content = nets.contents(batch.rows)
        images = self.render(nets, self.noisy(content), nets.classes(batch.classes))
        distance = self.between(images, batch.images)
        size = content.square().sum(1).mean()
        return Loss(distance + self.content_decay * size, distance=distance, content_size=size)

    def noisy(self, content: Latents) -> Latents:
        """Return contents as the generator sees them in stage one."""
        return content + self.noise * torch.randn_like(content)

    def encoder_loss(self, nets: Networks, batch: IndexedBatch) -> Loss:
        """Return what encoders and generator lower in stage two."""
        content = nets.content_encoder(batch.images).float()
        class_code = nets.class_encoder(batch.images).float()
        distance = self.between(self.render(nets, content, class_code), batch.images)
        content_error = squared_distance(content, nets.contents(batch.rows))
        class_error = squared_distance(class_code, nets.classes(batch.classes))
        return Loss(
            distance + self.code_weight * (content_error + class_error),
            distance=distance,
            content_error=content_error,
            class_error=class_error,
        )

    def render(self, nets: Networks, content: Latents, class_code: Latents) -> Images:
        """Return the images the generator makes, in [0, 1]."""
        return torch.sigmoid(nets.generator(content, class_code).float())

    def between(self, images: Images, others: Images) -> Scalar:
        """Return the distance d of images."""
        return pyramid_distance(images, others, 2 if self.distance == "squared" else 1)

    def encode(self, nets: Networks, images: Images) -> Latents:
        return torch.cat([nets.content_encoder(images), nets.class_encoder(images)], dim=1)

    def draw_codes(self, nets: Networks, images: Images) -> Latents:
        """Return codes with the noise of stage one; in stage two there is none."""
        content = self.noisy(nets.content_encoder(images))
        return torch.cat([content, nets.class_encoder(images)], dim=1)

    def decode(self, nets: Networks, codes: Latents) -> Images:
        return self.render(nets, codes[:, : self.latent_dim], codes[:, self.latent_dim :])

    def swap(self, nets: Networks, content_images: Images, style_images: Images) -> Images:
        """Return images with the class of one row and all else of the same row of another.

        In the words of swaps, what a class shares is the content and the rest style.
        """
        return self.render(
            nets, nets.content_encoder(style_images), nets.class_encoder(content_images)
        )

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        return Part(self.latent_dim, role="style"), Part(self.class_dim, role="content")

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        """Draw a row of each table, and the noise of stage one: there is no other prior."""
        contents, classes = nets.contents.weight, nets.classes.weight
        content = contents[torch.randint(len(contents), (count,))]
        class_code = classes[torch.randint(len(classes), (count,))]
        return torch.cat([self.noisy(content), class_code], dim=1)

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return how well images are rendered from what the encoders find."""
        return {"distance": self.between(self.decode(nets, self.encode(nets, images)), images)}
