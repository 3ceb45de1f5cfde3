"""Score tables of codes and factors, or a model on a data set, by many metrics at once.

A metric that cannot be computed, for instance MIG of a single code, does not
lose the others: its reason is kept in `Scores.reasons`.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from unweave import catalog
from unweave.catalog import check_name, suggestion
from unweave.code_prior import PriorName
from unweave.errors import ConfigError, DataError
from unweave.evaluation import nulls as null_tables
from unweave.evaluation.frames import matched_frames
from unweave.evaluation.scores import Scores
from unweave.metrics import (
    CODES,
    CODES_ALONE,
    GENERATOR,
    POSTERIOR,
    POSTERIOR_ALONE,
    SEVERAL_MODELS,
    TRAVERSALS,
    Encoder,
    Grid,
    Score,
    encode_rows,
    factor_dependence,
)
from unweave.tables import (
    Continuous,
    FactorTable,
    check_same_rows,
    code_table,
    factor_table,
    to_numpy,
)

DEFAULT = (
    "beta_vae_score",
    "factor_vae_score",
    "mig",
    "modularity",
    "explicitness",
    "dci",
    "sap",
)


@dataclass(frozen=True)
class Preset:
    """How many rows and draws a score is made of."""

    train_rows: int
    test_rows: int
    train_draws: int
    test_draws: int
    samples: int
    """Latents that posterior metrics draw."""


PRESETS = {
    "full": Preset(10_000, 5_000, 10_000, 5_000, 10_000),
    "fast": Preset(2_000, 1_000, 2_000, 1_000, 1_000),
}
"""The study's sizes (arXiv:1811.12359), and a fifth of them."""

# What a metric's sizes are called in its signature, and where a preset has them.
SIZES = {
    "train_rows": "train_rows",
    "test_rows": "test_rows",
    "train_features": "train_draws",
    "test_features": "test_draws",
    "train_votes": "train_draws",
    "test_votes": "test_draws",
    "samples": "samples",
    "rows": "train_rows",
}


LEAST_DEPENDENCE = 0.01
"""Normalised information of two factors that is worth a note."""

BATCH = 512
"""Images that a model is asked for at once."""

ALONE = (CODES_ALONE, POSTERIOR_ALONE)
"""What metrics need that say something without any factor."""


def score(
    codes: Any,
    factors: Any,
    metrics: str | Sequence[str] = "default",
    *,
    preset: str = "full",
    protocol: str | Mapping[str, str] | None = None,
    seeds: int = 1,
    posterior: tuple[Any, Any] | None = None,
    prior: PriorName = "gaussian",
    factor_names: Sequence[str] | None = None,
    continuous: Continuous = None,
    missing: str = "refuse",
    nulls: int = 0,
) -> Scores:
    """Score codes by several metrics.

    `metrics` is "default", "all", or names; without `factors` (None) the default is
    what can be said of codes alone. `protocol` is one name for every
    metric that knows it, or a name per metric. `posterior` holds the means and
    log-variances of a Gaussian encoder for the metrics that need them, and `prior`
    says what they were drawn towards. With several seeds a score is a mean, with a
    95 % interval in its details. `continuous` says which factors are amounts;
    `missing="mask"` scores each factor on the rows that have it. `nulls` is how many random
    rotations of the codes, and as many shuffles of the factors, are scored beside them.
    """
    check_name(preset, PRESETS, "preset")
    if seeds < 1 or nulls < 0:
        raise ConfigError(
            f"seeds must be at least 1 and nulls at least 0; found {seeds} and {nulls}."
        )
    if factors is None:
        metrics = _without_factors(metrics)
    chosen = choose_metrics(metrics)
    protocols = _protocols(protocol, chosen)
    if factors is not None:
        codes, factors = matched_frames(codes, factors)
    table = code_table(codes)
    known = None
    if factors is not None:
        known = factor_table(factors, continuous=continuous, names=factor_names, missing=missing)
        check_same_rows(table, known)
    tables = _Tables(table, known, posterior, prior)
    result = Scores()
    if known is not None:
        result.notes += _dependent_factors(known)
    for name in chosen:
        try:
            runs = [
                _once(name, tables, PRESETS[preset], protocols.get(name), seed)
                for seed in range(seeds)
            ]
            combined = _combine(runs, preset)
            drawn = _nulls(name, tables, PRESETS[preset], protocols.get(name), nulls)
            result[name] = replace(combined, nulls=drawn)
        except DataError as error:
            result.reasons[name] = str(error)
    return result


