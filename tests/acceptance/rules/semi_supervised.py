"""Few labels: dimension k becomes factor k, better than from the labels alone."""

import numpy as np
import torch

from rules._labels import LABELS, labels_alone
from rules._measures import traversals
from rules._rule import Checks, Columns, Finding, Rule
from rules._training import FAST, TANH, all_images, judged_on, shuffled, squares, train
from unweave.data import FactorImages
from unweave.methods._label_losses import HEADS
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.semi_supervised import SemiSupervised
from unweave.metrics import mig
from unweave.runs.run import Run

STEPS = 1500
ALONE = BetaVAE(beta=4, **FAST)


def aligned(codes: np.ndarray) -> dict[str, float]:
    found = mig(codes, squares().factors())
    right = np.mean(np.asarray(found.details["best_code"]) == np.arange(3))
    return {"MIG": float(found.value), "factors at their dimension": float(right)}


def finding(run: Run) -> Finding:
    run = judged_on(run, squares())
    return Finding(aligned(run.encode(all_images(run.data))), traversals(run))


def with_labels(seed: int, data: FactorImages | None = None, weight: float = 640) -> Finding:
    twin = SemiSupervised(ALONE, labels=LABELS, label_seed=seed, label_weight=weight)
    return finding(train(twin, data=data, network=TANH, seed=seed, steps=STEPS))


def from_labels_alone(seed: int) -> Finding:
    data = squares()
    twin = SemiSupervised(ALONE, labels=LABELS, label_seed=seed)
    rows, values = twin.supervision.table(data)
    head, labels = HEADS["xent"](data.factor_sizes), torch.from_numpy(values)

    def loss(codes: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        return head(codes, labels[chosen])

    encode = labels_alone(data, rows, 3, loss, seed=seed, steps=STEPS, network=TANH)
    return Finding(aligned(encode(all_images(data))))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    best = max(columns["MIG"].max() for columns in others.values())
    return {
        "MIG > the others' best + 0.1": bool(own["MIG"].min() > best + 0.1),
        "factor k in dimension k": bool((own["factors at their dimension"] == 1).all()),
    }


RULE = Rule(
    covers=("semi_supervised",),
    claim="100 labels, twin of β-VAE (β = 4): MIG of each seed above that of the best seed of "
    "β-VAE and of an encoder of the labels alone by 0.1 or more; the dimension that knows most "
    "of factor k is k",
    method=with_labels,
    saboteurs={
        "labels shuffled": lambda seed: with_labels(seed, shuffled(squares(), seed)),
        "labels without weight": lambda seed: with_labels(seed, weight=0),
    },
    references={
        "β-VAE": lambda seed: finding(train(ALONE, network=TANH, seed=seed, steps=STEPS)),
        "the labels alone": from_labels_alone,
    },
    checks=checks,
    picture="Traversals, one line for each latent; the first three are x, y and side.",
)
