"""What of a code is meant by a word: a latent, the name that it was given, or a factor.

A factor is carried by the latent that knows most of it; how much that is, how much the next
one knows, and how much a latent seems to know of a factor of other rows, is said as evidence.
"""

import re
from dataclasses import dataclass, replace

import numpy as np

from unweave import catalog
from unweave.data import Factor, FactorImages
from unweave.editing.sources import in_words
from unweave.errors import ConfigError, shown
from unweave.methods import Unit
from unweave.runs.model import Model
from unweave.views import CodeSample, heat_map, sample_codes

LATENT = re.compile(r"z?(\d{1,6})")
ROWS = 3_000
LEAST = 0.1
"""Share of a factor's entropy that a latent must know to be said to carry it."""
NEAR = 0.05
"""Share of the rows that stand for one value of a continuous factor."""


@dataclass(frozen=True)
class Target:
    """What is turned when a word is asked for."""

    asked: str
    unit: Unit
    label: str
    """What figures write beside it: z3, or z3 and the name it was given."""
    factor: str = ""
    """The factor it stands for, if it was found by one."""
    evidence: str = ""
    """Why this latent stands for the factor."""


class Finder:
    """Finds what words mean in the code of one model; its data is encoded when first needed."""

    def __init__(self, model: Model, codes: CodeSample | None = None, seed: int = 0):
        self.model, self._codes, self.seed = model, codes, seed
        self._known: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def codes(self) -> CodeSample:
        """Return codes and factors of rows of the model's data."""
        if self._codes is None:
            self._codes = sample_codes(self.model, ROWS, self.seed)
        return self._codes

    def find(self, word: str) -> Target:
        """Return what a word means: z3, the name of a latent, or a factor, in this order."""
        model, word = self.model, word.strip()
        if match := LATENT.fullmatch(word):
            index = int(match[1])
            if index >= model.latent_dim:
                raise ConfigError(f"{word}: expected a latent from z0 to z{model.latent_dim - 1}")
            return self._of(word, model.code.unit_of(index))
        named = {name.lower(): index for index, name in model.latent_names.items()}
        if word.lower() in named:
            return self._of(word, model.code.unit_of(named[word.lower()]))
        factors = self._factor_names()
        if word not in factors:
            known = [*model.latent_names.values(), *factors]
            raise ConfigError(
                f"{shown(word)} is no latent (z0 to z{model.latent_dim - 1}), no name of one and "
                f"no factor of the data. {catalog.suggestion(word, known) if known else ''}".strip()
            )
        return self._by_factor(word)

    def _of(self, word: str, unit: Unit) -> Target:
        return Target(word, unit, self.model.label(unit))

    def _factor_names(self) -> tuple[str, ...]:
        return self.model.data.factor_names

    def _by_factor(self, word: str) -> Target:
        model = self.model
        held = [unit for unit in model.code.units if unit.factor == word]
        if held:
            target = self._of(word, held[0])
            told = f"{word} is what labels hold {target.label} to"
            return replace(target, factor=word, evidence=told)
        units = model.code.units
        if len(units) == 1:
            told = f"{word} can only be carried by {model.label(units[0])}, the whole code"
            return replace(self._of(word, units[0]), factor=word, evidence=told)
        shares, chance = self._shares()
        line = shares[self._place(word)]
        weights = np.array([line[list(unit.dimensions)].max() for unit in units])
        order = np.argsort(-weights, kind="stable")
        best, next_best = units[order[0]], units[order[1]]
        by_chance = chance[self._place(word)].max()
        told = (
            f"{word} is carried by {model.label(best)}, which knows {weights[order[0]]:.2f} of its "
            f"entropy; the next, {model.label(next_best)}, knows {weights[order[1]]:.2f}, and "
            f"{by_chance:.2f} is seen by chance"
        )
        if weights[order[0]] < max(LEAST, 2 * by_chance):
            raise ConfigError(f"no latent carries {word}: {told.partition(' is ')[2]}")
        return replace(self._of(word, best), factor=word, evidence=told)

    def _place(self, factor: str) -> int:
        """Return where a factor stands among those that vary, which alone are compared."""
        names = list(heat_map(self.model, "mi", self.codes).factors)
        catalog.check_name(factor, names, "factor that varies")
        return names.index(factor)

    def _shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what latents know of factors, (factor, latent), and seem to know by chance."""
        if self._known is None:
            rng = np.random.default_rng((self.seed, 0xED17))
            other_rows = self.codes.factors[rng.permutation(len(self.codes.factors))]
            chance = heat_map(self.model, "mi", replace(self.codes, factors=other_rows))
            self._known = heat_map(self.model, "mi", self.codes).values, chance.values
        return self._known

    def code_at(self, target: Target, value: str) -> np.ndarray:
        """Return what the dimensions of a target are where its factor has a value, on average."""
        data = self.model.data
        factor = data.factor_list[data.factor_names.index(target.factor)]
        column = self.codes.factors[:, data.factor_names.index(target.factor)]
        rows = rows_with(factor, column, value, data)
        mean: np.ndarray = self.codes.codes[rows][:, list(target.unit.dimensions)].mean(axis=0)
        if target.unit.kind == "category":
            return np.eye(len(mean), dtype=np.float32)[int(mean.argmax())]
        if target.unit.kind == "angle":
            return mean / max(float(np.hypot(*mean)), 1e-9)
        return mean


def rows_with(factor: Factor, column: np.ndarray, value: str, data: FactorImages) -> np.ndarray:
    """Mark the rows where a factor has a value, written as the factor calls it."""
    if factor.continuous:
        number = _number(value)
        if number is None:
            raise ConfigError(
                f"{factor.name} is an amount; expected a number, found {shown(value)}"
            )
        away = np.abs(column - number)
        low, high = float(np.nanmin(column)), float(np.nanmax(column))
        if not low <= number <= high:
            raise ConfigError(f"{factor.name} of {data.name} goes from {low:g} to {high:g}")
        return np.asarray(away <= np.nanquantile(away, NEAR))
    called = in_words(factor, np.arange(factor.size))
    matches = [
        index
        for index, name in enumerate(called.tolist())
        if str(name) == value or (not isinstance(name, str) and _number(value) == float(name))
    ]
    if not matches:
        raise ConfigError(
            f"{factor.name} has no value {shown(value)}; expected one of "
            f"{', '.join(map(str, called[:12]))}{', …' if factor.size > 12 else ''}"
        )
    return np.asarray(column == matches[0])


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None
