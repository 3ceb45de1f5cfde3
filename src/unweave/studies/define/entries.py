"""The parts of a study, read from plain tables; every message names the entry by its path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from unweave import catalog
from unweave.errors import ConfigError
from unweave.methods import Method
from unweave.runs.config import named
from unweave.settings.plain import flat, from_plain


class Mistakes(ConfigError):
    """Several things that are wrong with one part of a study."""

    def __init__(self, problems: Sequence[str]):
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))


class StudyErrors(ConfigError):
    """Everything that is wrong with a study, in one list."""

    def __init__(self, name: str, problems: Sequence[str], unread: Sequence[str] = ()):
        self.unread = tuple(unread)
        """Fields that could not be read at all."""
        self.problems = list(dict.fromkeys(problems))
        count = len(self.problems)
        said = "1 mistake" if count == 1 else f"{count} mistakes"
        lines = [f"study {name}: {said}, nothing was started", *self.problems]
        super().__init__("\n  - ".join(lines))


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What every run may use."""

    steps: int = 20_000
    """How many steps to train."""
    batch_size: int = 64
    """Images in a step."""
    evaluations: int = 4
    """How often to pause for diagnostics, which cost as much as some steps."""
    minutes_per_run: float | None = None
    """Longest time of one run; one that takes longer is stopped and counts as failed."""

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "evaluations"):
            if (value := getattr(self, name)) < 1:
                raise ConfigError(f"{name} must be 1 or more, found {value}")
        if self.minutes_per_run is not None and self.minutes_per_run <= 0:
            raise ConfigError(f"minutes_per_run must be above 0, found {self.minutes_per_run}")


@dataclass(frozen=True, kw_only=True)
class Range:
    """Where a random sample draws one setting from."""

    low: float | None = None
    """Smallest value; whole numbers are drawn if both ends are written without a point."""
    high: float | None = None
    """Largest value."""
    scale: Literal["linear", "log"] = "linear"
    """Whether values or their logarithms are drawn evenly."""
    choices: tuple[Any, ...] | None = None
    """Values to choose from, instead of low and high."""
    whole: bool = False

    def __post_init__(self) -> None:
        if self.choices is not None:
            if self.low is not None or self.high is not None or not self.choices:
                raise ConfigError("give either low and high, or choices that are not empty")
            return
        if self.low is None or self.high is None or self.low > self.high:
            raise ConfigError(
                f"expected low ≤ high, or choices; found low {self.low}, high {self.high}"
            )
        if self.scale == "log" and self.low <= 0:
            raise ConfigError(f"a log scale needs low above 0, found {self.low}")


@dataclass(frozen=True, kw_only=True)
class RandomSample:
    """Points drawn at random; the first ones stay when the count is raised."""

    count: int
    """How many points."""
    settings: Mapping[str, Range]
    """Where each setting is drawn from."""
    seed: int = 0
    """Decides which points."""

    def __post_init__(self) -> None:
        if self.count < 1 or self.seed < 0 or not self.settings:
            raise ConfigError("a random sample needs a count and settings, and no negative seed")


@dataclass(frozen=True, kw_only=True)
class Variation:
    """Settings to vary: the product of a grid, a list of points and a random sample."""

    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    points: tuple[Mapping[str, Any], ...] = ()
    random: RandomSample | None = None


@dataclass(frozen=True, kw_only=True)
class MethodPlan:
    """One method of a study: what is fixed and what is varied."""

    name: str
    label: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    """What its runs have besides: steps, batch_size, architecture, …; by path."""
    variation: Variation = Variation()


def read_data(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, (list, tuple)) or not values:
        raise ConfigError(f"data: expected a name or a list of names, found {value!r}")
    if not all(isinstance(entry, str) for entry in values):
        raise ConfigError(f"data: expected names, found {value!r}")
    return tuple(dict.fromkeys(values))


def read_seeds(value: Any) -> tuple[int, ...]:
    if type(value) is int and 1 <= value <= 1_000_000:
        return tuple(range(value))
    whole = isinstance(value, (list, tuple, range)) and all(type(s) is int for s in value)
    if not whole or not len(value) or min(value) < 0 or len(set(value)) < len(value):
        raise ConfigError(f"seeds: expected how many, or different numbers from 0, found {value!r}")
    return tuple(value)


def read_budget(value: Any) -> Budget:
    return value if isinstance(value, Budget) else from_plain(Budget, value, "budget")


