"""How much each latent carries, and about what: KL, heat maps, scatters."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unweave.catalog import check_name
from unweave.data import Factor, FactorImages
from unweave.errors import ConfigError, DataError
from unweave.metrics import dci, mig, protocol_words
from unweave.runs.model import Model
from unweave.tables import factor_table
from unweave.views.code_sample import CodeSample, sample_codes
from unweave.views.turning import latent_order
from unweave.views.view import View

Kind = Literal["mi", "dci"]
KINDS: dict[str, str] = {
    "mi": "mutual information over the entropy of the factor",
    "dci": "importance of the latent to a predictor of the factor",
}
CARRIES = 0.1
"""Nats above the least possible KL from which a latent carries something."""
MOST_CATEGORIES = 8  # more colours cannot be told apart
SCATTER_POINTS = 2_000


@dataclass(frozen=True)
class LatentNames(View):
    """What latents are called."""

    names: list[str]
    """Given names, "" where there is none."""
    labels: list[str]
    """What figures write: z3, or z3 and its name."""


@dataclass(frozen=True)
class KlPerDimension(View):
    """How much each latent carries."""

    labels: list[str]
    order: np.ndarray
    """Latents, largest first; dimensions of one category or angle together."""
    kl: np.ndarray | None
    """KL to the prior in nats, if the model has a posterior."""
    variance: np.ndarray
    """Variance of the codes over the data."""
    active: np.ndarray
    """Whether the latent carries anything."""


@dataclass(frozen=True)
class HeatMap(View):
    """How much each latent says about each factor."""

    kind: str
    meaning: str
    protocol: str
    factors: list[str]
    latents: list[str]
    values: np.ndarray
    """(factor, latent), shares from 0 to 1."""
    rows: int
    """Images it was measured on; 0 where the score does not say."""


@dataclass(frozen=True)
class Scatter(View):
    """One latent against one factor, a point per image."""

    latent: int
    label: str
    factor: str
    factor_labels: list[str] | None
    """What the factor's values are called or measure, if that is known."""
    values: np.ndarray
    """The factor's value by point."""
    codes: np.ndarray
    classes: np.ndarray | None
    """Class of each point by the categorical factor, if there is one."""
    class_labels: list[str]


def latent_names(model: Model) -> LatentNames:
    """Return the names of latents, given and shown."""
    given = model.latent_names
    return LatentNames([given.get(i, "") for i in range(model.latent_dim)], model.latent_labels())


def kl_per_dimension(model: Model, codes: CodeSample | None = None) -> KlPerDimension:
    """Measure how much each latent carries."""
    codes = codes or sample_codes(model)
    kl, variance = codes.kl(), codes.codes.var(axis=0).astype(np.float64)
    return KlPerDimension(
        model.latent_labels(),
        np.array(latent_order(model, codes)),
        kl,
        variance,
        active_latents(codes),
    )


def active_latents(codes: CodeSample) -> np.ndarray:
    """Mark the latents that carry something: KL above that of the dead, or else variance."""
    kl = codes.kl()
    if kl is not None:
        marked: np.ndarray = kl > codes.prior.least_kl + CARRIES
        return marked
    variance = codes.codes.var(axis=0)
    active: np.ndarray = variance > 1e-4 * max(float(variance.max()), 1e-12)
    return active


