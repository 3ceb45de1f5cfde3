"""What adversarial autoencoders with a cluster and a style share.

The cluster y is drawn by the straight-through Gumbel-softmax, E. Jang et al., ICLR
2017, arXiv:1611.01144. The softmax itself, as in the paper, is told from a one-hot
prior by its softness alone; it then runs to one corner for all images, where its
gradient vanishes.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.nn.functional import gumbel_softmax, one_hot

from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._code import Part
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, Networks, code_discriminator
from unweave.probability.adversarial import discriminator_loss, fooling_loss
from unweave.probability.priors import sample_one_hot
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar


class Drawn(NamedTuple):
    """The codes of a batch: logits of clusters, a cluster drawn from them, and the style."""

    logits: Latents
    y: Latents
    z: Latents


@dataclass(frozen=True, kw_only=True)
class ClusterStyleAutoencoder(Autoencoder):
    """A cluster y and a style z, each matched to its prior by its own judge."""

    adversarial_weight: Schedule = constant(5.0)
    """Weight w of fooling the discriminators, against pixels that are summed. Paper: a step of
    its own, with no weight."""
    temperature: float = 1.0
    """Temperature of the relaxation through which gradients reach the drawn cluster. Paper:
    none, the cluster is a softmax there."""
    discriminator_width: int = 1000
    """Units of each hidden layer of the discriminators. Paper: 1000."""
    discriminator_depth: int = 2
    """Hidden layers of the discriminators. Paper: 2."""
    discriminator_optimizer: Optimizer = Adam(1e-4, betas=(0.5, 0.9))
    """How the discriminators are updated. Paper: SGD with momentum; a public port: Adam, 1e-4."""

    swaps = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.temperature <= 0:
            raise ConfigError(f"temperature must be above 0, found {self.temperature}")

    def join(self, nets: Networks, y: Latents, z: Latents) -> Latents:
        """Return the code: all that the decoder sees of cluster and style."""
        return torch.cat([y, z], dim=1)

    @abstractmethod
    def cluster_count(self, data: DataSummary) -> int:
        """Return how many clusters there are."""

    def joined_size(self, clusters: int) -> int:
        """Return how many numbers the code has."""
        return clusters + self.latent_dim

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        width, depth = self.discriminator_width, self.discriminator_depth
        clusters = self.cluster_count(data)
        nets = Networks()
        nets.encoder = architecture.encoder(data.image_shape, clusters + self.latent_dim)
        nets.decoder = architecture.decoder(self.joined_size(clusters), data.image_shape)
        nets.cluster_discriminator = code_discriminator(clusters, width, depth)
        nets.style_discriminator = code_discriminator(self.latent_dim, width, depth)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        judges = ("cluster_discriminator", "style_discriminator")
        return {
            "autoencoder": Player(("encoder", "decoder"), self.optimizer),
            "discriminators": Player(judges, self.discriminator_optimizer),
        }

    def split(self, nets: Networks, images: Images) -> tuple[Latents, Latents]:
        """Return the logits of clusters and the style."""
        outputs = nets.encoder(images).float()
        return outputs[:, : -self.latent_dim], outputs[:, -self.latent_dim :]

    def draw_cluster(self, logits: Latents) -> Latents:
        """Draw one-hot clusters; gradients pass through the Gumbel-softmax relaxation."""
        return gumbel_softmax(logits, tau=self.temperature, hard=True)

    def likeliest_cluster(self, logits: Latents) -> Latents:
        """Return the one-hot likeliest cluster; gradients are those of the softmax."""
        soft = logits.softmax(1)
        hard = one_hot(soft.argmax(1), soft.shape[1]).to(soft.dtype)
        # Adding 0 leaves the one-hot as it is and passes gradients on.
        return hard + (soft - soft.detach())

    def prior_clusters(self, nets: Networks, count: int) -> Latents:
        """Draw one-hot clusters from their prior: all are equally likely."""
        first = nets.cluster_discriminator[0]
        return sample_one_hot(count, first.in_features, first.weight.device)

    def autoencoder_loss(self, nets: Networks, images: Images, drawn: Drawn, step: int) -> Loss:
        """Return what the autoencoder lowers."""
        reconstruction = self.reconstruction(nets, self.join(nets, drawn.y, drawn.z), images)
        fooling_y = fooling_loss(nets.cluster_discriminator(drawn.y))
        fooling_z = fooling_loss(nets.style_discriminator(drawn.z))
        return Loss(
            reconstruction + self.adversarial_weight.at(step) * (fooling_y + fooling_z),
            reconstruction=reconstruction,
            fooling_cluster=fooling_y,
            fooling_style=fooling_z,
        )

    def turns(self, nets: Networks, batch: Any, step: int) -> Iterator[Turn]:
        logits, z = self.split(nets, batch.images)
        y = self.draw_cluster(logits)
        drawn = Drawn(logits, y, z)
        yield Turn("autoencoder", self.autoencoder_loss(nets, batch.images, drawn, step))

        one_hot = self.prior_clusters(nets, len(y))
        judge_y, judge_z = nets.cluster_discriminator, nets.style_discriminator
        cluster = discriminator_loss(judge_y(one_hot), judge_y(y.detach()))
        style = discriminator_loss(judge_z(torch.randn_like(z)), judge_z(z.detach()))
        yield Turn("discriminators", Loss(cluster + style, cluster=cluster, style=style))

    def encode(self, nets: Networks, images: Images) -> Latents:
        logits, z = self.split(nets, images)
        return self.join(nets, logits.softmax(1), z)

    def draw_codes(self, nets: Networks, images: Images) -> Latents:
        """Return codes with a cluster drawn, as decoders see them; a style has no noise."""
        logits, z = self.split(nets, images)
        return self.join(nets, self.draw_cluster(logits), z)

    def swap(self, nets: Networks, content_images: Images, style_images: Images) -> Images:
        """Decode the likeliest clusters of some images with the styles of others.

        Decoders have seen one cluster at a time, never a blend.
        """
        logits, _ = self.split(nets, content_images)
        _, z = self.split(nets, style_images)
        return self.decode(nets, self.join(nets, self.likeliest_cluster(logits), z))

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        return (
            Part(self.cluster_count(data), "category", "content"),
            Part(self.latent_dim, role="style"),
        )

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        y = self.prior_clusters(nets, count)
        return self.join(nets, y, torch.randn(count, self.latent_dim).to(y.device))


@dataclass(frozen=True, kw_only=True)
class ClusteringAutoencoder(ClusterStyleAutoencoder):
    """Clusters that nobody has named."""

    clusters: int = 16
    """Number of clusters. Paper: 16 or 30 to cluster, 20 to reduce dimensions."""
    decision_weight: Schedule = constant(3.0)
    """Weight v of the information of clusters about images, without which nothing makes an
    image's cluster certain. Paper: 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.clusters < 2:
            raise ConfigError(f"clusters must be 2 or more, found {self.clusters}")

    def autoencoder_loss(self, nets: Networks, images: Images, drawn: Drawn, step: int) -> Loss:
        loss = super().autoencoder_loss(nets, images, drawn, step)
        information = cluster_information(drawn.logits)
        weighted = self.decision_weight.at(step) * information
        return loss.plus(-weighted, information=information)

    def cluster_count(self, data: DataSummary) -> int:
        return self.clusters


def cluster_information(logits: Latents) -> Scalar:
    """Return I(x; y) = H(E q(y|x)) - E H(q(y|x)) over a batch, in nats.

    At most log clusters: each image is certain of its cluster, and all are used alike.
    """
    log_q = logits.log_softmax(1)
    q = log_q.exp()
    mean = q.mean(0)
    # The least probability in single precision: a cluster that nobody takes adds 0.
    entropy_of_mean = -(mean * mean.clamp_min(1e-30).log()).sum()
    return entropy_of_mean + (q * log_q).sum(1).mean()
