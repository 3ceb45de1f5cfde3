"""M1+M2: how the codes of all images lie tells the classes of a few labels from each other.

The paper shows this with digits, whose classes lie apart in the code of a VAE, and with as many
labels of one as of the other. So does this rule: the first five of `glyphs`, upright and in the
middle, two labels of each. On `toy_shapes`, where a shape is a matter of few pixels and its codes
lie among those of the others, the second stage named as many images right without those that have
no label, and a rule on it was passed by that saboteur.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from rules._labels import labels_alone
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import judged_on, shuffled, train, untrained
from unweave.batches import LabelledBatch
from unweave.data import Column, DataOptions, Factor, FactorImages, glyphs
from unweave.data._pixels import BytePixels
from unweave.evaluation.few_labels import CLASSIFIERS, accuracy, draw_labelled
from unweave.methods import Loss, Turn
from unweave.methods.m1_m2 import M1M2
from unweave.networks import Networks
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

FIRST, STEPS, LABELS, DIGITS = 1000, 2200, 10, 5
Namer = Callable[[np.ndarray], np.ndarray]
"""From images to the digits on them."""


@cache
def digits(seed: int) -> FactorImages:
    """Return digits in few styles, two of each with their class beside them."""
    data = glyphs.load(None, DataOptions())
    digit, slant, _, _, turn, x, y = data.factors().T
    upright = (abs(slant - 2) < 2) & (abs(turn - 2) < 2)
    rows = np.flatnonzero((digit < DIGITS) & upright & (x == 2) & (y == 2))
    told = np.full(len(rows), -1)
    known = draw_labelled(digit[rows], LABELS, np.random.default_rng((seed, 0xD161)))
    told[known] = digit[rows][known]
    images = np.rint(255 * data.images(rows)[:, 0]).astype(np.uint8)
    kind = Factor("digit", DIGITS, categorical=True)
    labels = Column(Factor("label", DIGITS, categorical=True), told)
    return FactorImages(
        "digits", BytePixels(images), [kind], digit[rows][:, None], columns=[labels]
    )


def all_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return every image and its class."""
    data = digits(0)
    return data.images(np.arange(len(data))), data.column("digit")


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


def make(kind: type[M1M2] = M1M2, first: int = FIRST) -> M1M2:
    return kind(
        latent_dim=5,
        code_dim=10,
        likelihood="bernoulli",
        first_stage_steps=first,
        hidden=128,
        optimizer=Adam(1e-3),
        second_optimizer=Adam(1e-3),
    )


def namer(rows: np.ndarray, *, seed: int, steps: int) -> Namer:
    """Return what names digits after learning from some rows."""
    classes = torch.from_numpy(digits(0).column("digit", rows)).long()

    def loss(logits: Tensor, chosen: Tensor) -> Tensor:
        return cross_entropy(logits, classes[chosen])

    encode = labels_alone(digits(0), rows, DIGITS, loss, seed=seed, steps=steps)
    return lambda images: encode(images).argmax(1)


@cache
def judge() -> Namer:
    """Return what names digits after seeing all of them."""
    return namer(np.arange(len(digits(0))), seed=0, steps=600)


def finding(run: Run, seed: int) -> Finding:
    run = judged_on(run, digits(seed))
    images, classes = all_digits()
    told = run.config.method.supervision.table(run.data).rows
    others = np.setdiff1d(np.arange(len(images)), told)
    named = run.encode(images[others])[:, :DIGITS].argmax(1)
    alone = namer(told, seed=seed, steps=200)(images[others])
    with torch.no_grad():
        first = run.config.method.codes(run.nets, torch.from_numpy(images)).numpy()
    codes = run.prior_codes(1000)
    as_asked = judge()(run.decode(codes)) == codes[:, :DIGITS].argmax(1)
    numbers = {
        "accuracy": float((named == classes[others]).mean()),
        "accuracy of M1, the best": max(accuracy(first, classes, told, c) for c in CLASSIFIERS),
        "accuracy of the labels alone": float((alone == classes[others]).mean()),
        "samples of a class named so": float(as_asked.mean()),
    }
    return Finding(numbers, same_style(run))


def same_style(run: Run, count: int = 8) -> dict[str, np.ndarray]:
    """Return lines of one class each and columns of one style each, to look at."""
    codes = np.repeat(run.prior_codes(count)[None], DIGITS, axis=0)
    codes[:, :, :DIGITS] = np.eye(DIGITS)[:, None]
    images = run.decode(codes.reshape(DIGITS * count, -1))
    return {"images": images[:, 0].reshape(DIGITS, count, 32, 32)}


def trained(method: M1M2, data: Callable[[int], FactorImages] = digits) -> Measure:
    steps = STEPS - FIRST + (method.first_stage_steps or 0)

    def measure(seed: int) -> Finding:
        return finding(train(method, data=data(seed), seed=seed, steps=steps), seed)

    return measure


def checks(own: Columns, others: object) -> Checks:
    m1, alone = own["accuracy of M1, the best"], own["accuracy of the labels alone"]
    return {
        "accuracy > M1 + 0.1": bool((own["accuracy"] > m1 + 0.1).all()),
        "accuracy > labels alone + 0.03": bool((own["accuracy"] > alone + 0.03).all()),
        "samples > 0.9": bool(own["samples of a class named so"].min() > 0.9),
    }


RULE = Rule(
    covers=("m1_m2",),
    claim=f"{LABELS} labels of {DIGITS} digits, two of each, each seed: the other images named "
    "right more often than by the best of M1's classifiers of the same codes and labels, by 0.1 "
    "or more, and than by an encoder of the labels alone, by 0.03 or more; over 0.9 of the samples "
    "of a class are named so by a classifier that has seen all images",
    method=trained(make()),
    saboteurs={
        "labels shuffled": trained(make(), lambda seed: shuffled(digits(seed), seed)),
        "images without labels left out": trained(make(LabelsOnly)),
        "a first stage of one step": trained(make(first=1)),
        "untrained": lambda seed: finding(untrained(make(), data=digits(seed), seed=seed), seed),
    },
    checks=checks,
    picture="Lines have one class each, columns one style each.",
)
