"""How a code is turned: a number slides, a category is chosen, an angle goes round."""

from collections.abc import Sequence

import numpy as np

from unweave.errors import ConfigError
from unweave.methods import Unit
from unweave.runs.model import Model
from unweave.views.code_sample import CodeSample


def units_by_weight(model: Model, codes: CodeSample | None) -> list[Unit]:
    """Order what can be turned by KL, or by variance without a posterior, largest first.

    Without codes, as of a generator, the order is that of the dimensions.
    """
    units = model.code.units
    if codes is None:
        return units
    kl = codes.kl()
    weight = codes.codes.var(axis=0) if kl is None else kl
    order = np.argsort([-weight[list(unit.dimensions)].sum() for unit in units], kind="stable")
    return [units[i] for i in order]


def latent_order(model: Model, codes: CodeSample | None) -> list[int]:
    """Return the dimensions in the order in which every figure of a model shows them."""
    return [d for unit in units_by_weight(model, codes) for d in unit.dimensions]


def chosen_units(model: Model, latents: Sequence[int]) -> list[Unit]:
    """Return what the given dimensions are turned with, each once, in their order."""
    size = model.latent_dim
    if not latents or min(latents) < 0 or max(latents) >= size:
        raise ConfigError(f"expected latents from 0 to {size - 1}, found {list(latents)}")
    found: dict[int, Unit] = {}
    for latent in latents:
        unit = model.code.unit_of(int(latent))
        found.setdefault(unit.dimensions[0], unit)
    return list(found.values())


def values_of(unit: Unit, sliding: np.ndarray) -> np.ndarray:
    """Return the values a unit runs through: `sliding` of a number, choices of a category.

    A category with fewer choices than columns leaves the others without a number; of one
    with more, the first are shown. An angle goes once round.
    """
    steps = len(sliding)
    if unit.kind == "category":
        choices = np.arange(steps, dtype=np.float64)
        return np.where(choices < len(unit.dimensions), choices, np.nan)
    if unit.kind == "angle":
        return np.linspace(-np.pi, np.pi, steps)
    return sliding


def turned(code: np.ndarray, unit: Unit, values: np.ndarray) -> np.ndarray:
    """Return the code with a unit at each of the values that are numbers, (value, code)."""
    values = values[np.isfinite(values)]
    codes = np.tile(code, (len(values), 1))
    dimensions = list(unit.dimensions)
    if unit.kind == "category":
        codes[:, dimensions] = np.eye(len(dimensions), dtype=codes.dtype)[values.astype(int)]
    elif unit.kind == "angle":
        codes[:, dimensions] = np.stack([np.cos(values), np.sin(values)], axis=1)
    else:
        codes[:, dimensions[0]] = values
    return codes


def value_in(code: np.ndarray, unit: Unit) -> float:
    """Return at which value a unit of a code is."""
    part = code[list(unit.dimensions)]
    if unit.kind == "category":
        return float(part.argmax())
    if unit.kind == "angle":
        return float(np.arctan2(part[1], part[0]))
    return float(part[0])


def nearest_column(code: np.ndarray, unit: Unit, values: np.ndarray) -> int:
    """Return the column whose value is nearest to a code's; -1 if its choice is not shown."""
    start = value_in(code, unit)
    column = int(np.nanargmin(np.abs(values - start)))
    return -1 if unit.kind == "category" and values[column] != start else column
