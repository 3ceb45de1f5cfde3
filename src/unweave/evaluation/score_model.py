"""Score a model, a function from images to codes, on rows drawn from a data set."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.catalog import check_name
from unweave.errors import ConfigError, DataError
from unweave.evaluation import remarks
from unweave.evaluation.known_factors import known_factors
from unweave.evaluation.plan import (
    PRESETS,
    chosen_for,
    module_of,
    protocols_of,
    sizes_of,
    takes_a_model,
)
from unweave.evaluation.score import combine, score
from unweave.evaluation.scores import Scores
from unweave.metrics import Encoder, Grid, Groups, encode_rows
from unweave.tables import Continuous, code_table, to_numpy

BATCH = 512
"""Images that a model is asked for at once."""


def score_model(
    encode: Encoder,
    data: Grid,
    metrics: str | Sequence[str] = "default",
    *,
    preset: str = "full",
    protocol: str | Mapping[str, str] | None = None,
    seeds: int = 1,
    sampler: str = "table",
    nulls: int = 0,
    posterior: Callable[[Any], tuple[Any, Any] | None] | None = None,
    notes: Sequence[str] = (),
    continuous: Continuous = None,
    missing: str = "refuse",
    groups: Groups | None = None,
    components: int | None = None,
) -> Scores:
    """Score a callable from images to codes on rows drawn from a data set.

    `posterior` returns means and log-variances of images, or None; `notes` are said with
    every score.
    `sampler="paper"` lets the scores that were defined by drawing images (β-VAE, FactorVAE,
    unfairness and others that `docs/metrics.md` names) draw from the full grid as their
    papers do, which encodes many more images. Those have no `nulls`, which are made of rows.
    `continuous`, `missing`, `groups` and `components` are as in `score`; masked are columns of
    the data set that have gaps, and amounts are what a factor's values measure.
    """
    check_name(sampler, ("table", "paper"), "sampler")
    check_name(preset, PRESETS, "preset")
    if sampler == "paper" and groups is not None:
        raise ConfigError("groups are of tables of codes: leave out sampler='paper'.")
    size = PRESETS[preset]
    count = min(size.train_rows + size.test_rows, len(data))
    rows = np.random.default_rng(0).permutation(len(data))[:count]
    gaussian = None if posterior is None else _posterior_of(posterior, data, rows)
    codes = encode_rows(encode, data, rows) if gaussian is None else gaussian[0]
    known = known_factors(data, rows, continuous=continuous, missing=missing)
    has_factors = known.values is not None
    chosen = chosen_for(metrics, factors=has_factors, groups=groups is not None)
    protocols = protocols_of(protocol, chosen)
    from_grid = [name for name in chosen if sampler == "paper" and takes_a_model(name)]
    rest = [name for name in chosen if name not in from_grid]
    kept = {name: value for name, value in protocols.items() if name in rest}
    result = score(
        codes,
        known.values,
        rest,
        preset=preset,
        protocol=kept,
        seeds=seeds,
        posterior=gaussian,
        factor_names=known.names or None,
        continuous=continuous,
        missing=missing,
        nulls=nulls,
        groups=groups,
        components=components,
    )
    for name in from_grid:
        function = getattr(module_of(name), name)
        options = sizes_of(function, size, protocols.get(name))
        if name in protocols:
            options["protocol"] = protocols[name]
        try:
            runs = [function(encode, data, seed=seed, **options) for seed in range(seeds)]
        except DataError as error:
            result.reasons[name] = str(error)
            continue
        drawn = combine(runs, preset)
        declared = continuous is not None and continuous is not False
        result[name] = remarks.with_notes(drawn, remarks.on_drawn(nulls, declared))
    for name, found in result.items():
        of_rows = () if name in from_grid else remarks.on_rows(found, len(rows), len(data))
        result[name] = remarks.with_notes(found, (*of_rows, *notes))
    return result


def _posterior_of(
    posterior: Callable[[Any], tuple[Any, Any] | None], data: Grid, rows: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return means and log-variances of rows, or None where there is no posterior."""
    means, logvars = [], []
    for start in range(0, len(rows), BATCH):
        found = posterior(data.images(rows[start : start + BATCH]))
        if found is None:
            return None
        means.append(to_numpy(found[0]))
        logvars.append(to_numpy(found[1]))
    return code_table(np.concatenate(means), "means"), code_table(
        np.concatenate(logvars), "log-variances"
    )
