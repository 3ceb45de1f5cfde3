"""Semi-supervised AAE: a class that few labels name, and a style that says nothing of it.

A. Makhzani et al., "Adversarial Autoencoders", 2015, arXiv:1511.05644, section 4. The
networks and the game are those of `aae_clustering`, with as many clusters as classes;
labelled images x', y' say which is which:

    autoencoder      E[-log p(x|y, z)] - w E log D_y(y) - w E log D_z(z) - α E log q(y'|x')
    discriminators   -E log D(prior) - E log(1 - D(code)), for y and for z

The prior of y should match how often the classes occur (`class_prior`). The code given
to metrics is the probabilities of the classes, and z.

Differs from the paper: its three phases are one update of their weighted sum, as in
`aae`, and y is drawn by Gumbel-softmax instead of being a softmax, which the
discriminator would tell from one-hot by its softness alone.

Use it if a few images have a class and the style shall follow a prior exactly. Not if training
must be easy: `m2` says the same with one player.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from torch.nn.functional import cross_entropy

from unweave.batches import LabelledBatch
from unweave.data import DataSummary
from unweave.methods._classes import ClassAutoencoder, ClassPrior
from unweave.methods._cluster_style import ClusterStyleAutoencoder
from unweave.methods._method import Turn
from unweave.networks import Architecture, Networks
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Latents


@dataclass(frozen=True, kw_only=True)
class AAESemiSupervised(ClassAutoencoder, ClusterStyleAutoencoder):
    classification_weight: Schedule = constant(10.0)
    """Weight α of the classifier's loss, against pixels that are summed."""

    def cluster_count(self, data: DataSummary) -> int:
        return self.class_count(data)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.classes = ClassPrior(self.class_count(data))
        return nets

    def prior_clusters(self, nets: Networks, count: int) -> Latents:
        drawn: Latents = nets.classes.sample(count)
        return drawn

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Turn]:
        for turn in super().turns(nets, batch.unlabelled, step):
            if turn.player == "autoencoder":
                logits, _ = self.split(nets, batch.images)
                classification = cross_entropy(logits, batch.labels[:, 0].long())
                weighted = self.classification_weight.at(step) * classification
                turn = Turn(turn.player, turn.loss.plus(weighted, classification=classification))
            yield turn