def _dependent_factors(factors: FactorTable) -> list[str]:
    """Name the pairs of factors that depend on each other, with their normalised information."""
    found = factor_dependence(factors)
    pairs = [
        (found.normalised[i, j], f"{factors.names[i]} and {factors.names[j]}")
        for i in range(len(factors.names))
        for j in range(i)
        if found.certain[i, j] and found.normalised[i, j] >= LEAST_DEPENDENCE
    ]
    if not pairs:
        return []
    words = ", ".join(f"{names} {share:.3f}" for share, names in sorted(pairs, reverse=True)[:6])
    more = f" and {len(pairs) - 6} more pairs" if len(pairs) > 6 else ""
    return [
        f"factors depend on each other (information over entropy: {words}{more}): a code of one "
        "knows of the other, so gaps and modularity cannot reach 1; dmig takes account of it"
    ]


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
) -> Scores:
    """Score a callable from images to codes on rows drawn from a data set.

    `posterior` returns means and log-variances of images, or None; `notes` are said with
    every score.
    `sampler="paper"` lets the scores that were defined by drawing images (β-VAE, FactorVAE,
    unfairness and others that `docs/metrics.md` names) draw from the full grid as their
    papers do, which encodes many more images. Those have no `nulls`, which are made of rows.
    """
    check_name(sampler, ("table", "paper"), "sampler")
    check_name(preset, PRESETS, "preset")
    size = PRESETS[preset]
    count = min(size.train_rows + size.test_rows, len(data))
    rows = np.random.default_rng(0).permutation(len(data))[:count]
    gaussian = None if posterior is None else _posterior_of(posterior, data, rows)
    codes = encode_rows(encode, data, rows) if gaussian is None else gaussian[0]
    factors = np.asarray(data.factors(rows)) if len(data.factor_names) else None
    if factors is None:  # what can be said of codes alone
        metrics = _without_factors(metrics)
    chosen = choose_metrics(metrics)
    protocols = _protocols(protocol, chosen)
    from_grid = [name for name in chosen if sampler == "paper" and _takes_a_model(name)]
    rest = [name for name in chosen if name not in from_grid]
    kept = {name: value for name, value in protocols.items() if name in rest}
    result = score(
        codes,
        factors,
        rest,
        preset=preset,
        protocol=kept,
        seeds=seeds,
        posterior=gaussian,
        factor_names=tuple(data.factor_names) or None,
        nulls=nulls,
    )
    for name in from_grid:
        function = getattr(_module(name), name)
        options = _sizes(function, size, protocols.get(name))
        if name in protocols:
            options["protocol"] = protocols[name]
        try:
            runs = [function(encode, data, seed=seed, **options) for seed in range(seeds)]
        except DataError as error:
            result.reasons[name] = str(error)
            continue
        result[name] = _combine(runs, preset)
    for name, found in result.items():
        result[name] = replace(found, notes=(*found.notes, *notes))
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


def unscored(metrics: str | Sequence[str], why: str) -> Scores:
    """Return no scores, and for each of the metrics the one reason."""
    result = Scores()
    result.reasons = dict.fromkeys(choose_metrics(metrics), why)
    return result


def _without_factors(metrics: str | Sequence[str]) -> str | Sequence[str]:
    """Return the metrics that need no factor, for those that are chosen by no name."""
    if metrics not in ("default", "all"):
        return metrics
    return [name for name in choose_metrics("all") if _module(name).NEEDS in ALONE]


def choose_metrics(metrics: str | Sequence[str]) -> list[str]:
    """Turn "default", "all" or names into names of metrics that exist."""
    known = catalog.names("unweave.metrics")
    if isinstance(metrics, str):
        if metrics == "default":
            return list(DEFAULT)
        if metrics == "all":
            return catalog.usable("unweave.metrics")
        metrics = [name.strip() for name in metrics.split(",")]
    for name in metrics:
        check_name(name, known, "metric")
    return list(dict.fromkeys(metrics))


@dataclass(frozen=True)
class _Tables:
    codes: NDArray[Any]
    factors: FactorTable | None
    posterior: tuple[Any, Any] | None
    prior: PriorName


def _module(name: str) -> ModuleType:
    return catalog.load("unweave.metrics", name, "metric")


def _takes_a_model(name: str) -> bool:
    """Return whether a metric draws images of a grid itself, given a function that encodes."""
    return getattr(_module(name), "TAKES_A_MODEL", False)


def _protocols(protocol: str | Mapping[str, str] | None, metrics: list[str]) -> dict[str, str]:
    if protocol is None:
        return {}
    if isinstance(protocol, str):
        found = {name: protocol for name in metrics if protocol in _module(name).PROTOCOLS}
        if not found:
            every = sorted({p for name in metrics for p in _module(name).PROTOCOLS})
            raise ConfigError(
                f"none of the metrics knows protocol {protocol!r}. {suggestion(protocol, every)}"
            )
        return found
    for name, value in protocol.items():
        check_name(name, metrics, "metric to set a protocol for")
        check_name(value, _module(name).PROTOCOLS, f"protocol of {name}")
    return dict(protocol)