def read_settings(value: Any, path: str = "settings") -> dict[str, Any]:
    """Read a table of settings, nested or by paths, as one by paths."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{path}: expected a table of settings, found {value!r}")
    return flat(value)


def read_grid(value: Any, path: str = "grid") -> dict[str, tuple[Any, ...]]:
    grid = {}
    for key, values in read_settings(value, path).items():
        if not isinstance(values, (list, tuple)) or not values:
            raise ConfigError(f"{path}.{key}: expected a list of values, found {values!r}")
        grid[key] = tuple(values)
    return grid


def read_points(value: Any, path: str = "list") -> tuple[dict[str, Any], ...]:
    if not isinstance(value, (list, tuple)):
        raise ConfigError(f"{path}: expected a list of tables, found {value!r}")
    return tuple(read_settings(point, f"{path}[{index}]") for index, point in enumerate(value))


def read_random(value: Any, path: str = "random") -> RandomSample | None:
    if value is None or isinstance(value, RandomSample):
        return value
    if not isinstance(value, Mapping):
        raise ConfigError(f"{path}: expected a table with count and settings, found {value!r}")
    inner = value.get("settings", {})
    if not isinstance(inner, Mapping):
        raise ConfigError(f"{path}.settings: expected a table, found {inner!r}")
    ranges = {}
    for key, entry in flat(inner, _is_range).items():
        if not isinstance(entry, Mapping):
            raise ConfigError(
                f"{path}.settings.{key}: expected low and high, or choices, found {entry!r}"
            )
        ends = [entry.get("low"), entry.get("high")]
        whole = all(type(end) is int for end in ends)
        simple = {k: v for k, v in entry.items() if k != "choices"}
        found = _range(simple, entry.get("choices"), whole, f"{path}.settings.{key}")
        ranges[key] = found
    plain = {k: v for k, v in value.items() if k != "settings"}
    extra = sorted(set(plain) - {"count", "seed"})
    if extra:
        known = ["count", "seed", "settings"]
        raise ConfigError(f"{path}: no setting {extra[0]!r}. {catalog.suggestion(extra[0], known)}")
    for key in plain:
        if type(plain[key]) is not int:
            raise ConfigError(f"{path}.{key}: expected a whole number, found {plain[key]!r}")
    if "count" not in plain:
        raise ConfigError(f"{path}.count is missing")
    try:
        return RandomSample(settings=ranges, **plain)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def _is_range(table: Mapping[str, Any]) -> bool:
    return bool({"low", "high", "choices"} & table.keys())


def _range(simple: dict[str, Any], choices: Any, whole: bool, path: str) -> Range:
    if choices is not None and not isinstance(choices, (list, tuple)):
        raise ConfigError(f"{path}.choices: expected a list, found {choices!r}")
    if "whole" in simple:
        raise ConfigError(f"{path}: write both ends without a point for whole numbers")
    if choices is not None:
        if simple:
            raise ConfigError(f"{path}: give either low and high, or choices")
        try:
            return Range(choices=tuple(choices))
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None
    found = from_plain(Range, simple, path)
    return replace(found, whole=whole)


def read_methods(value: Any) -> tuple[tuple[MethodPlan, bool], ...]:
    """Read the methods, each with whether it has a label of its own."""
    if not isinstance(value, (list, tuple)) or not value:
        raise ConfigError("methods: expected a list with at least one method")
    found, problems = [], []
    for index, entry in enumerate(value):
        try:
            found.append(_read_method(entry, f"methods[{index}]"))
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise Mistakes(problems)
    return tuple(found)


def _read_method(entry: Any, path: str) -> tuple[MethodPlan, bool]:
    if isinstance(entry, MethodPlan):
        return entry, True
    if isinstance(entry, str):
        return MethodPlan(name=entry, label=entry), False
    if isinstance(entry, Method):
        catalog.plugins.know(type(entry))  # so that its name leads back to it
        plain = named(entry)
        default = named(type(entry)())
        # Tables whole: what is left out of one is read as its own default, not the method's.
        changed = flat({k: v for k, v in plain.items() if default[k] != v})
        name = plain["name"]
        return MethodPlan(name=name, label=name, settings=changed), False
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise ConfigError(f"{path}: expected a name or a table with a name, found {entry!r}")
    known = ["name", "label", "settings", "run", "grid", "list", "random"]
    for key in entry:
        if key not in known:
            raise ConfigError(f"{path}: no setting {key!r}. {catalog.suggestion(str(key), known)}")
    label = entry.get("label", entry["name"])
    if not isinstance(label, str) or not label:
        raise ConfigError(f"{path}.label: expected text, found {label!r}")
    plan = MethodPlan(
        name=entry["name"],
        label=label,
        settings=read_settings(entry.get("settings", {}), f"{path}.settings"),
        run=_read_run(entry.get("run", {}), f"{path}.run"),
        variation=Variation(
            grid=read_grid(entry.get("grid", {}), f"{path}.grid"),
            points=read_points(entry.get("list", ()), f"{path}.list"),
            random=read_random(entry.get("random"), f"{path}.random"),
        ),
    )
    return plan, "label" in entry


def _read_run(value: Any, path: str) -> dict[str, Any]:
    """Read what the runs of one method have besides the method's own settings."""
    found = read_settings(value, path)
    elsewhere = {
        "method": "settings beside it",
        "data": "data at the top",
        "data_options": "settings at the top",
        "seed": "seeds at the top",
    }
    for key in found:
        if place := elsewhere.get(key.partition(".")[0]):
            raise ConfigError(f"{path}.{key}: this belongs to {place}")
    steps = found.get("steps", 1)
    if type(steps) is not int or steps < 1:
        raise ConfigError(f"{path}.steps: expected a whole number from 1, found {steps!r}")
    return found


def with_labels(plans: Sequence[tuple[MethodPlan, bool]]) -> tuple[MethodPlan, ...]:
    """Tell plans of the same method apart by what is fixed in them."""
    labels = [plan.label for plan, _ in plans]
    named_plans = []
    for plan, own in plans:
        if not own and labels.count(plan.label) > 1 and plan.settings:
            said = ", ".join(
                f"{key.rpartition('.')[2]} {value:g}"
                if isinstance(value, float)
                else f"{key.rpartition('.')[2]} {value}"
                for key, value in plan.settings.items()
            )
            plan = replace(plan, label=f"{plan.name} ({said})")
        named_plans.append(plan)
    return tuple(named_plans)


def read_keep(value: Any) -> Any:
    catalog.check_name(str(value), ("networks", "checkpoints"), "way to keep files (keep)")
    return value
