"""From a study to its runs, checked whole: every mistake is found before anything starts."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unweave import catalog
from unweave.data import DataOptions, FactorImages, load_data
from unweave.errors import ConfigError, UnweaveError
from unweave.evaluation import measures
from unweave.evaluation.plan import ALONE, DEFAULT, PRESETS
from unweave.metrics import SEVERAL_MODELS
from unweave.runs import config
from unweave.runs.config import Train
from unweave.settings.plain import from_plain, to_plain
from unweave.studies.define.entries import MethodPlan, RandomSample, Range, StudyErrors, Variation
from unweave.studies.define.study import Study
from unweave.training import loop

MOST_RUNS = 100_000
"""A study with more was not meant."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of a study."""

    run_id: str
    """Name of its folder, which no other settings share."""
    config: Train
    method: str
    """Label of the method in the study."""
    varied: dict[str, Any]
    """Settings that the study varies, by path; without the seed."""

    @property
    def arm(self) -> str:
        """Say what is the same in runs that differ by their seed only."""
        said = ", ".join(
            f"{short(path)} {'none' if value == '' else value}"
            for path, value in self.varied.items()
        )
        return f"{self.method}, {said}" if said else self.method


@dataclass(frozen=True)
class Plan:
    """A study and all its runs."""

    study: Study
    runs: list[PlannedRun]
    data: dict[str, FactorImages]
    """The data sets, opened, by the `data_key` of the runs that they are for."""
    metrics: list[str]
    """Names of the metrics that are scored."""


def short(path: str) -> str:
    """Leave out the word that all settings of methods, or of how data are read, begin with."""
    return path.removeprefix("method.").removeprefix("data_options.")


def expand(study: Study) -> Plan:
    """Return the runs of a study, or raise one error that lists everything wrong with it."""
    problems: list[str] = []
    metrics = _check_metrics(study, problems)
    options = _data_options(study, problems)
    if (count := count_runs(study)) > MOST_RUNS:
        problems.append(f"{count:,} runs; a study has at most {MOST_RUNS:,}")
        raise StudyErrors(study.name, problems)
    data = {
        config.data_key(source, to_plain(options)): _open(source, options, problems)
        for source in study.data
    }
    runs: dict[str, PlannedRun] = {}
    tried: set[str] = set()
    for planned in _all_runs(study, problems):
        source, key = planned.config.data, planned.config.data_key
        if key not in data:  # sets, and how they are read, may be varied like any setting
            data[key] = _open(source, planned.config.data_options, problems)
        opened = data[key]
        if opened is None:
            continue  # the other settings are checked all the same
        try:
            resolved = loop.resolved(planned.config, opened)
        except UnweaveError as error:
            problems.append(f"{planned.arm} on {source}: {error}")
            continue
        alike = replace(resolved, seed=0).run_name
        if alike not in tried:
            tried.add(alike)
            problems += _impossible(resolved, opened, metrics, planned.arm)
        name = resolved.run_name
        runs.setdefault(name, replace(planned, run_id=name, config=resolved))
    if problems:
        raise StudyErrors(study.name, problems)
    there = {key: opened for key, opened in data.items() if opened is not None}
    return Plan(study, list(runs.values()), there, metrics)


def _all_runs(study: Study, problems: list[str]) -> Iterator[PlannedRun]:
    for source, plan in itertools.product(study.data, study.methods):
        common = dict(study.settings)
        if any(map(_of_network, plan.run)):  # one of its own has no settings of the others'
            common = {path: value for path, value in common.items() if not _of_network(path)}
        own = {f"method.{path}": value for path, value in plan.settings.items()}
        shared_points = list(points(study.variation))
        own_points = [
            {f"method.{path}": value for path, value in point.items()}
            for point in points(plan.variation)
        ]
        for shared, single in itertools.product(shared_points, own_points):
            varied = {**shared, **single}
            if len(study.data) > 1:
                varied = {"data": source, **varied}
            plain = _plain_settings(study, plan, source, [common, plan.run, own, shared, single])
            for seed in study.seeds:
                try:
                    settings = config.from_json({**plain, "seed": seed})
                except ConfigError as error:
                    problems.append(f"{plan.label}: {error}")
                    break
                yield PlannedRun("", settings, plan.label, varied)


def _of_network(path: str) -> bool:
    return path.partition(".")[0] == "architecture"


