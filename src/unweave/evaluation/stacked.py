"""M1+M2 of any model: its codes are the first stage, and an M2 is trained on them.

D. P. Kingma et al., "Semi-supervised Learning with Deep Generative Models", NeurIPS 2014,
arXiv:1406.5298, section 2.3. The model rests. The second stage is that of `methods/m1_m2.py`, with
the codes as z₁, drawn anew at each step where they have a posterior: it sees the codes of all
images and the class of a few. So it can find classes that lie apart in the code where a classifier
of the labelled codes alone, which is M1, has too few to see how they lie.

The images that it is judged on are among those whose codes it saw, without their class: as
in the first stage, which saw them too.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.random import fork_rng

from unweave.batches import Batch, LabelledBatch
from unweave.evaluation.few_labels import (
    ROWS,
    FewLabelProbe,
    choose_rows,
    labelled_draws,
    probe_few_labels,
)
from unweave.methods.m1_m2 import M1M2, SECOND_STAGE
from unweave.networks import Networks
from unweave.probability.gaussian import LOWEST_LOGVAR, DiagonalGaussian
from unweave.runs.model import Model, in_parts

NAME = "m1_m2"
STEPS, BATCH = 1000, 64
METHOD = M1M2(latent_dim=5, hidden=128)


class Resting(nn.Module):
    """The encoder of a first stage that is over: what it takes are its own outputs."""

    def forward(self, outputs: Tensor) -> DiagonalGaussian:
        return DiagonalGaussian.from_outputs(outputs)


def probe_with_stack(
    model: Model,
    labels: int = 100,
    column: str = "",
    *,
    draws: int = 5,
    rows: int = ROWS,
    seed: int = 0,
) -> FewLabelProbe:
    """Return what classifiers of the codes make of a few labels, and M1+M2 among them.

    Of pixels there is no M1+M2: they are what the first stage is there to replace.
    """
    found = probe_few_labels(model, labels, column, draws=draws, rows=rows, seed=seed)
    column, chosen, _ = choose_rows(model, labels, column, rows=rows, seed=seed)
    classes = model.data.column(column, chosen)
    mean, logvar = gaussian_codes(model, chosen)
    stacked = tuple(
        stacked_accuracy(mean, logvar, classes, told, seed=seed)
        for told in labelled_draws(classes, labels, draws, seed)
    )
    return replace(found, codes={**found.codes, NAME: stacked})


def gaussian_codes(model: Model, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and log-variances of codes; where there is no noise, next to none."""
    parts = [model.posterior(model.data.images(part)) for part in in_parts(rows)]
    found = [part for part in parts if part is not None]
    if found and found[0][0].shape[1] == model.latent_dim:
        mean, logvar = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return mean, logvar
    codes = model.encode_rows(rows)
    return codes, np.full_like(codes, LOWEST_LOGVAR)


def stacked_accuracy(
    mean: np.ndarray,
    logvar: np.ndarray,
    classes: np.ndarray,
    told: np.ndarray,
    *,
    seed: int = 0,
    steps: int | None = None,
) -> float:
    """Return how often M1+M2 names the class of rows right that it was not told of."""
    judged = np.setdiff1d(np.arange(len(classes)), told)
    values, known = np.unique(classes[told], return_inverse=True)
    if len(values) < 2:
        return float((classes[judged] == values[0]).mean())
    codes = torch.from_numpy(np.concatenate([mean, logvar], axis=1)).float()
    labels = torch.from_numpy(told), torch.from_numpy(known)
    nets = second_stage(codes, *labels, seed, STEPS if steps is None else steps)
    with torch.no_grad():
        named = nets.classifier(METHOD.codes(nets, codes[judged])).argmax(1).numpy()
    return float((values[named] == classes[judged]).mean())


def second_stage(codes: Tensor, told: Tensor, known: Tensor, seed: int, steps: int) -> Networks:
    """Train M2 on codes, means beside log-variances, of which some have their class known."""
    with fork_rng(devices=[]):
        torch.manual_seed(seed)
        nets = Networks()
        nets.encoder = Resting()
        METHOD.add_second_stage(nets, codes.shape[1] // 2, int(known.max()) + 1)
        nets.scale.follow(codes.chunk(2, dim=1)[0])
        parameters = [p for name in SECOND_STAGE for p in getattr(nets, name).parameters()]
        optimizer = METHOD.second_optimizer.build(parameters)
        for step in range(steps):
            some, others = torch.randint(len(told), (BATCH,)), torch.randint(len(codes), (BATCH,))
            batch = LabelledBatch(
                codes[told[some]],
                len(codes),
                labels=known[some][:, None].float(),
                labelled=len(told),
                unlabelled=Batch(codes[others], len(codes)),
            )
            optimizer.zero_grad()
            METHOD.code_loss(nets, batch, step).total.backward()
            optimizer.step()
    return nets
