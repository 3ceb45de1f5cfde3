"""What is scored, of how many rows, and by which protocol: the sizes of the study, and a fifth."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave import catalog
from unweave.catalog import check_name, suggestion
from unweave.errors import ConfigError
from unweave.metrics import CODES_ALONE, POSTERIOR_ALONE, Score

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


GROUPED = ("dci", "factor_vae_score", "mig")
"""Metrics of ours that know of groups of codes which form one concept."""

ALONE = (CODES_ALONE, POSTERIOR_ALONE)
"""What metrics need that say something without any factor."""


def chosen_for(metrics: str | Sequence[str], *, factors: bool, groups: bool) -> list[str]:
    """Return the chosen metrics; of those chosen by no name, only what can be made.

    Without factors that is what needs none, and of groups of codes what knows of them.
    """
    chosen = choose_metrics("all" if metrics == "default" and not factors else metrics)
    if metrics in ("default", "all"):
        chosen = [name for name in chosen if factors or module_of(name).NEEDS in ALONE]
        chosen = [name for name in chosen if not groups or takes_groups(name)]
    return chosen


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


def module_of(name: str) -> ModuleType:
    return catalog.load("unweave.metrics", name, "metric")


def takes_a_model(name: str) -> bool:
    """Return whether a metric draws images of a grid itself, given a function that encodes."""
    return getattr(module_of(name), "TAKES_A_MODEL", False)


def takes_groups(name: str) -> bool:
    """Return whether a metric knows of groups of codes that form one concept."""
    return "groups" in inspect.signature(getattr(module_of(name), name)).parameters


def protocols_of(protocol: str | Mapping[str, str] | None, metrics: list[str]) -> dict[str, str]:
    if protocol is None:
        return {}
    if isinstance(protocol, str):
        found = {name: protocol for name in metrics if protocol in module_of(name).PROTOCOLS}
        if not found:
            every = sorted({p for name in metrics for p in module_of(name).PROTOCOLS})
            raise ConfigError(
                f"none of the metrics knows protocol {protocol!r}. {suggestion(protocol, every)}"
            )
        return found
    for name, value in protocol.items():
        check_name(name, metrics, "metric to set a protocol for")
        check_name(value, module_of(name).PROTOCOLS, f"protocol of {name}")
    return dict(protocol)


def rows_wanted(preset: Preset, splits: bool) -> int:
    """Return how many rows a metric takes of a table that has them: more if it splits them."""
    return preset.train_rows + (preset.test_rows if splits else 0)


def rows_of(count: int, preset: Preset, splits: bool, seed: int) -> NDArray[np.int64]:
    """Draw as many rows as the preset allows."""
    wanted = rows_wanted(preset, splits)
    if count <= wanted:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).permutation(count)[:wanted])


def sizes_of(
    function: Callable[..., Score], preset: Preset, protocol: str | None
) -> dict[str, Any]:
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