def _once(name: str, tables: _Tables, preset: Preset, protocol: str | None, seed: int) -> Score:
    module = _module(name)
    function = getattr(module, name)
    options = _sizes(function, preset, protocol)
    if protocol is not None:
        options["protocol"] = protocol
    if "prior" in inspect.signature(function).parameters:
        options["prior"] = tables.prior
    if module.NEEDS == SEVERAL_MODELS:
        raise DataError(f"{name} compares several models; call unweave.metrics.{name} with them.")
    if module.NEEDS in (GENERATOR, TRAVERSALS):
        raise DataError(f"{name} takes {module.NEEDS}; call unweave.metrics.{name} with them.")
    rows = _rows(len(tables.codes), preset, "test_rows" in options, seed)
    if protocol in getattr(module, "ALL_ROWS", ()):
        rows = np.arange(len(tables.codes))
    if tables.factors is None and module.NEEDS not in ALONE:
        raise DataError(f"{name} needs factors, and none were given.")
    factors = None if tables.factors is None else tables.factors.rows(rows)
    posterior = tables.posterior
    if posterior is not None:
        posterior = tuple(code_table(part, "posterior")[rows] for part in posterior)  # type: ignore[assignment]
    if module.NEEDS in (POSTERIOR, POSTERIOR_ALONE):
        if posterior is None:
            raise DataError(f"{name} needs a Gaussian posterior: means and log-variances.")
        if module.NEEDS == POSTERIOR:
            return function(*posterior, factors, seed=seed, **options)
        return function(*posterior, seed=seed, **options)
    if name == "jemmig" and protocol == "do2020":
        if posterior is None:
            raise DataError("jemmig with protocol do2020 needs means and log-variances.")
        return function(posterior[0], factors, logvar=posterior[1], seed=seed, **options)
    return function(tables.codes[rows], factors, seed=seed, **options)


def _nulls(
    name: str, tables: _Tables, preset: Preset, protocol: str | None, count: int
) -> dict[str, tuple[float, ...]]:
    """Score codes that were turned and factors that were shuffled, where a metric has them."""
    needs = _module(name).NEEDS
    found: dict[str, list[float]] = {}
    for draw in range(count):
        if needs in (CODES, CODES_ALONE):
            turned = replace(tables, codes=null_tables.rotated(tables.codes, draw))
            found.setdefault(null_tables.ROTATED, []).append(
                _once(name, turned, preset, protocol, 0).value
            )
        if needs in (CODES, POSTERIOR) and tables.factors is not None:
            mixed = replace(tables, factors=null_tables.shuffled(tables.factors, draw))
            found.setdefault(null_tables.SHUFFLED, []).append(
                _once(name, mixed, preset, protocol, 0).value
            )
    return {null: tuple(values) for null, values in found.items()}


def _rows(count: int, preset: Preset, splits: bool, seed: int) -> NDArray[np.int64]:
    """Draw as many rows as the preset allows; a metric that splits them needs more."""
    wanted = preset.train_rows + (preset.test_rows if splits else 0)
    if count <= wanted:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).permutation(count)[:wanted])


def _sizes(function: Callable[..., Score], preset: Preset, protocol: str | None) -> dict[str, Any]:
    """Return the sizes a metric takes from the preset, by the names it has for them.

    A size that is None by default is the protocol's own; only where none is named does a
    smaller preset change it.
    """
    accepted = inspect.signature(function).parameters
    keeps = protocol is not None or preset == PRESETS["full"]
    return {
        name: getattr(preset, size)
        for name, size in SIZES.items()
        if name in accepted and not (keeps and accepted[name].default is None)
    }


def _combine(runs: list[Score], preset: str) -> Score:
    """Join the runs of several seeds and say by which preset; details are those of the first."""
    first = runs[0]
    made = None
    if first.made is not None:
        made = replace(first.made, preset=preset, seeds=len(runs))
    if len(runs) == 1:
        return replace(first, made=made)
    values = np.array([run.value for run in runs])
    half = float(student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5)
    mean = float(values.mean())
    details = {**first.details, "seeds": len(runs), "value_per_seed": values}
    notes = first.notes
    if half > 0:
        details["interval"] = np.array([mean - half, mean + half])
    else:
        # An interval without width would pass for certainty.
        notes += (f"all {len(runs)} seeds gave the same value, so there is no interval",)
    parts = {name: float(np.mean([run.parts[name] for run in runs])) for name in first.parts}
    return replace(first, value=mean, details=details, parts=parts, made=made, notes=notes)
