"""M2: images without labels teach what the classes are, and the style is free of them."""

from collections.abc import Iterator
from dataclasses import dataclass

from rules._classes import of_classes
from rules._labels import LABELS
from unweave.batches import LabelledBatch
from unweave.methods import Loss, Turn
from unweave.methods.m2 import M2
from unweave.networks import Networks
from unweave.networks.conv_any import ConvAny
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule


@dataclass(frozen=True, kw_only=True)
class LabelsOnly(M2):
    """Learns from labelled images alone."""

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Turn]:
        for turn in super().turns(nets, batch, step):
            weighted = self.classification_weight.at(step) * turn.loss.terms["classification"]
            yield Turn(turn.player, Loss(turn.loss.terms["labelled_bound"] + weighted))


def make(seed: int, kind: type[M2] = M2) -> M2:
    """The style has room for the class too until its KL weighs more; had it weighed more from
    the start, classes would not all be found."""
    return kind(
        latent_dim=3,
        labels=LABELS,
        label_seed=seed,
        beta=Schedule(1, 5, 1400, wait=1400),
        class_warmup_steps=200,
        hidden=128,
        optimizer=Adam(2e-3),
    )


RULE = of_classes(
    "m2",
    make,
    {"images without labels left out": lambda seed: make(seed, LabelsOnly)},
    steps=2800,
    network=ConvAny(channels=(16, 16, 32), hidden=128),
    batch_size=32,
    margin=0.15,
    samples=0.8,
)
