"""Score tables of codes and factors by many metrics at once.

A metric that cannot be computed, for instance MIG of a single code, does not
lose the others: its reason is kept in `Scores.reasons`.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from unweave.catalog import check_name
from unweave.code_prior import PriorName
from unweave.errors import ConfigError, DataError
from unweave.evaluation import nulls as null_tables
from unweave.evaluation import remarks
from unweave.evaluation.plan import (
    ALONE,
    GROUPED,
    PRESETS,
    Preset,
    choose_metrics,
    chosen_for,
    module_of,
    protocols_of,
    rows_of,
    rows_wanted,
    sizes_of,
    takes_groups,
)
from unweave.evaluation.scores import Scores
from unweave.metrics import (
    CODES,
    CODES_ALONE,
    GENERATOR,
    POSTERIOR,
    POSTERIOR_ALONE,
    SEVERAL_MODELS,
    TRAVERSALS,
    Groups,
    Score,
    matched_frames,
    read_groups,
)
from unweave.tables import (
    Continuous,
    FactorTable,
    check_same_rows,
    code_table,
    factor_table,
)


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
    groups: Groups | None = None,
    components: int | None = None,
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
    `groups` are codes that form one concept, each reduced to `components` principal components
    where these are given; of metrics that are chosen by no name, those that know of them are made.
    """
    check_name(preset, PRESETS, "preset")
    if seeds < 1 or nulls < 0:
        raise ConfigError(
            f"seeds must be at least 1 and nulls at least 0; found {seeds} and {nulls}."
        )
    if factors is None and continuous is not None and continuous is not False:
        raise ConfigError("continuous is of factors, and none were given.")
    chosen = chosen_for(metrics, factors=factors is not None, groups=groups is not None)
    protocols = protocols_of(protocol, chosen)
    if factors is not None:
        codes, factors = matched_frames(codes, factors)
    table = code_table(codes)
    known = None
    if factors is not None:
        known = factor_table(factors, continuous=continuous, names=factor_names, missing=missing)
        check_same_rows(table, known)
    tables = _Tables(table, known, posterior, prior, _concepts(groups, components, table))
    result = Scores()
    dependence = None if known is None else remarks.on_dependence(known)
    if dependence is not None:
        result.notes.append(dependence)
    for name in chosen:
        try:
            runs = [
                _once(name, tables, PRESETS[preset], protocols.get(name), seed)
                for seed in range(seeds)
            ]
            found = _said_how(combine(runs, preset), name, tables, preset, protocols.get(name))
            of_factors = module_of(name).NEEDS in (CODES, POSTERIOR)
            told = (dependence,) if dependence is not None and of_factors else ()
            found = remarks.with_notes(found, (*remarks.of_metric(found), *told))
            drawn = _nulls(name, tables, PRESETS[preset], protocols.get(name), nulls)
            result[name] = replace(found, nulls=drawn)
        except DataError as error:
            result.reasons[name] = str(error)
    return result


def _concepts(groups: Groups | None, components: int | None, codes: NDArray[Any]) -> dict[str, Any]:
    """Return the groups as metrics take them, looked at once for all of them."""
    if groups is None:
        if components is not None:
            raise ConfigError("components are of groups of codes; say groups as well.")
        return {}
    return {"groups": read_groups(groups, codes.shape[1]), "components": components}


def unscored(metrics: str | Sequence[str], why: str) -> Scores:
    """Return no scores, and for each of the metrics the one reason."""
    result = Scores()
    result.reasons = dict.fromkeys(choose_metrics(metrics), why)
    return result


@dataclass(frozen=True)
class _Tables:
    codes: NDArray[Any]
    factors: FactorTable | None
    posterior: tuple[Any, Any] | None
    prior: PriorName
    concepts: dict[str, Any]
    """The codes of each concept and its components, by a metric's names for them."""


def _once(name: str, tables: _Tables, preset: Preset, protocol: str | None, seed: int) -> Score:
    module = module_of(name)
    function = getattr(module, name)
    options = sizes_of(function, preset, protocol)
    if protocol is not None:
        options["protocol"] = protocol
    if "prior" in inspect.signature(function).parameters:
        options["prior"] = tables.prior
    if module.NEEDS == SEVERAL_MODELS:
        raise DataError(f"{name} compares several models; call unweave.metrics.{name} with them.")
    if module.NEEDS in (GENERATOR, TRAVERSALS):
        raise DataError(f"{name} takes {module.NEEDS}; call unweave.metrics.{name} with them.")
    if tables.concepts and not takes_groups(name):
        raise DataError(f"{name} knows no groups of codes; {', '.join(GROUPED)} do.")
    rows = rows_of(len(tables.codes), preset, "test_rows" in options, seed)
    options |= tables.concepts
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
    needs = module_of(name).NEEDS
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


def combine(runs: list[Score], preset: str) -> Score:
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


def _said_how(
    result: Score, name: str, tables: _Tables, preset: str, protocol: str | None
) -> Score:
    """Say in how a score was made what the metric itself was not told."""
    if result.made is None:
        return result
    module, known = module_of(name), tables.factors
    takes_all = protocol in getattr(module, "ALL_ROWS", ())
    splits = "test_rows" in inspect.signature(getattr(module, name)).parameters
    made = replace(
        result.made, wanted_rows=0 if takes_all else rows_wanted(PRESETS[preset], splits)
    )
    if known is not None and module.NEEDS in (CODES, POSTERIOR):
        amounts = zip(known.names, known.continuous, strict=True)
        made = replace(
            made,
            continuous_factors=tuple(name for name, real in amounts if real),
            masked=known.has_missing,
        )
    if tables.concepts:
        made = replace(
            made,
            codes=tables.codes.shape[1],
            concepts=len(tables.concepts["groups"]),
            components=tables.concepts["components"],
        )
    return replace(result, made=made)
