"""Scores of codes that nothing was learnt for, made in the way that a model's own scores were.

Pixels averaged to a coarse grid, as many principal components as the model has latents, the same
networks before training, and the factors themselves; and the nulls of the model's own codes,
turned at random and with factors of other rows. All on the rows that the model was scored on.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unweave import catalog
from unweave.errors import DataError, UnweaveError
from unweave.evaluation.encode import encode_run, scored_rows
from unweave.evaluation.known_factors import known_factors
from unweave.evaluation.plan import DEFAULT, PRESETS
from unweave.evaluation.score import score
from unweave.evaluation.untrained import untrained_twin
from unweave.files.json_files import read_json
from unweave.files.writing import write_atomically
from unweave.methods.pixels import Grid
from unweave.runs.folder import versions
from unweave.runs.model import Model, in_parts
from unweave.runs.run import Run

FILE = "baselines.json"
PIXELS, COMPONENTS, UNTRAINED, TRUTH = "pixels", "PCA", "untrained", "ground truth"
SIDE = 8  # rows and columns that pixels are averaged to
FITTED = 3_000  # images that principal components are fitted to
DRAWS = 3  # of each null
SLOW = {"dci": 40_000}
"""Rows times codes above which a metric takes longer than a reader of a report would wait."""

Values = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Baselines:
    """Scores by metric and baseline, and nulls by metric and kind."""

    values: Values = field(default_factory=dict)
    nulls: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    rows: int = 0


def baselines_of(model: Model, *, make: bool = True) -> Baselines:
    """Return the baselines of a model's scores: those its folder keeps, or made and kept now.

    Not to `make` any leaves a model without that has none yet.
    """
    wanted = _wanted(model)
    if not wanted or not model.data.factor_list or model.code.why_no_codes(model.kind):
        return Baselines()
    key = _key(model, wanted)
    file = model.path / FILE if isinstance(model, Run) and model.folder else None
    kept = None if file is None else _read(file, key)
    if kept is not None or not make:
        return kept or Baselines()
    made = _made(model, wanted)
    if file is not None:
        content = {"key": key, **asdict(made)}
        write_atomically(file, json.dumps(content, indent=1) + "\n")
    return made


def _wanted(model: Model) -> dict[str, Mapping[str, Any]]:
    """Return the stored scores that others can be held against: of a table of rows, whole ones.

    Baselines have no concepts, and are not of columns with gaps.
    """
    return {
        name: entry
        for name, entry in model.scores.items()
        if name in DEFAULT
        and entry.get("value") is not None
        and (entry.get("made") or {}).get("preset") in PRESETS
        and not entry["made"].get("concepts")
        and not entry["made"].get("masked")
    }


def _key(model: Model, wanted: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    made = {
        name: [entry["value"], entry["protocol"], entry["made"]["preset"], entry["made"]["seeds"]]
        for name, entry in wanted.items()
    }
    return {"step": model.step, "scores": made, "unweave": versions()["unweave"]}


def _made(model: Model, wanted: Mapping[str, Mapping[str, Any]]) -> Baselines:
    rows = _rows(model)
    codes = model.encode_rows(rows) if not isinstance(model, Run) else encode_run(model).codes
    values: Values = {}
    for arm, table in _tables(model, rows).items():
        for name, result in _scored(table, model, rows, wanted).items():
            values.setdefault(name, {})[arm] = result.value
    nulls = {
        name: {null: list(draws) for null, draws in result.nulls.items()}
        for name, result in _scored(codes, model, rows, wanted, DRAWS).items()
    }
    return Baselines(values, nulls, len(rows))


def _rows(model: Model) -> np.ndarray:
    """Return the rows that a model's scores are made of, in their order."""
    if isinstance(model, Run):
        return scored_rows(model.data)
    count = min(sum((PRESETS["full"].train_rows, PRESETS["full"].test_rows)), len(model.data))
    return np.random.default_rng(0).permutation(len(model.data))[:count]


def _tables(model: Model, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return the codes of the baselines."""
    data = model.data
    found = {PIXELS: _of_images(model, rows, _grid(data.image_shape))}
    size = min(model.latent_dim, int(np.prod(data.image_shape)), len(rows))
    found[COMPONENTS] = _of_images(model, rows, _components(model, rows, size))
    untrained = untrained_twin(model, 0)
    if untrained is not None:
        found[UNTRAINED] = untrained.encode_rows(rows)
    found[TRUTH] = data.factors(rows).astype(np.float32)
    return found


def _of_images(model: Model, rows: np.ndarray, encode: Any) -> np.ndarray:
    return np.concatenate([encode(model.data.images(some)) for some in in_parts(rows)])


def _grid(image_shape: tuple[int, int, int]) -> Any:
    grid = Grid(image_shape, SIDE)
    return lambda images: grid(torch.from_numpy(images)).numpy()


def _components(model: Model, rows: np.ndarray, size: int) -> Any:
    from sklearn.decomposition import PCA

    seen = model.data.images(rows[:FITTED])
    fitted = PCA(min(size, len(seen)), svd_solver="randomized", random_state=0)
    fitted.fit(seen.reshape(len(seen), -1))
    return lambda images: fitted.transform(images.reshape(len(images), -1)).astype(np.float32)


def _scored(
    codes: np.ndarray,
    model: Model,
    rows: np.ndarray,
    wanted: Mapping[str, Mapping[str, Any]],
    nulls: int = 0,
) -> dict[str, Any]:
    """Score a table as the stored scores were made; without what would take too long."""
    found: dict[str, Any] = {}
    for name, entry in wanted.items():
        if codes.size > SLOW.get(name, math.inf):
            continue
        known = catalog.load("unweave.metrics", name, "metric").PROTOCOLS
        protocol = entry["protocol"] if entry["protocol"] in known else None
        declared = entry["made"].get("continuous_factors") or ()
        continuous = [name for name in model.data.factor_names if name in declared] or None
        scored = score(
            codes,
            known_factors(model.data, rows, continuous=continuous).values,
            [name],
            preset=entry["made"]["preset"],
            protocol=None if protocol is None else {name: protocol},
            seeds=int(entry["made"]["seeds"]),
            factor_names=model.data.factor_names,
            continuous=continuous,
            nulls=nulls,
        )
        found |= scored
    return found


def _read(file: Path, key: dict[str, Any]) -> Baselines | None:
    """Return what a folder keeps, if it is of these scores and nothing but numbers."""
    if not file.is_file() or file.is_symlink():
        return None
    try:
        content = read_json(file)
        if not isinstance(content, dict) or content.get("key") != key:
            return None
        values = {name: _numbers(by) for name, by in dict(content["values"]).items()}
        nulls = {
            str(name): {str(kind): [_number(draw) for draw in draws] for kind, draws in by.items()}
            for name, by in dict(content["nulls"]).items()
        }
        return Baselines(values, nulls, int(_number(content["rows"])))
    except (UnweaveError, KeyError, TypeError, ValueError, AttributeError):
        return None  # spoilt or forged: made anew


def _numbers(by: Mapping[str, Any]) -> dict[str, float]:
    return {str(name): _number(value) for name, value in by.items()}


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DataError(f"expected a number, found {value!r}")
    return float(value)
