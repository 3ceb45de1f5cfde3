"""pendulum: a lamp throws a pendulum's shadow, 7,308 images of 64×64; causes are known.

M. Yang et al., "CausalVAE", CVPR 2021, arXiv:2004.08697: 84 angles of the pendulum by 87 of
the light, which together set the length and the position of the shadow. The picture's
geometry is the paper's, drawn here with smooth edges; every fourth image is in the part
`test`, the others in `train`.

The two angles are free; the shadow follows from them, so the factors depend on each other
(`GRAPH`). An intervention cuts an effect off from its causes and shows what no picture of the
set shows: `pendulum:do(shadow_length=6)`, or `shadow_position=random`, drawn for each image
over its range; several go with commas between them. Angles are in degrees.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.random import Generator

from unweave import catalog
from unweave.data._dataset import Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._pixels import FunctionPixels
from unweave.errors import ConfigError, DataError

PENDULUM, LIGHT, LENGTH, POSITION = NAMES = (
    "pendulum_angle",
    "light_angle",
    "shadow_length",
    "shadow_position",
)
GRAPH = {LENGTH: (PENDULUM, LIGHT), POSITION: (PENDULUM, LIGHT)}
"""The causes of each factor that has any."""
PENDULUM_ANGLES = np.arange(-40, 44) * 0.9  # degrees: π/200 is 0.9°
LIGHT_ANGLES = np.array([j for j in range(60, 148) if j != 100]) * 0.9
SIDE = 64
LEFT, RIGHT, BOTTOM, TOP = 0.0, 20.0, -1.0, 21.0  # of the picture, in the paper's units
PIVOT, ROD, BALL, REACH = (10.0, 10.5), 8.0, 1.5, 9.5
SUN_HEIGHT, SUN, GROUND, SHORTEST = 20.5, 3.0, -0.5, 3.0
LINE = 2.7  # pixels: the width of rod and shadow
BALL_COLOR = np.array([178, 34, 34], np.float32) / 255
SUN_COLOR = np.array([255, 165, 0], np.float32) / 255
RANDOM = "random"
DO = re.compile(r"do\((.*)\)")


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Draw the set, or what it becomes under an intervention."""
    if path is None:
        return intervened({})
    match = DO.fullmatch(str(path))
    if match is None:
        raise DataError(
            f"pendulum is made on this machine and takes no file; write pendulum, or an "
            f"intervention such as pendulum:do(shadow_length=6); found {path}"
        )
    wishes: dict[str, float | str] = {}
    for wish in match[1].split(","):
        name, _, value = (part.strip() for part in wish.partition("="))
        catalog.check_name(name, NAMES, "factor of pendulum")
        try:
            wishes[name] = RANDOM if value == RANDOM else float(value)
        except ValueError:
            raise ConfigError(
                f"expected pendulum:do({name}=NUMBER) or ({name}=random), found {wish!r}"
            ) from None
    return intervened(wishes)


def intervened(do: Mapping[str, float | str]) -> FactorImages:
    """Return the set with some factors set from outside: to a number, or at random."""
    angles = np.indices((len(PENDULUM_ANGLES), len(LIGHT_ANGLES))).reshape(2, -1)
    degrees = {PENDULUM: PENDULUM_ANGLES[angles[0]], LIGHT: LIGHT_ANGLES[angles[1]]}
    factors = [
        Factor(PENDULUM, len(PENDULUM_ANGLES), _labels(PENDULUM_ANGLES)),
        Factor(LIGHT, len(LIGHT_ANGLES), _labels(LIGHT_ANGLES)),
        Factor(LENGTH, 0),
        Factor(POSITION, 0),
    ]
    columns = {PENDULUM: angles[0], LIGHT: angles[1]}
    limits = _limits(degrees)
    for index, name in enumerate((PENDULUM, LIGHT)):
        if name in do:
            value = _checked(name, do[name], limits)
            degrees[name] = np.full(angles.shape[1], value)
            columns[name] = np.zeros(angles.shape[1], np.int64)
            factors[index] = Factor(name, 1, (f"{value:g}",))
    columns |= _shadow(degrees)
    rng = np.random.default_rng(0)
    for name in (LENGTH, POSITION):
        if do.get(name) == RANDOM:
            columns[name] = rng.uniform(*limits[name], size=angles.shape[1])
        elif name in do:
            columns[name] = np.full(angles.shape[1], _checked(name, do[name], limits))
    pixels = FunctionPixels((3, SIDE, SIDE), angles.shape[1], _painter(degrees, columns))
    numbers = np.arange(angles.shape[1])
    note = ""
    if do:
        wish = ", ".join(f"{k}={v if v == RANDOM else format(v, 'g')}" for k, v in do.items())
        note = f"under do({wish}): images that the observed set never shows"
    return FactorImages(
        "pendulum",
        pixels,
        factors,
        np.stack([columns[name].astype(np.float64) for name in NAMES], axis=1),
        partitions={"train": numbers[numbers % 4 != 3], "test": numbers[numbers % 4 == 3]},
        note=note,
        graph=GRAPH,
    )


def _labels(angles: np.ndarray) -> tuple[str, ...]:
    return tuple(f"{angle:g}" for angle in angles.round(1))


