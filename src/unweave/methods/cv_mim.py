"""CV-MIM: what two views of a content share is its pose, and the rest of each is its view.

L. Zhao et al., "Learning View-Disentangled Human Pose Representation by Contrastive
Cross-View Mutual Information Maximization", CVPR 2021, arXiv:2012.01405. Of an image the
encoder gives a pose p and a view v. With images x₁ and x₂ of one content in two views, and of
a batch of such pairs,

    I(a; b)   = E_{i=j}[log 2 - softplus(-a_i·b_j)] - E_{i≠j}[softplus(a_i·b_j) - log 2]
    J(a → b)  = E_{i=j} log q(b_j|a_i) - E_{i,j} log q(b_j|a_i),   not below 0

    encoder        - w_i Σ_views I(s(x); (p + v) / 2) - w_v I(p₁; p₂) - w_p E log D(σ(p, v))
                   + w_d [Σ_views J(p → v) + J(v₁ → v₂) + J(v₂ → v₁)]
    estimators     - log q(v|p) - log q(v₂|v₁), and the views exchanged
    discriminator  - E log D(u) - E log(1 - D(σ(p, v))) + a penalty on its slope

I is a lower bound (of the Jensen-Shannon kind): a pose is to be told from the pose in another
view, and an image from pose and view together, by way of s, a second head on the same features.
J is an upper bound (CLUB) as long as q is a good estimate: a view is to tell nothing of the pose
and nothing of the other view. D holds poses and views, between 0 and 1 by σ, to a uniform
distribution of u, without which the dot products would have no bound.

Nothing is decoded. What a probe learns of poses in one view should hold in every other:
`unweave evaluate RUN --probe view=NAME` trains it in one and tests it in the others.

Differs from the paper: images instead of the joints of a body, so the features are those of
`--architecture`; no dropout, and no batch normalisation but of views, which are brought to the
deviation that the prior has, over all images of a batch at once. Held to it by the discriminator
alone, they shrank until nothing could be told of them, and J with them.

Use it if the same content is seen in two views and a probe of one view must hold in others. Not
for looking at codes: nothing is decoded; and not if what differs between views is what is wanted.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from unweave.batches import PairBatch
from unweave.batches.views import Views
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._code import Part
from unweave.methods._method import Loss, Method, Player, Turn
from unweave.networks import Architecture, Networks, code_discriminator
from unweave.probability.adversarial import discriminator_loss, fooling_loss
from unweave.probability.gaussian import DiagonalGaussian
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar

DEVIATION = math.pi / math.sqrt(3)
"""Of numbers whose σ is spread evenly over (0, 1)."""


class Residual(nn.Module):
    """Two layers, added to what they are given."""

    def __init__(self, width: int):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )

    def forward(self, features: Tensor) -> Tensor:
        found: Tensor = features + self.layers(features)
        return found


class Heads(nn.Module):
    """Features of an image; pose and view by one way on from there, the summary by another."""

    def __init__(self, trunk: nn.Module, width: int, latent_dim: int):
        super().__init__()
        self.trunk = trunk
        self.head = nn.Sequential(
            Residual(width),
            Residual(width),
            nn.Linear(width, 2 * latent_dim),
        )
        self.normalized = nn.BatchNorm1d(latent_dim, affine=False)
        self.summary = nn.Sequential(Residual(width), Residual(width), nn.Linear(width, latent_dim))

    def features(self, images: Images) -> Tensor:
        return torch.relu(self.trunk(images))

    def codes(self, features: Tensor) -> Latents:
        """Return poses and views."""
        pose, view = self.head(features).float().chunk(2, dim=1)
        return torch.cat([pose, DEVIATION * self.normalized(view)], dim=1)

    def forward(self, images: Images) -> Latents:
        return self.codes(self.features(images))


class Estimator(nn.Module):
    """q(b|a): a Gaussian whose mean and log-variance a hidden layer each gives."""

    def __init__(self, latent_dim: int, width: int):
        super().__init__()
        self.mean, self.logvar = (
            nn.Sequential(nn.Linear(latent_dim, width), nn.ELU(), nn.Linear(width, latent_dim))
            for _ in range(2)
        )

    def forward(self, given: Latents) -> DiagonalGaussian:
        # Bounded, so that no estimate is ever sure: the bound would go to infinity with it.
        return DiagonalGaussian(self.mean(given), self.logvar(given).tanh())


class Halves(NamedTuple):
    """Poses and views of images in their first view, and of the same contents in their second."""

    pose: Latents
    view: Latents
    other_pose: Latents
    other_view: Latents


@dataclass(frozen=True, kw_only=True)
class CVMIM(Method):
    latent_dim: int = 10
    """Number of dimensions of the pose, and as many of the view. Paper: 32."""
    view: tuple[str, ...] = ()
    """Factors that are the view: two images of a pair differ in nothing else. By default what a
    column `pair` says; else a factor called view, camera or azimuth, else the first with order."""
    view_weight: Schedule = constant(10.0)
    """Weight w_v of poses being told from those in another view. Authors' code: 10."""
    information_weight: Schedule = constant(1.0)
    """Weight w_i of pose and view together telling their image. Authors' code: 1; less of it leaves
    less of the view in the pose."""
    prior_weight: Schedule = constant(1.0)
    """Weight w_p of looking uniform. Authors' code: 1."""
    disentangling_weight: Schedule = constant(0.5)
    """Weight w_d of views telling nothing of poses and of other views. Authors' code: 0.5."""
    slope_weight: float = 1.0
    """Weight of the penalty on the slope of the discriminator, E‖∇D‖²/2 of both kinds. Authors'
    code: 1."""
    width: int = 256
    """Features of an image, and units of the layers after them and of the estimators. Paper:
    1024."""
    optimizer: Optimizer = Adam(1e-3)
    """How the encoder is updated. Paper: Adagrad, 0.02, over millions of steps."""
    estimator_optimizer: Optimizer = Adam(1e-3)
    """How the estimators q are updated, which must keep up with the encoder. Paper: as above."""
    discriminator_width: int = 64
    """Units of each hidden layer of the discriminator. Authors' code: 64, 64, 32."""
    discriminator_depth: int = 2
    """Hidden layers of the discriminator. Authors' code: 3."""
    discriminator_optimizer: Optimizer = Adam(1e-3)
    """How the discriminator is updated. Paper: as above."""

    main_knob = "view_weight"
    decodes = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.refuse_negative("slope_weight")
        if self.width < 1:
            raise ConfigError(f"width must be 1 or more, found {self.width}")

    def settled(self, steps: int, data: FactorImages) -> Self:
        return replace(self, view=Views(self.view).names(data))

    @property
    def supervision(self) -> Views:
        return Views(self.view)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        trunk = architecture.encoder(data.image_shape, self.width)
        nets.encoder = Heads(trunk, self.width, self.latent_dim)
        nets.view_of_pose = Estimator(self.latent_dim, self.width)
        nets.view_of_view = Estimator(self.latent_dim, self.width)
        nets.discriminator = code_discriminator(
            2 * self.latent_dim, self.discriminator_width, self.discriminator_depth
        )
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {
            "encoder": Player(("encoder",), self.optimizer),
            "estimators": Player(("view_of_pose", "view_of_view"), self.estimator_optimizer),
            "discriminator": Player(("discriminator",), self.discriminator_optimizer),
        }

    def turns(self, nets: Networks, batch: PairBatch, step: int) -> Iterator[tuple[Turn, ...]]:
        if len(batch.images) < 2:
            raise ConfigError("cv_mim compares contents: batch_size must be 4 or more")
        features = nets.encoder.features(batch.both)
        codes = nets.encoder.codes(features)
        summary = nets.encoder.summary(features).float()
        # All three see the weights of before the step, as in the authors' code.
        yield (
            Turn("encoder", self.encoder_loss(nets, codes, summary, step)),
            Turn("estimators", self.estimators_loss(nets, codes.detach())),
            Turn("discriminator", self.discriminator_loss(nets, codes.detach())),
        )

    def encoder_loss(self, nets: Networks, codes: Latents, summary: Latents, step: int) -> Loss:
        """Return what the encoder lowers, of the codes of first views, then of second ones."""
        parts = self.halves(codes)
        first, second = codes.unflatten(1, (2, -1)).mean(1).chunk(2)
        summary_of_first, summary_of_second = summary.chunk(2)
        told = information(summary_of_first, first) + information(summary_of_second, second)
        shared = information(parts.pose, parts.other_pose)
        fooling = fooling_loss(nets.discriminator(codes.sigmoid()))
        told_by_pose = leak(nets.view_of_pose(parts.pose), parts.view) + leak(
            nets.view_of_pose(parts.other_pose), parts.other_view
        )
        told_by_view = leak(nets.view_of_view(parts.view), parts.other_view) + leak(
            nets.view_of_view(parts.other_view), parts.view
        )
        return Loss(
            -self.information_weight.at(step) * told
            - self.view_weight.at(step) * shared
            + self.prior_weight.at(step) * fooling
            + self.disentangling_weight.at(step) * (told_by_pose + told_by_view),
            information=told,
            shared_information=shared,
            fooling=fooling,
            view_told_by_pose=told_by_pose,
            view_told_by_view=told_by_view,
        )

    def estimators_loss(self, nets: Networks, codes: Latents) -> Loss:
        """Return how badly views are told from poses and from other views."""
        parts = self.halves(codes)
        pairs = (
            (nets.view_of_pose, parts.pose, parts.view),
            (nets.view_of_pose, parts.other_pose, parts.other_view),
            (nets.view_of_view, parts.view, parts.other_view),
            (nets.view_of_view, parts.other_view, parts.view),
        )
        return Loss(-sum(q(given).log_density(view).mean() for q, given, view in pairs))

    def discriminator_loss(self, nets: Networks, codes: Latents) -> Loss:
        """Return how badly codes are told from uniform numbers, and how steeply they are."""
        fake = codes.sigmoid().requires_grad_()
        real = torch.rand_like(fake).requires_grad_()
        real_logits, fake_logits = nets.discriminator(real), nets.discriminator(fake)
        slopes = [
            torch.autograd.grad(logits.sum(), at, create_graph=True)[0].square().sum(1).mean()
            for logits, at in ((real_logits, real), (fake_logits, fake))
        ]
        told_apart = ((real_logits > 0).float().mean() + (fake_logits < 0).float().mean()) / 2
        return Loss(
            discriminator_loss(real_logits, fake_logits) + self.slope_weight * sum(slopes) / 2,
            told_apart=told_apart,
        )

    def halves(self, codes: Latents) -> Halves:
        """Return poses and views of codes of first views, then of second ones."""
        first, second = codes.chunk(2)
        return Halves(*first.chunk(2, dim=1), *second.chunk(2, dim=1))

    def encode(self, nets: Networks, images: Images) -> Latents:
        codes: Latents = nets.encoder(images)
        return codes

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        return Part(self.latent_dim, role="content"), Part(self.latent_dim, role="style")

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return what poses tell of views of the same images, by the estimate there is."""
        pose, view = self.encode(nets, images).chunk(2, dim=1)
        return {"view_told_by_pose": leak(nets.view_of_pose(pose), view)}


def information(one: Latents, other: Latents) -> Scalar:
    """Return the lower bound on the information of rows that belong together, at most 2 log 2."""
    products = one @ other.T
    count = len(products)
    own = math.log(2) - softplus(-products.diagonal()).mean()
    apart = softplus(products).sum() - softplus(products.diagonal()).sum()
    return own - (apart / (count * (count - 1)) - math.log(2))


def leak(q: DiagonalGaussian, told: Latents) -> Scalar:
    """Return the upper bound on what q's condition tells, a mean over dimensions; 0 or more."""
    precision = (-q.logvar).exp()
    own = (told - q.mean).square() * precision
    # The mean over all rows j of (b_j - μ_i)² is the square from their mean, and their variance.
    mean, variance = told.mean(0), told.var(0, correction=0)
    any_row = ((mean - q.mean).square() + variance) * precision
    return (0.5 * (any_row - own)).mean().clamp_min(0)
