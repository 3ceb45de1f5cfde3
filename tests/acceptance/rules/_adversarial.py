"""The rule of the adversarial autoencoder, and its discriminator asleep."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rules._matched import matched
from rules._rule import Rule
from rules._training import DISCRIMINATOR, FAST, train
from unweave.batches import Batch
from unweave.methods import Turn
from unweave.methods.aae import AAE
from unweave.networks import Networks


@dataclass(frozen=True, kw_only=True)
class Asleep(AAE):
    """Its discriminator never plays."""

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Turn]:
        yield next(super().turns(nets, batch, step))


def of_encoder(encoder: Literal["deterministic", "gaussian"]) -> Rule:
    """Return the rule of one kind of encoder."""
    settings = {"encoder": encoder, "adversarial_weight": 5, **FAST, **DISCRIMINATOR}
    return matched(
        "aae",
        AAE(**settings),
        AAE(**settings | {"adversarial_weight": 0}),
        what=f"{encoder} encoder, w = 5",
        unmatched_is="a plain autoencoder (w = 0)",
        broken={"discriminator asleep": lambda seed: train(Asleep(**settings), seed=seed)},
    )
