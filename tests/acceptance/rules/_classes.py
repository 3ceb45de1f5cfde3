"""The rule of methods that are told the class of a few images."""

from collections.abc import Callable
from functools import cache

import numpy as np
from torch import Tensor
from torch.nn.functional import cross_entropy

from rules._labels import LABELS, labels_alone
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import NETWORK, judged_on, shapes, shuffled, train
from unweave.data import FactorImages
from unweave.evaluation.probes import leakage
from unweave.methods._classes import ClassAutoencoder
from unweave.networks import Architecture
from unweave.runs.run import Run

Namer = Callable[[np.ndarray], np.ndarray]
"""From images to the shapes on them."""


def classifier(rows: np.ndarray, *, seed: int, steps: int, network: Architecture) -> Namer:
    """Return what names shapes after learning from some rows."""
    import torch

    data = shapes()
    classes = torch.from_numpy(data.column("shape", rows)).long()

    def loss(logits: Tensor, chosen: Tensor) -> Tensor:
        return cross_entropy(logits, classes[chosen])

    encode = labels_alone(data, rows, 3, loss, seed=seed, steps=steps, network=network)
    return lambda images: encode(images).argmax(1)


@cache
def judge() -> Namer:
    """Return what names shapes after seeing all of them."""
    return classifier(np.arange(len(shapes())), seed=0, steps=1000, network=NETWORK)


def finding(run: Run, network: Architecture, *, seed: int) -> Finding:
    run, data = judged_on(run, shapes()), shapes()
    method, classes = run.config.method, data.column("shape")
    told = method.supervision.table(data).rows
    test = np.setdiff1d(np.arange(len(data)), told)
    content = run.encode(data.images(test))[:, run.code.roles["content"]]
    alone = classifier(told, seed=seed, steps=300, network=network)(data.images(test))
    leak = leakage(run, "shape")
    codes = run.prior_codes(1500)
    named = judge()(run.decode(codes)) == codes[:, :3].argmax(1)
    numbers = {
        "accuracy": float((content.argmax(1) == classes[test]).mean()),
        "accuracy of the labels alone": float((alone == classes[test]).mean()),
        "shape from z, linear": leak.linear["style"],
        "shape from z as drawn": leak.drawn["style"],
        "shape from means of z": leak.accuracy["style"],
        "samples of a class named so": float(named.mean()),
    }
    return Finding(numbers, same_style(run))


def same_style(run: Run, count: int = 8) -> dict[str, np.ndarray]:
    """Return lines of one class each and columns of one style each, to look at."""
    styles = run.prior_codes(count)[:, 3:]
    codes = np.concatenate(
        [np.concatenate([np.tile(np.eye(3)[k], (count, 1)), styles], axis=1) for k in range(3)]
    )
    return {"images": run.decode(codes.astype(np.float32))[:, 0].reshape(3, count, 32, 32)}


CHANCE = 1 / 3


def of_classes(
    name: str,
    make: Callable[[int], ClassAutoencoder],
    broken: dict[str, Callable[[int], ClassAutoencoder]],
    *,
    steps: int,
    network: Architecture,
    batch_size: int,
    margin: float,
    samples: float,
) -> Rule:
    """Return the rule of a method, given how it is made for a seed."""

    def checks(own: Columns, others: object) -> Checks:
        better = own["accuracy"] > own["accuracy of the labels alone"] + margin
        return {
            f"accuracy > labels alone + {margin:g}": bool(better.all()),
            "z, linear ≤ chance + 0.1": bool(own["shape from z, linear"].max() <= CHANCE + 0.1),
            "z as drawn ≤ chance + 0.15": bool(own["shape from z as drawn"].max() <= CHANCE + 0.15),
            f"samples > {samples:g}": bool(own["samples of a class named so"].min() > samples),
        }

    def trained(
        make: Callable[[int], ClassAutoencoder], data: Callable[[int], FactorImages]
    ) -> Measure:
        def measure(seed: int) -> Finding:
            options = {"network": network, "steps": steps, "batch_size": batch_size}
            run = train(make(seed), data=data(seed), seed=seed, **options)
            return finding(run, network, seed=seed)

        return measure

    def true(seed: int) -> FactorImages:
        return shapes()

    return Rule(
        covers=(name,),
        claim=f"{LABELS} labels of 3 shapes, each seed: shape of the other images named right more "
        f"often than by an encoder of the labels alone, by {margin:g} or more; named from z by a "
        "linear probe in at most chance + 0.1, by a forest from z as drawn in at most chance + "
        f"0.15; over {samples:g} of the samples of a class are named so by a classifier that has "
        "seen all images",
        method=trained(make, true),
        saboteurs={
            "labels shuffled": trained(make, lambda seed: shuffled(shapes(), seed)),
            **{what: trained(how, true) for what, how in broken.items()},
        },
        checks=checks,
        picture="Lines have one class each, columns one style each.",
    )
