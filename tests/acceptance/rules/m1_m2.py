"""M1+M2: a few labels name the codes of a VAE that has seen all images."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rules._classes import finding
from rules._labels import LABELS
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import NETWORK, shapes, shuffled, train, untrained
from unweave.batches import LabelledBatch
from unweave.data import FactorImages
from unweave.methods import Loss, Turn
from unweave.methods.m1_m2 import M1M2
from unweave.networks import Networks
from unweave.settings.optimizers import Adam

FIRST, STEPS = 1000, 2200


@dataclass(frozen=True, kw_only=True)
class LabelsOnly(M1M2):
    """Learns, in its second stage, from labelled images alone."""

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Turn]:
        for turn in super().turns(nets, batch, step):
            terms = turn.loss.terms
            if turn.player == "m2":
                weight = self.classification_weight.at(step)
                total = terms["labelled_bound"] + weight * terms["classification"]
                turn = Turn(turn.player, Loss(total))
            yield turn


def make(seed: int, kind: type[M1M2] = M1M2, first: int = FIRST) -> M1M2:
    return kind(
        latent_dim=3,
        code_dim=10,
        labels=LABELS,
        label_seed=seed,
        first_stage_steps=first,
        # A shape is a matter of few pixels: were the KL dearer, it would not be in the code.
        beta=0.2,
        classification_weight=5,
        hidden=128,
        optimizer=Adam(1e-3),
        second_optimizer=Adam(1e-3),
    )


def trained(
    make: Callable[[int], M1M2], data: Callable[[int], FactorImages] = lambda _: shapes()
) -> Measure:
    def measure(seed: int) -> Finding:
        method = make(seed)
        steps = STEPS - FIRST + (method.first_stage_steps or 0)
        run = train(method, data=data(seed), seed=seed, network=NETWORK, steps=steps)
        return finding(run, NETWORK, seed=seed)

    return measure


def checks(own: Columns, others: object) -> Checks:
    better = own["accuracy"] > own["accuracy of the labels alone"] + 0.1
    return {
        "accuracy > labels alone + 0.1": bool(better.all()),
        "samples > 0.45": bool(own["samples of a class named so"].min() > 0.45),
    }


RULE = Rule(
    covers=("m1_m2",),
    claim=f"{LABELS} labels of 3 shapes, each seed: shape of the other images named right more "
    "often than by an encoder of the labels alone, by 0.1 or more; over 0.45 of the samples of a "
    "class are named so by a classifier that has seen all images",
    method=trained(make),
    saboteurs={
        "labels shuffled": trained(make, lambda seed: shuffled(shapes(), seed)),
        "images without labels left out": trained(lambda seed: make(seed, LabelsOnly)),
        "a first stage of one step": trained(lambda seed: make(seed, first=1)),
        "untrained": lambda seed: finding(
            untrained(make(seed), data=shapes(), seed=seed), NETWORK, seed=seed
        ),
    },
    checks=checks,
    picture="Lines have one class each, columns one style each.",
)
