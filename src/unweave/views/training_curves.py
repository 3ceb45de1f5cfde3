"""What the record of a training run says: terms, KL of latents, rates of layers by step."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.errors import DataError
from unweave.views.view import View

POINTS = 300  # a curve this fine is as wide as a screen needs
LAYER_RATE = re.compile(r"rate_(\d{1,9})_of_(.+)")
"""What the rate of a layer is called in the record: its place from the top, and its size."""
DIAGNOSTICS = "evaluation"
"""What stands for the player in curves that were measured at evaluations."""


@dataclass(frozen=True)
class Curve(View):
    """One term by step; where there are many steps, means over equal stretches."""

    player: str
    name: str
    steps: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Curves(View):
    """All terms of a training run."""

    curves: list[Curve]

    def named(self, name: str, player: str | None = None) -> Curve | None:
        """Return the curve of a term, the first player's unless one is given."""
        for curve in self.curves:
            if curve.name == name and player in (None, curve.player):
                return curve
        return None


@dataclass(frozen=True)
class KlOverTime(View):
    """KL of each latent to the prior at evaluations, in nats."""

    steps: np.ndarray
    kl: np.ndarray
    """(evaluation, latent)."""
    least: float = 0.0
    """KL of a latent that carries nothing, which only a Gaussian prior has at 0."""


@dataclass(frozen=True)
class LayerRates(View):
    """Rate of each layer of a hierarchy at evaluations, in nats, from the top layer down."""

    layers: list[str]
    """Size of each layer, such as 4x4."""
    steps: np.ndarray
    rates: np.ndarray
    """(evaluation, layer)."""


def curves(record: Iterable[dict[str, Any]], points: int = POINTS) -> Curves:
    """Collect the terms of every player, and the single numbers of evaluations."""
    steps: dict[tuple[str, str], list[int]] = defaultdict(list)
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in record:
        player = DIAGNOSTICS if line.get("kind") == "diagnostics" else line.get("player", "")
        for name, value in line.items():
            if name == "step" or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            steps[player, name].append(line["step"] + 1)
            values[player, name].append(value)
    return Curves(
        [
            Curve(player, name, *_thinned(np.array(steps[key]), np.array(values[key]), points))
            for key in steps
            for player, name in [key]
        ]
    )


def kl_over_time(record: Iterable[dict[str, Any]]) -> KlOverTime:
    """Collect the KL of each latent at evaluations; empty where a method has no posterior."""
    lines = [line for line in record if "kl_per_dimension" in line]
    if len({len(line["kl_per_dimension"]) for line in lines}) > 1:
        raise DataError("evaluations in the record are of different numbers of latents")
    kl = np.array([line["kl_per_dimension"] for line in lines], dtype=np.float64)
    steps = np.array([line["step"] + 1 for line in lines], dtype=np.int64)
    return KlOverTime(steps, kl, lines[-1].get("least_kl", 0.0) if lines else 0.0)


def layer_rates(record: Iterable[dict[str, Any]]) -> LayerRates:
    """Collect the rate of each layer at evaluations; empty where a method has no layers."""
    sizes: dict[int, str] = {}
    steps: list[int] = []
    rates: list[list[float]] = []
    for line in record:
        if line.get("kind") != "diagnostics":
            continue
        found = {
            int(m[1]): (m[2], line[name]) for name in line if (m := LAYER_RATE.fullmatch(name))
        }
        if found and steps and len(found) != len(sizes):
            raise DataError("evaluations in the record are of different numbers of layers")
        if found:
            sizes = {index: size for index, (size, _) in sorted(found.items())}
            steps.append(line["step"] + 1)
            rates.append([found[index][1] for index in sizes])
    return LayerRates(
        list(sizes.values()), np.array(steps, dtype=np.int64), np.array(rates, dtype=np.float64)
    )


def _thinned(steps: np.ndarray, values: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Average stretches of equally many entries, so that at most `points` are left."""
    if len(steps) <= points:
        return steps, values.astype(np.float64)
    first = np.linspace(0, len(steps), points, endpoint=False).astype(int)
    counts = np.diff([*first, len(steps)])
    means = np.add.reduceat(values.astype(np.float64), first) / counts
    return np.rint(np.add.reduceat(steps, first) / counts).astype(np.int64), means