def heat_map(model: Model, kind: Kind = "mi", codes: CodeSample | None = None) -> HeatMap:
    """Compare every factor with every latent; without codes a score the run has is used."""
    check_name(kind, KINDS, "kind of heat map")
    data = model.data
    if not data.factor_list:
        raise DataError(f"{data.name} has no factors to compare latents with")
    metric = "mig" if kind == "mi" else "dci"
    stored = model.scores.get(metric)
    if codes is None and stored and stored.get("value") is not None:
        table = _stored_table(model, metric)
        if table is None:
            raise DataError(
                f"the stored {metric} of {model.name} has no table of its {model.latent_dim} "
                f"latents; score the run again"
            )
        protocol, details = protocol_words(stored), table
        rows = (stored.get("made") or {}).get("rows", 0)
    else:
        codes = codes or sample_codes(model)
        known = factor_table(codes.factors, names=data.factor_names)
        score = mig(codes.codes, known) if kind == "mi" else dci(codes.codes, known)
        protocol, details, rows = score.protocol, score.details, len(codes.rows)
    if kind == "mi":
        shares = details["mutual_information"] / details["factor_entropy"]
    else:
        importance = np.array(details["importance"], dtype=np.float64)
        total = importance.sum(axis=0, keepdims=True)
        shares = importance / np.where(total > 0, total, 1.0)
    return HeatMap(
        kind,
        KINDS[kind],
        protocol,
        list(details["factor_names"]),
        model.latent_labels(),
        shares.T,
        rows,
    )


def heat_map_of_scores(model: Model, kind: Kind, codes: CodeSample | None = None) -> HeatMap:
    """Compare factors with latents by the score that the run keeps; by codes if it keeps none.

    All that is shown of one run then says the same.
    """
    metric = "mig" if kind == "mi" else "dci"
    keeps = (model.scores.get(metric) or {}).get("value") is not None
    return heat_map(model, kind, None if keeps and _stored_table(model, metric) else codes)


def _stored_table(model: Model, metric: str) -> dict[str, Any] | None:
    """Return the arrays of a score that a run keeps, if they are of its latents."""
    details = model.scores[metric].get("details") or {}
    names = details.get("factor_names")
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        table = "mutual_information" if metric == "mig" else "importance"
        wanted: dict[str, tuple[int, ...]] = {table: (model.latent_dim, len(names))}
        if metric == "mig":
            wanted["factor_entropy"] = (len(names),)
        arrays = {key: _as_numbers(details.get(key)) for key in wanted}
        if all(arrays[key].shape == shape for key, shape in wanted.items()):
            return {"factor_names": names, **arrays}
    return None


def _as_numbers(values: Any) -> np.ndarray:
    """Return a table of numbers, or an empty one if it is none."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)


def scatter(
    model: Model,
    latent: int,
    factor: str,
    codes: CodeSample | None = None,
    points: int = SCATTER_POINTS,
) -> Scatter:
    """Pair one latent with one factor, coloured by the categorical factor if there is one."""
    data = model.data
    check_name(factor, data.factor_names, f"factor of {data.name}")
    if not 0 <= latent < model.latent_dim:
        raise ConfigError(f"expected a latent from 0 to {model.latent_dim - 1}, found {latent}")
    codes = codes or sample_codes(model, points)
    chosen = np.sort(np.random.default_rng(0).permutation(len(codes.rows))[:points])
    column = data.factor_names.index(factor)
    by = categorical_factor(data, exclude=factor)
    shown = data.factor_list[column]
    return Scatter(
        latent,
        model.latent_labels()[latent],
        factor,
        _value_words(shown),
        codes.factors[chosen, column],
        codes.codes[chosen, latent],
        None if by is None else codes.factors[chosen, by].astype(np.int64),
        [] if by is None else value_labels(data.factor_list[by]),
    )


def _value_words(factor: Factor) -> list[str] | None:
    """Return what a factor's values are called, or what they measure, if either is known."""
    if factor.labels is not None:
        return list(factor.labels)
    return None if factor.values is None else [f"{value:.3g}" for value in factor.values]


def categorical_factor(data: FactorImages, exclude: str = "") -> int | None:
    """Return the factor to split or colour by: the first unordered one with few values."""
    for index, factor in enumerate(data.factor_list):
        few = 2 <= factor.size <= MOST_CATEGORIES
        if factor.categorical and few and factor.name != exclude:
            return index
    return None


def value_labels(factor: Factor) -> list[str]:
    """Return what a factor's values are called."""
    if factor.labels is not None:
        return list(factor.labels)
    return [str(value) for value in range(factor.size)]
