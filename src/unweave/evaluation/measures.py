"""Measures of a whole run, by name, for studies: what tables of codes and factors cannot tell.

    class_from_content   accuracy of the class read off the content, by a random forest
    class_from_style     the same of the style, which should tell no more than chance
    swap_error           squared error of swapped images, over that of the mean image
    class_error          share of images without labels whose class the code's category misnames
    m1_error_N           share of images that classifiers of N labelled images' codes misname: M1
    prior_mmd            MMD² of codes, as they are drawn in training, and the prior
    sampled_classes      total variation of the classes of samples from those of the data
    METRIC@PROTOCOL      a metric by another protocol than the study's
    METRIC_of_N_labels   a metric of the codes of N labelled images alone, to choose runs by

M1 has the best of three classifiers, each of which is chosen by the labelled images alone; which
of them is best is seen by the others. The seed of a run decides which images are labelled. Of the
method `pixels` with `side = 0` it is the error of the labels alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from unweave import catalog
from unweave.batches import shared_column
from unweave.errors import ConfigError, DataError
from unweave.evaluation.encode import encode_run
from unweave.evaluation.few_labels import CLASSIFIERS, accuracy, choose_rows, labelled_draws
from unweave.evaluation.generated import Reader
from unweave.evaluation.probes import leakage
from unweave.evaluation.score import score
from unweave.metrics import CODES, CODES_ALONE, POSTERIOR, POSTERIOR_ALONE
from unweave.probability.divergence import mmd_imq
from unweave.runs.model import in_parts
from unweave.runs.run import Run

ROWS = 2000


@dataclass(frozen=True)
class Measure:
    """A number of a run."""

    of: Callable[[Run], float]
    higher_is_better: bool = False


def measure_named(name: str) -> Measure | None:
    """Return the measure of a name, or None."""
    if variant := re.fullmatch(r"(\w+)@(\w+)|(\w+)_of_(\d+)_labels", name):
        metric = catalog.load("unweave.metrics", variant[1] or variant[3], "metric")
        if variant[1]:
            catalog.check_name(variant[2], metric.PROTOCOLS, f"protocol of {variant[1]}")
            scored = partial(score_of_codes, metric=variant[1], protocol=variant[2])
        else:
            scored = partial(score_of_codes, metric=variant[3], rows=int(variant[4]))
        if metric.NEEDS not in (CODES, CODES_ALONE, POSTERIOR, POSTERIOR_ALONE):
            raise ConfigError(f"{name}: only metrics of tables of codes have such a form")
        return Measure(scored, higher_is_better=metric.HIGHER_IS_BETTER)
    if counted := re.fullmatch(r"m1_error_(\d+)", name):
        return Measure(partial(error_of_labels, labels=int(counted[1])))
    return MEASURES.get(name)


def higher_is_better(name: str) -> bool:
    """Say whether more is better of a metric or a measure."""
    measure = measure_named(name)
    if measure is not None:
        return measure.higher_is_better
    return bool(catalog.load("unweave.metrics", name, "metric").HIGHER_IS_BETTER)


def score_of_codes(run: Run, metric: str, protocol: str | None = None, rows: int = 0) -> float:
    """Return a score by a protocol of its own, or of so many rows."""
    encoded = encode_run(run, rows=rows) if rows else encode_run(run)
    scores = score(
        encoded.codes,
        encoded.factors,
        [metric],
        protocol=None if protocol is None else {metric: protocol},
        posterior=encoded.posterior,
        prior=run.code_prior.name,
        factor_names=encoded.factor_names,
    )
    if metric not in scores:
        raise DataError(scores.reasons[metric])
    return float(scores[metric].value)


def class_from(run: Run, part: str) -> float:
    """Return how well the class is read off the content or the style."""
    return leakage(run, rows=ROWS).accuracy[part]


def swap_error(run: Run) -> float:
    """Return how far images with one's content and another's style are from the true ones."""
    data = run.data
    if not data.is_grid:
        raise ConfigError(f"{data.name} has not every combination of factors, as true swaps need")
    column = data.factor_names.index(shared_column(data, run.class_column))
    rng = np.random.default_rng(0x5A9)
    contents, styles = (rng.integers(len(data), size=ROWS // 4) for _ in range(2))
    wanted = data.factors(styles)
    wanted[:, column] = data.factors(contents)[:, column]
    truly = data.images(data.rows_of(wanted))
    made = run.swap(data.images(contents), data.images(styles))
    mean = data.images(rng.integers(len(data), size=ROWS)).mean(0)
    return float(np.square(made - truly).sum() / np.square(mean - truly).sum())


def class_error(run: Run) -> float:
    """Return how often the category of a code is not the class of an image without a label."""
    unit = next((u for u in run.code.units if u.kind == "category" and u.factor), None)
    if unit is None:
        raise ConfigError(f"{run.kind} has no category that labels hold to a class")
    supervision = run.config.method.supervision
    table = getattr(supervision, "table", None)
    told = np.empty(0, dtype=np.int64) if table is None else table(run.data).rows
    classes = run.data.column(unit.factor)
    others = np.setdiff1d(np.flatnonzero(classes >= 0), told)
    chosen = np.random.default_rng(0xC1A).permutation(others)[: 2 * ROWS]
    named = run.encode_rows(chosen)[:, list(unit.dimensions)].argmax(1)
    return float((named != classes[chosen]).mean())


def error_of_labels(run: Run, labels: int) -> float:
    """Return the error of the best classifier of the codes of a few labelled images."""
    seed, most = run.config.seed, max(2 * ROWS, 2 * labels)
    column, chosen, _ = choose_rows(run, labels, column="", rows=most, seed=seed)
    codes, classes = run.encode_rows(chosen), run.data.column(column, chosen)
    (told,) = labelled_draws(classes, labels, draws=1, seed=seed)
    return 1 - max(accuracy(codes, classes, told, classifier) for classifier in CLASSIFIERS)


def prior_mmd(run: Run) -> float:
    """Return how far codes with the noise of training are from the prior."""
    chosen = np.random.default_rng(0x33D).permutation(len(run.data))[:ROWS]
    images = (run.data.images(part) for part in in_parts(chosen))
    drawn = np.concatenate([run.draw_codes(part, seed=i) for i, part in enumerate(images)])
    prior = run.prior_codes(len(drawn))
    return float(mmd_imq(torch.from_numpy(drawn), torch.from_numpy(prior), unbiased=True))


def sampled_classes(run: Run) -> float:
    """Return how far the shares of classes among samples are from those of the data.

    What a sample shows is what the nearest of some real images does.
    """
    column = shared_column(run.data, run.class_column)
    chosen = np.random.default_rng(0x5A3).permutation(len(run.data))[: 2 * ROWS]
    classes = run.data.column(column, chosen)
    reader = Reader(run.data.images(chosen), classes[:, None])
    shown = reader.read(run.sample(ROWS))[:, 0]
    size = int(classes.max()) + 1
    shares = [np.bincount(values, minlength=size) / len(values) for values in (shown, classes)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


MEASURES = {
    "class_from_content": Measure(partial(class_from, part="content"), higher_is_better=True),
    "class_from_style": Measure(partial(class_from, part="style")),
    "swap_error": Measure(swap_error),
    "class_error": Measure(class_error),
    "prior_mmd": Measure(prior_mmd),
    "sampled_classes": Measure(sampled_classes),
}
NAMES = (*MEASURES, "m1_error_100")
"""Names to suggest."""