def _limits(degrees: Mapping[str, np.ndarray]) -> dict[str, tuple[float, float]]:
    """Return the range of every factor in the observed set."""
    values = dict(degrees) | _shadow(degrees)
    return {name: (float(column.min()), float(column.max())) for name, column in values.items()}


def _checked(name: str, value: float | str, limits: Mapping[str, tuple[float, float]]) -> float:
    low, high = limits[name]
    if isinstance(value, str):
        raise ConfigError(f"{name} has no causes: set at random it is what it was; give a number")
    if not low <= value <= high:
        raise ConfigError(f"{name} can be set from {low:g} to {high:g}, found {value:g}")
    if name == LIGHT and abs(np.tan(np.radians(value))) > 1e6:
        raise ConfigError(f"{LIGHT} cannot be 90: shadows fall straight down; 89.1 can be")
    return value


def _shadow(degrees: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return length and position of the shadow that the angles make."""
    swing = np.radians(degrees[PENDULUM])
    reach = PIVOT[0] + REACH * np.sin(swing), PIVOT[1] - REACH * np.cos(swing)
    slope = np.tan(np.radians(degrees[LIGHT]))
    ends = [x + (GROUND - y) / slope for x, y in (PIVOT, reach)]
    length = np.maximum(SHORTEST, abs(ends[0] - ends[1]))
    return {LENGTH: length, POSITION: (ends[0] + ends[1]) / 2}


def _painter(
    degrees: Mapping[str, np.ndarray], columns: Mapping[str, np.ndarray]
) -> Callable[[np.ndarray, Generator], np.ndarray]:
    """Return the function that draws rows.

    Nothing covers anything else on the white ground, so that a picture is the product of one
    of pendulum alone, one of the sun alone and one of the shadow alone; the first two are
    drawn once for each angle.
    """
    swings, swing = np.unique(degrees[PENDULUM], return_inverse=True)
    lights, light = np.unique(degrees[LIGHT], return_inverse=True)
    pendulums, suns = _draw_pendulums(swings), _draw_suns(lights)
    lines, profile = _shadow_lines()
    across = (np.arange(SIDE) + 0.5) * (RIGHT - LEFT) / SIDE + LEFT

    def make(rows: np.ndarray, rng: Generator) -> np.ndarray:
        images = pendulums[swing[rows]] * suns[light[rows]]
        half, middle = columns[LENGTH][rows, None] / 2, columns[POSITION][rows, None]
        inside = (half - abs(across - middle)) * SIDE / (RIGHT - LEFT)
        dark = (0.5 + inside).clip(0, 1)[:, None, None, :] * profile[:, None]
        images[:, :, lines] *= (1 - dark).astype(np.float32)
        return images

    return make


def _places() -> tuple[np.ndarray, np.ndarray]:
    """Return where the middle of every pixel (row, column) is, in the paper's units."""
    step = (np.arange(SIDE) + 0.5) / SIDE
    return LEFT + (RIGHT - LEFT) * step[None], TOP - (TOP - BOTTOM) * step[:, None]


def _covered(distance: np.ndarray) -> np.ndarray:
    """Return how much of a pixel lies inside an edge at a signed distance in pixels."""
    return (0.5 - distance).clip(0, 1).astype(np.float32)


def _on_white(covered: np.ndarray, color: np.ndarray) -> np.ndarray:
    """Paint a colour where it covers (picture, row, column): (picture, 3, row, column)."""
    return 1 - covered[:, None] * (1 - color[:, None, None])


def _draw_suns(angles: np.ndarray) -> np.ndarray:
    x, y = _places()
    middle = PIVOT[0] + (SUN_HEIGHT - PIVOT[1]) / np.tan(np.radians(angles))[:, None, None]
    distance = np.hypot(x - middle, y - SUN_HEIGHT) - SUN
    return _on_white(_covered(distance * _scale()), SUN_COLOR)


def _draw_pendulums(angles: np.ndarray) -> np.ndarray:
    x, y = _places()
    swing = np.radians(angles)[:, None, None]
    right, up = np.sin(swing), -np.cos(swing)
    along = ((x - PIVOT[0]) * right + (y - PIVOT[1]) * up).clip(0, ROD)
    from_rod = np.hypot(x - PIVOT[0] - along * right, y - PIVOT[1] - along * up)
    rod = _covered(from_rod * _scale() - LINE / 2)
    from_ball = np.hypot(x - PIVOT[0] - ROD * right, y - PIVOT[1] - ROD * up) - BALL
    ball = _covered(from_ball * _scale())
    # The rod lies on the ball, as in the paper's pictures.
    return _on_white(ball, BALL_COLOR) * (1 - rod[:, None])


def _shadow_lines() -> tuple[slice, np.ndarray]:
    """Return the rows of pixels that a shadow darkens, and how much."""
    _, y = _places()
    dark = _covered(abs(y[:, 0] - GROUND) * SIDE / (TOP - BOTTOM) - LINE / 2)
    rows = np.flatnonzero(dark)
    return slice(rows[0], rows[-1] + 1), dark[rows]


def _scale() -> float:
    """Return the pixels of a unit, between those across and those down."""
    return SIDE / np.sqrt((RIGHT - LEFT) * (TOP - BOTTOM))
