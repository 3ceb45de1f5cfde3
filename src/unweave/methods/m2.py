"""M2: the class is a latent variable, known of a few images and summed over for the others.

D. P. Kingma et al., "Semi-supervised Learning with Deep Generative Models", NeurIPS
2014, arXiv:1406.5298. Equations (6) to (9): with a class y, a style z ~ N(0, I) and the
bound of an image whose class is known

    L(x, y) = E[-log p(x|y, z)] - log p(y) + KL(q(z|x, y) ‖ p(z))
    U(x)    = Σ_y q(y|x) L(x, y) - H(q(y|x))          the class not known

the loss is (1 - s) E U(x) + s E L(x', y') - α E log q(y'|x'), with x', y' from the
labelled images and s their share of all. The last term is the only one by which labels
reach q(y|x).

Early on, whichever class happens to draw an image best would draw it ever better, and
classes would come to mean something else than the labels say. For a while
(`class_warmup_steps`) U therefore teaches q(y|x) nothing, and classes are told apart by
the labels alone while the decoder learns what they look like. And as a class costs as much
told by y as told by z, z may keep it; it is cheaper told by y once the KL of z weighs more
(`beta`), best after the classes are found, such as 1:5:2500:2500.

The code given to metrics is q(y|x) and the mean of z for the likeliest class.

Differs from the paper: q(y|x) and q(z|x, y) start from the same features of the image,
so that what is learnt without labels helps the classifier; y joins those features; the
layers are those of `--architecture`. The warm-up and `beta` are ours.

Use it if a few images have a class, and images of a class in any style are wanted. Not with a
handful of labels and no warm-up, as classes then come to mean something else; and not for several
labels, for which there is `generalised_m2`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from unweave.batches import LabelledBatch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._classes import ClassAutoencoder, ClassPrior
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, ConditionalEncoder, Networks
from unweave.probability.class_bound import marginal_bound
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.likelihood import negative_log_likelihoods
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar


class Bounds(NamedTuple):
    """L(x, y) of lines, and what it is made of besides -log p(y)."""

    total: Tensor
    reconstruction: Tensor
    kl: Tensor


@dataclass(frozen=True, kw_only=True)
class M2(ClassAutoencoder):
    classification_weight: Schedule = constant(10.0)
    """Weight α of the classifier's loss, against bounds in nats of an image. Paper: 0.1."""
    beta: Schedule = constant(1.0)
    """Weight of the KL of the style. Paper: 1; above it, a class is told more cheaply by y than
    by z."""
    class_warmup_steps: int = 0
    """Steps in which q(y|x) learns from labels alone, before images without any have a say.
    Paper: 0."""
    hidden: int = 256
    """Features of an image, and units of the layer in which they meet y. Paper: 500."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.class_warmup_steps < 0:
            raise ConfigError(
                f"class_warmup_steps must be 0 or more, found {self.class_warmup_steps}"
            )

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        classes, shape = self.class_count(data), data.image_shape
        nets = Networks()
        nets.classes = ClassPrior(classes)
        nets.encoder = ConditionalEncoder(
            architecture, shape, given=classes, hidden=self.hidden, latent_dim=self.latent_dim
        )
        nets.classifier = nn.Linear(self.hidden, classes)
        nets.decoder = architecture.decoder(classes + self.latent_dim, shape)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        owns = ("classifier", "encoder", "decoder")
        return {"autoencoder": Player(owns, self.optimizer)}

    def bounds(
        self, nets: Networks, features: Tensor, images: Images, y: Latents, beta: float = 1.0
    ) -> Bounds:
        """Return L(x, y) of each line, (line,)."""
        q = nets.encoder.posterior(features, y)
        output = nets.decoder(torch.cat([y, q.sample()], dim=1))
        reconstruction = negative_log_likelihoods(self.likelihood, output, images, self.pixel_scale)
        kl = q.kl_to_prior().sum(1)
        log_prior = y @ nets.classes.probabilities.log()
        return Bounds(reconstruction - log_prior + beta * kl, reconstruction, kl)

    def every_class(
        self, nets: Networks, images: Images, beta: float = 1.0
    ) -> tuple[Tensor, Bounds]:
        """Return log q(y|x) and the bounds, each (image, class)."""
        classes = len(nets.classes)
        features = nets.encoder.features(images)
        log_q = nets.classifier(features).float().log_softmax(1)
        features = features.repeat_interleave(classes, dim=0)
        images = images.repeat_interleave(classes, dim=0)
        y = torch.eye(classes, device=images.device).repeat(len(log_q), 1)
        bounds = self.bounds(nets, features, images, y, beta)
        return log_q, Bounds(*(part.view(-1, classes) for part in bounds))

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Turn]:
        beta = self.beta.at(step)
        log_q, bounds = self.every_class(nets, batch.unlabelled.images, beta)
        if step < self.class_warmup_steps:
            log_q = log_q.detach()
        unlabelled, entropy = marginal_bound(log_q, bounds.total)

        told = batch.labels[:, 0].long()
        y = one_hot(told, len(nets.classes)).float()
        features = nets.encoder.features(batch.images)
        labelled = self.bounds(nets, features, batch.images, y, beta).total.mean()
        classification = cross_entropy(nets.classifier(features).float(), told)

        share = batch.labelled / batch.population
        total = (1 - share) * unlabelled + share * labelled
        yield Turn(
            "autoencoder",
            Loss(
                total + self.classification_weight.at(step) * classification,
                unlabelled_bound=unlabelled,
                labelled_bound=labelled,
                classification=classification,
                class_entropy=entropy,
            ),
        )

    def class_and_style(self, nets: Networks, images: Images) -> tuple[Tensor, DiagonalGaussian]:
        """Return q(y|x), and q(z|x, y) of the likeliest class."""
        features = nets.encoder.features(images)
        y = nets.classifier(features).float().softmax(1)
        likeliest = one_hot(y.argmax(1), len(nets.classes)).float()
        return y, nets.encoder.posterior(features, likeliest)

    def encode(self, nets: Networks, images: Images) -> Latents:
        y, style = self.class_and_style(nets, images)
        return torch.cat([y, style.mean], dim=1)

    def draw_codes(self, nets: Networks, images: Images) -> Latents:
        y, style = self.class_and_style(nets, images)
        return torch.cat([y, style.sample()], dim=1)

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        y = nets.classes.sample(count)
        return torch.cat([y, torch.randn(count, self.latent_dim).to(y.device)], dim=1)

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return the terms of the evidence bound without labels."""
        log_q, bounds = self.every_class(nets, images)
        unlabelled, entropy = marginal_bound(log_q, bounds.total)
        q = log_q.exp()
        return {
            "reconstruction": (q * bounds.reconstruction).sum(1).mean(),
            "kl": (q * bounds.kl).sum(1).mean(),
            "class_entropy": entropy,
            "elbo": -unlabelled,
        }
