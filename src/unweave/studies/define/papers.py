"""What papers found, as a study's file names it: numbers, and shares of the variance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unweave import catalog
from unweave.errors import ConfigError
from unweave.settings.plain import from_plain
from unweave.studies.define.entries import read_settings

WITHOUT_LABELS = ("udr", "udr_spearman", "model_centrality")
"""Scores that choose among runs without labels, and the columns of tables that have them."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """A number of a paper, to stand beside ours."""

    method: str
    """Label of our method it is compared with, or the paper's name for one we do not run."""
    metric: str
    """Our name of the metric."""
    value: float
    spread: float | None = None
    """What the paper writes after ±."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Which of our settings it belongs to, if several are varied."""
    data: str = ""
    """Which of our data sets it belongs to, if there are several."""
    chosen_by: str = ""
    """Score without labels that chose the run it is of; if not given, it is of all seeds."""
    protocol: str = ""
    """How the paper scored, if it says."""
    baseline: bool = False
    """Whether the paper sets its own method apart from it, so that better is not as published."""
    from_memory: bool = False
    """Whether nobody has looked it up: it is there for orientation, and no cell to reproduce."""
    source: str = ""
    note: str = ""
    """What is different there: budget, data."""
    reason: str = ""
    """Why we think ours is otherwise, where it is."""
    is_judged: bool = True
    """Whether our runs are such as can reproduce it, which those of a quick try are not."""


def read_published(value: Any) -> tuple[Published, ...]:
    if not isinstance(value, (list, tuple)):
        raise ConfigError(f"published: expected a list of tables, found {value!r}")
    found = []
    for index, entry in enumerate(value):
        if isinstance(entry, Published):
            found.append(entry)
            continue
        if not isinstance(entry, Mapping):
            raise ConfigError(f"published[{index}]: expected a table, found {entry!r}")
        settings = read_settings(entry.get("settings", {}), f"published[{index}].settings")
        plain = {k: v for k, v in entry.items() if k != "settings"}
        read = from_plain(_PlainPublished, plain, f"published[{index}]")
        if read.chosen_by:
            catalog.check_name(read.chosen_by, WITHOUT_LABELS, "score without labels (chosen_by)")
        found.append(Published(settings=settings, **vars(read)))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class _PlainPublished:
    method: str
    metric: str
    value: float
    spread: float | None = None
    data: str = ""
    chosen_by: str = ""
    protocol: str = ""
    baseline: bool = False
    from_memory: bool = False
    source: str = ""
    note: str = ""
    reason: str = ""


def read_shares(value: Any) -> dict[str, dict[str, tuple[float, float]]]:
    """Read pairs of shares by data set and metric; without data sets they are of the only one."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"published_variance: expected a table, found {value!r}")
    tables = value if all(isinstance(v, Mapping) for v in value.values()) else {"": value}
    return {
        str(source): {
            str(metric): _pair(pair, f"published_variance.{source}.{metric}".replace("..", "."))
            for metric, pair in shares.items()
        }
        for source, shares in tables.items()
    }


def by_data(
    shares: Mapping[str, Mapping[str, tuple[float, float]]], data: Sequence[str]
) -> dict[str, Mapping[str, tuple[float, float]]]:
    """Give shares that name no data set to the only one there is."""
    if shares.get("") and len(data) > 1:
        raise ConfigError(
            f"published_variance: say of which data set, as in [published_variance.{data[0]}]"
        )
    return {source or data[0]: found for source, found in shares.items()}


def _pair(value: Any, path: str) -> tuple[float, float]:
    is_pair = isinstance(value, (list, tuple)) and len(value) == 2
    if not is_pair or not all(isinstance(p, (int, float)) and 0 <= p <= 1 for p in value):
        raise ConfigError(f"{path}: expected two shares from 0 to 1, found {value!r}")
    return float(value[0]), float(value[1])


def read_names(value: Any) -> tuple[str, ...]:
    """Read a list of names of methods, as the study calls them."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
        raise ConfigError(f"variance_without: expected a list of names, found {value!r}")
    return tuple(value)
