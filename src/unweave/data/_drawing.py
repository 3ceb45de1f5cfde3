"""Row numbers drawn at random: evenly and without repetition, or by weights."""

import numpy as np
from numpy.random import Generator


def draw_evenly(population: int, size: int, rng: Generator) -> np.ndarray:
    """Draw without replacement, as far as there are enough."""
    if size >= population:
        whole, rest = divmod(size, population)
        parts = [rng.permutation(population) for _ in range(whole)]
        return np.concatenate([*parts, rng.permutation(population)[:rest]])
    return rng.choice(population, size=size, replace=False, shuffle=True)


def draw_by_weights(reached: np.ndarray, size: int, rng: Generator) -> np.ndarray:
    """Draw with replacement; `reached` is the running sum of the weights."""
    drawn = np.searchsorted(reached, rng.random(size) * reached[-1], side="right")
    return np.minimum(drawn, len(reached) - 1)
