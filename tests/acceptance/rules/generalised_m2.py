"""Generalised M2: a class recognised in the image and in a latent, by weighted draws of that."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from rules._labels import labels_alone
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import judged_on, shuffled, squares, train, untrained
from unweave.batches import LabelledBatch
from unweave.data import FactorImages
from unweave.evaluation.probes import leakage
from unweave.methods import Loss, Turn
from unweave.methods._conditionals import by_what_is_told
from unweave.methods.generalised_m2 import GeneralisedM2
from unweave.networks import Networks
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

STEPS, LABELS, DRAWS = 800, 40, 4
SIDES = 4
Namer = Callable[[np.ndarray], np.ndarray]
"""From images to the sides of the squares on them."""


@dataclass(frozen=True, kw_only=True)
class LabelsOnly(GeneralisedM2):
    """Learns from labelled images alone."""

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Turn]:
        for turn in super().turns(nets, batch, step):
            told = self.alpha.at(step) * turn.loss.terms["labels"]
            yield Turn(turn.player, Loss(turn.loss.terms["labelled_bound"] + told))


def make(seed: int, kind: type[GeneralisedM2] = GeneralisedM2, draws: int = DRAWS) -> GeneralisedM2:
    """The latent has room for x and y, so that the side is left to its class."""
    return kind(
        structure="q(z[2]|image) q(side|image,z)",
        labels=LABELS,
        label_seed=seed,
        draws=draws,
        class_warmup_steps=50,
        hidden=128,
        optimizer=Adam(1e-3),
    )


def namer(rows: np.ndarray, *, seed: int, steps: int) -> Namer:
    """Return what names sides after learning from some rows."""
    classes = torch.from_numpy(squares().column("side", rows)).long()

    def loss(logits: Tensor, chosen: Tensor) -> Tensor:
        return cross_entropy(logits, classes[chosen])

    encode = labels_alone(squares(), rows, SIDES, loss, seed=seed, steps=steps)
    return lambda images: encode(images).argmax(1)


@cache
def judge() -> Namer:
    """Return what names sides after seeing all images."""
    return namer(np.arange(len(squares())), seed=0, steps=600)


def effective_draws(run: Run) -> float:
    """Return how many of the draws of a labelled image count, in the mean."""
    method, data = run.config.method, squares()
    rows, values = method.supervision.table(data)
    ((_, labels),) = by_what_is_told(run.nets.made.among, ("side",), torch.from_numpy(values))
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        images = torch.from_numpy(data.images(rows))
        return float(method.bounds(run.nets, images, labels, draws=DRAWS).draws.mean())


def finding(run: Run, seed: int) -> Finding:
    run, data = judged_on(run, squares()), squares()
    classes, part = data.column("side"), run.code.roles["content"]
    told = run.config.method.supervision.table(data).rows
    test = np.setdiff1d(np.arange(len(data)), told)
    named = run.encode(data.images(test))[:, part].argmax(1)
    by_draws = named_by_draws(run).encode(data.images(test))[:, part].argmax(1)
    alone = namer(told, seed=seed, steps=150)(data.images(test))
    codes = run.prior_codes(1000)
    as_asked = judge()(run.decode(codes)) == codes[:, part].argmax(1)
    numbers = {
        "accuracy": float((named == classes[test]).mean()),
        "accuracy by draws": float((by_draws == classes[test]).mean()),
        "accuracy of the labels alone": float((alone == classes[test]).mean()),
        "side from z, linear": leakage(run, "side").linear["style"],
        "samples of a class named so": float(as_asked.mean()),
        f"draws that count, of {DRAWS}": effective_draws(run),
    }
    return Finding(numbers, same_style(run))


def named_by_draws(run: Run) -> Run:
    """Return the run with classes found by which of them explain an image best."""
    method = replace(run.config.method, named_by="draws")
    config = replace(run.config, method=method)
    return Run(config, run.summary, run.nets, step=run.step, data=run.data)


def same_style(run: Run, count: int = 8) -> dict[str, np.ndarray]:
    """Return lines of one class each and columns of one style each, to look at."""
    codes = np.repeat(run.prior_codes(count)[None], SIDES, axis=0)
    codes[:, :, run.code.roles["content"]] = np.eye(SIDES)[:, None]
    images = run.decode(codes.reshape(SIDES * count, -1))
    return {"images": images[:, 0].reshape(SIDES, count, 32, 32)}


def trained(
    make: Callable[[int], GeneralisedM2], data: Callable[[int], FactorImages] = lambda _: squares()
) -> Measure:
    def measure(seed: int) -> Finding:
        run = train(make(seed), data=data(seed), seed=seed, steps=STEPS, batch_size=32)
        return finding(run, seed)

    return measure


ONE = "one draw"


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    better = own["accuracy"] > own["accuracy of the labels alone"] + 0.1
    # A seed draws the labels too, which decide more than draws do: seeds are compared in pairs.
    gained = np.median(own["accuracy"] - others[ONE]["accuracy"])
    return {
        "accuracy > labels alone + 0.1": bool(better.all()),
        f"{DRAWS} draws as good as one, median": bool(gained >= -0.01),
        "samples > 0.5": bool(own["samples of a class named so"].min() > 0.5),
    }


RULE = Rule(
    covers=("generalised_m2",),
    claim=f"{LABELS} labels of 4 sides of squares, q(z|image) q(side|image,z), each seed: side of "
    "the other images named right more often than by an encoder of the labels alone, by 0.1 or "
    "more; over half of the samples of a class named so by a classifier that has seen all images; "
    f"with {DRAWS} draws at most 0.01 fewer than with one, in the median of the seeds' differences",
    method=trained(make),
    saboteurs={
        "labels shuffled": trained(make, lambda seed: shuffled(squares(), seed)),
        "images without labels left out": trained(lambda seed: make(seed, LabelsOnly)),
        "untrained": lambda seed: finding(untrained(make(seed), data=squares(), seed=seed), seed),
    },
    references={ONE: trained(lambda seed: make(seed, draws=1))},
    checks=checks,
    picture="Lines have one class each, columns one style each.",
)
