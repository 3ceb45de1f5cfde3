"""What to do to a code.

`z3=1.5` sets a latent, `z3+=0.5` moves it, `side=14` sets the latent that carries a factor to
where images of that value have it on average; `taken_from` takes latents of another image.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unweave.editing.targets import Finder, Target
from unweave.errors import ConfigError, shown
from unweave.methods import Unit
from unweave.views import turned

CHANGE = re.compile(r"\s*(.+?)\s*(\+=|-=|=)\s*(.+?)\s*")


@dataclass(frozen=True)
class Change:
    """One thing to do to a code."""

    target: Target
    words: str
    """What is done, as it is told."""
    apply: Callable[[np.ndarray], np.ndarray]
    """From codes (image, code) to changed codes."""


def read_change(text: str, finder: Finder) -> Change:
    """Read `z3=1.5`, `z3+=0.5` or `side=14`."""
    match = CHANGE.fullmatch(text)
    if match is None:
        raise ConfigError(
            f"expected a change such as z3=1.5, z3+=0.5 or side=14, found {shown(text)}"
        )
    word, sign, value = match.groups()
    target = finder.find(word)
    unit = target.unit
    if sign == "=" and target.factor:
        part = finder.code_at(target, value)
        told = f"{target.label} set to where {target.factor} is {value}"
        return Change(target, told, lambda codes: _with(codes, unit, part))
    number = _amount(value, text)
    if sign == "=":
        _check_choice(unit, number, text)
        told = f"{target.label} set to {number:g}"
        return Change(target, told, lambda codes: _set(codes, unit, number))
    if unit.kind == "category":
        raise ConfigError(f"{text}: {target.label} is one category of several; choose one with =")
    step = number if sign == "+=" else -number
    return Change(target, f"{target.label} moved by {step:+g}", lambda c: _moved(c, unit, step))


def taken_from(code: np.ndarray, target: Target, name: str) -> Change:
    """Take a latent from another image's code."""
    part = code[list(target.unit.dimensions)]
    told = f"{target.label} taken from {name}"
    return Change(target, told, lambda codes: _with(codes, target.unit, part))


def _with(codes: np.ndarray, unit: Unit, part: np.ndarray) -> np.ndarray:
    changed = codes.copy()
    changed[:, list(unit.dimensions)] = part
    return changed


def _set(codes: np.ndarray, unit: Unit, number: float) -> np.ndarray:
    return _with(codes, unit, turned(codes[0], unit, np.array([number]))[0, list(unit.dimensions)])


def _moved(codes: np.ndarray, unit: Unit, step: float) -> np.ndarray:
    if unit.kind == "number":
        return _with(codes, unit, codes[:, list(unit.dimensions)] + step)
    cosine, sine = codes[:, list(unit.dimensions)].T
    angle = np.arctan2(sine, cosine) + step
    return _with(codes, unit, np.stack([np.cos(angle), np.sin(angle)], axis=1))


def _check_choice(unit: Unit, number: float, text: str) -> None:
    if unit.kind == "category" and number not in range(len(unit.dimensions)):
        raise ConfigError(f"{text}: expected a category from 0 to {len(unit.dimensions) - 1}")


def _amount(value: str, text: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise ConfigError(f"{text}: expected a number after the sign, found {shown(value)}")
    return number