def _plain_settings(
    study: Study, plan: MethodPlan, source: str, changes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the settings of a run as a nested table, without its seed; later changes count."""
    plain: dict[str, Any] = {
        "method": {"name": plan.name},
        "data": source,
        "steps": study.budget.steps,
        "batch_size": study.budget.batch_size,
    }
    for change in changes:
        # What is chosen by name, such as an architecture or an optimizer, before its settings.
        for path in sorted(change, key=lambda path: path.count(".")):
            _set(plain, path, change[path])
    return plain


def _set(plain: dict[str, Any], path: str, value: Any) -> None:
    """Set one entry of a nested table; a name in the place of a table changes its name."""
    *tables, last = path.split(".")
    for table in tables:
        inner = plain.get(table)
        if isinstance(inner, str):
            inner = {"name": inner}
        plain[table] = inner if isinstance(inner, dict) else {}
        plain = plain[table]
    if isinstance(value, str) and (path == "architecture" or isinstance(plain.get(last), dict)):
        value = {**plain.get(last, {}), "name": value}
    plain[last] = value


def points(variation: Variation) -> Iterator[dict[str, Any]]:
    """Yield the settings of every point: the product of grid, list and random sample."""
    grid = [
        dict(zip(variation.grid, values, strict=True))
        for values in itertools.product(*variation.grid.values())
    ]
    listed = [dict(point) for point in variation.points] or [{}]
    drawn = [{}] if variation.random is None else list(_draw(variation.random))
    for parts in itertools.product(grid, listed, drawn):
        yield {path: value for part in parts for path, value in part.items()}


def _draw(sample: RandomSample) -> Iterator[dict[str, Any]]:
    for index in range(sample.count):
        # A generator per point: raising the count keeps the points there were.
        rng = np.random.default_rng((sample.seed, index))
        yield {path: _draw_one(place, rng) for path, place in sample.settings.items()}


def _draw_one(place: Range, rng: np.random.Generator) -> Any:
    if place.choices is not None:
        return place.choices[int(rng.integers(len(place.choices)))]
    assert place.low is not None
    assert place.high is not None
    low, high = place.low, place.high
    if place.whole and place.scale == "linear":
        return int(rng.integers(int(low), int(high) + 1))
    if place.scale == "log":
        value = math.exp(rng.uniform(math.log(low), math.log(high)))
    else:
        value = rng.uniform(low, high)
    if place.whole:
        return min(max(round(value), int(low)), int(high))
    return min(max(float(f"{value:.4g}"), low), high)  # short enough to be read in a table


def count_runs(study: Study) -> int:
    """Return how many runs the study asks for, without making them."""

    def size(variation: Variation) -> int:
        grid = math.prod(len(values) for values in variation.grid.values())
        drawn = 1 if variation.random is None else variation.random.count
        return grid * max(len(variation.points), 1) * drawn

    own = sum(size(plan.variation) for plan in study.methods)
    return len(study.data) * len(study.seeds) * size(study.variation) * own


def _check_metrics(study: Study, problems: list[str]) -> list[str]:
    asked = study.metrics
    if isinstance(asked, str):
        asked = list(DEFAULT) if asked == "default" else asked.split(",")
        whole = asked == ["all"]
        asked = catalog.usable("unweave.metrics") if whole else [name.strip() for name in asked]
    if not asked:
        problems.append("metrics: expected default, all, or names, found none")
    good = []
    for name in dict.fromkeys(asked):
        try:
            if measures.measure_named(name) is not None:
                good.append(name)
                continue
            module = catalog.load("unweave.metrics", name, "metric")
        except ConfigError as error:
            meant = catalog.suggestion(name, measures.NAMES)
            said = f" {meant}" if meant.startswith("Did you mean") else ""
            problems.append(f"metrics: {error}{said}")
            continue
        if module.NEEDS != SEVERAL_MODELS:
            good.append(name)
        elif study.metrics != "all":
            problems.append(
                f"metrics: {name} compares runs with each other; leave it out, "
                f"`unweave study report` computes it"
            )
    try:
        catalog.check_name(study.preset, PRESETS, "preset")
        if isinstance(study.protocol, Mapping):
            for name, value in study.protocol.items():
                catalog.check_name(name, good, "scored metric to set a protocol for")
                if measures.measure_named(name) is not None:
                    raise ConfigError(f"{name} is a measure of runs, which has no protocols")
                protocols = catalog.load("unweave.metrics", name, "metric").PROTOCOLS
                catalog.check_name(value, protocols, f"protocol of {name}")
        elif study.protocol is not None:
            plain = [m for m in good if measures.measure_named(m) is None]
            every = {p for m in plain for p in catalog.load("unweave.metrics", m, "").PROTOCOLS}
            catalog.check_name(study.protocol, sorted(every), "protocol")
        if study.main_metric is not None:
            catalog.check_name(study.main_metric, good, "scored metric (main_metric)")
    except ConfigError as error:
        problems.append(str(error))
    return good


def _data_options(study: Study, problems: list[str]) -> DataOptions:
    plain = {
        path.removeprefix("data_options."): value
        for path, value in study.settings.items()
        if path.startswith("data_options.")
    }
    try:
        return from_plain(DataOptions, plain, "settings.data_options")
    except ConfigError as error:
        problems.append(str(error))
        return DataOptions()


def _open(source: str, options: DataOptions, problems: list[str]) -> FactorImages | None:
    try:
        return load_data(source, options)
    except UnweaveError as error:
        problems.append(f"data: {error}")
        return None


def _impossible(settings: Train, data: FactorImages, metrics: list[str], arm: str) -> list[str]:
    """Say why a run could not be made or scored, if so."""
    problems = []
    try:
        loop.check(settings, data)
    except UnweaveError as error:
        problems.append(f"{arm} on {settings.data}: {error}")
    if not data.factor_list:
        needy = [
            name
            for name in metrics
            if measures.measure_named(name) is None
            and catalog.load("unweave.metrics", name, "metric").NEEDS not in ALONE
        ]
        if needy:
            problems.append(
                f"{settings.data} has no factors, which {', '.join(needy)} need; name metrics "
                f"that need none, such as gaussian_total_correlation"
            )
    return problems
