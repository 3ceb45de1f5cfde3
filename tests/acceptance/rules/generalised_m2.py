"""Generalised M2: a class recognised in the image and in a latent, by weighted draws of that."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from rules._classes import classifier, judge
from rules._labels import LABELS
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import judged_on, shapes, shuffled, train, untrained
from unweave.batches import LabelledBatch
from unweave.data import FactorImages
from unweave.evaluation.probes import leakage
from unweave.methods import Loss, Turn
from unweave.methods._conditionals import by_what_is_told
from unweave.methods.generalised_m2 import GeneralisedM2
from unweave.networks import Networks
from unweave.networks.conv_any import ConvAny
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule

STEPS = 3000
DRAWS = 8
NETWORK = ConvAny(channels=(16, 16, 32), hidden=128)
CHANCE = 1 / 3


@dataclass(frozen=True, kw_only=True)
class LabelsOnly(GeneralisedM2):
    """Learns from labelled images alone."""

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Turn]:
        for turn in super().turns(nets, batch, step):
            told = self.alpha.at(step) * turn.loss.terms["labels"]
            yield Turn(turn.player, Loss(turn.loss.terms["labelled_bound"] + told))


def make(seed: int, kind: type[GeneralisedM2] = GeneralisedM2, draws: int = DRAWS) -> GeneralisedM2:
    return kind(
        structure="q(z[3]|image) q(shape|image,z)",
        labels=LABELS,
        label_seed=seed,
        draws=draws,
        beta=Schedule(1, 5, 1500, wait=1500),
        class_warmup_steps=200,
        hidden=128,
        optimizer=Adam(2e-3),
    )


def effective_draws(run: Run) -> float:
    """Return how many of the draws of a labelled image count, in the mean."""
    method, data = run.config.method, shapes()
    rows, values = method.supervision.table(data)
    ((_, labels),) = by_what_is_told(run.nets.made.among, ("shape",), torch.from_numpy(values))
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        images = torch.from_numpy(data.images(rows))
        return float(method.bounds(run.nets, images, labels, draws=DRAWS).draws.mean())


def finding(run: Run, seed: int) -> Finding:
    run, data = judged_on(run, shapes()), shapes()
    classes = data.column("shape")
    told = run.config.method.supervision.table(data).rows
    test = np.setdiff1d(np.arange(len(data)), told)
    content = run.encode(data.images(test))[:, run.code.roles["content"]]
    alone = classifier(told, seed=seed, steps=300, network=NETWORK)(data.images(test))
    codes = run.prior_codes(1500)
    named = judge()(run.decode(codes)) == codes[:, run.code.roles["content"]].argmax(1)
    begun = untrained(make(seed), data=data, seed=seed, network=NETWORK)
    numbers = {
        "accuracy": float((content.argmax(1) == classes[test]).mean()),
        "accuracy of the labels alone": float((alone == classes[test]).mean()),
        "shape from z, linear": leakage(run, "shape").linear["style"],
        "samples of a class named so": float(named.mean()),
        "draws that count at the start, of 8": effective_draws(begun),
        "draws that count at the end, of 8": effective_draws(run),
    }
    return Finding(numbers, same_style(run))


def same_style(run: Run, count: int = 8) -> dict[str, np.ndarray]:
    """Return lines of one class each and columns of one style each, to look at."""
    codes = np.repeat(run.prior_codes(count)[None], 3, axis=0)
    codes[:, :, run.code.roles["content"]] = np.eye(3)[:, None]
    images = run.decode(codes.reshape(3 * count, -1))
    return {"images": images[:, 0].reshape(3, count, 32, 32)}


def trained(
    make: Callable[[int], GeneralisedM2], data: Callable[[int], FactorImages] = lambda _: shapes()
) -> Measure:
    def measure(seed: int) -> Finding:
        options = {"network": NETWORK, "steps": STEPS, "batch_size": 32}
        return finding(train(make(seed), data=data(seed), seed=seed, **options), seed)

    return measure


ONE = "one draw"


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    better = own["accuracy"] > own["accuracy of the labels alone"] + 0.1
    one = np.median(others[ONE]["accuracy"])
    return {
        "accuracy > labels alone + 0.1": bool(better.all()),
        "eight draws as good as one, median": bool(np.median(own["accuracy"]) >= one - 0.01),
        "weights are alive": bool(
            (own["draws that count at the start, of 8"] < 0.999 * DRAWS).all()
        ),
        "z, linear ≤ chance + 0.1": bool(own["shape from z, linear"].max() <= CHANCE + 0.1),
        "samples > 0.8": bool(own["samples of a class named so"].min() > 0.8),
    }


RULE = Rule(
    covers=("generalised_m2",),
    claim=f"{LABELS} labels of 3 shapes, q(z|image) q(shape|image,z), each seed: shape of other "
    "images named right more often than by an encoder of the labels alone, by 0.1 or more; named "
    "from z by a linear probe in at most chance + 0.1; over 0.8 of the samples of a class named so "
    "by a classifier that has seen all images; over seeds the median accuracy with 8 draws is not "
    "below that with one by more than 0.01",
    method=trained(make),
    saboteurs={
        "labels shuffled": trained(make, lambda seed: shuffled(shapes(), seed)),
        "images without labels left out": trained(lambda seed: make(seed, LabelsOnly)),
        "untrained": lambda seed: finding(
            untrained(make(seed), data=shapes(), seed=seed, network=NETWORK), seed
        ),
    },
    references={ONE: trained(lambda seed: make(seed, draws=1))},
    checks=checks,
    picture="Lines have one class each, columns one style each.",
)
