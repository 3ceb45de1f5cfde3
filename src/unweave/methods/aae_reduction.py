"""AAE for reducing dimensions: cluster heads apart from each other, plus a style.

A. Makhzani et al., "Adversarial Autoencoders", 2015, arXiv:1511.05644, section 6.
The code is the head of the image's cluster with its style around it,

    r = Σ_k y_k c_k + z,

and is all that the decoder sees. The losses are those of `aae_clustering`, plus a
repulsion that ends at the distance η:

    μ Σ_{i<j} max(0, η - ‖c_i - c_j‖)

The code given to metrics is the head of the likeliest cluster plus the style: like the
decoder, it knows no blends of heads.

Differs from the paper as `aae_clustering` does.

Use it to look at images in a plane in which clusters keep apart. Not as a code for further work:
two dimensions leave most of an image out, and on our small images neighbours were not reliably of
one class more often than by PCA.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._cluster_style import ClusteringAutoencoder, Drawn
from unweave.methods._code import Part
from unweave.methods._method import Loss, Player
from unweave.networks import Architecture, Networks
from unweave.tensors import Images, Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class AAEReduction(ClusteringAutoencoder):
    latent_dim: int = 2
    """Number of dimensions of the code. Paper: 2 to look at, 10."""
    head_distance: float = 2.0
    """η, the distance beyond which two heads leave each other alone; a style varies by 1.
    A public port: 1."""
    repulsion_weight: float = 10.0
    """μ, weight of the repulsion."""

    main_knob = "head_distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.head_distance <= 0:
            raise ConfigError(f"head_distance must be above 0, found {self.head_distance}")
        self.refuse_negative("repulsion_weight")

    def joined_size(self, clusters: int) -> int:
        return self.latent_dim

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        """Return numbers without a role: head and style are added up in every one of them."""
        return (Part(self.latent_dim),)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.heads = nn.Linear(self.clusters, self.latent_dim, bias=False)  # columns are heads
        nn.init.normal_(nets.heads.weight, std=self.head_distance)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        owns = ("encoder", "decoder", "heads")
        return super().players | {"autoencoder": Player(owns, self.optimizer)}

    def join(self, nets: Networks, y: Latents, z: Latents) -> Latents:
        r: Latents = nets.heads(y) + z
        return r

    def encode(self, nets: Networks, images: Images) -> Latents:
        logits, z = self.split(nets, images)
        return self.join(nets, self.likeliest_cluster(logits), z)

    def autoencoder_loss(self, nets: Networks, images: Images, drawn: Drawn, step: int) -> Loss:
        loss = super().autoencoder_loss(nets, images, drawn, step)
        repelled = repulsion(nets.heads.weight.T, self.head_distance)
        return loss.plus(self.repulsion_weight * repelled, repulsion=repelled)


def repulsion(heads: Tensor, distance: float) -> Scalar:
    """Return Σ_{i<j} max(0, η − ‖c_i − c_j‖) of heads (cluster, dimension)."""
    first, second = torch.triu_indices(len(heads), len(heads), offset=1)
    # The root of 0 has no gradient; this much below it keeps one.
    apart = ((heads[first] - heads[second]).square().sum(1) + 1e-8).sqrt()
    return (distance - apart).clamp_min(0).sum()
