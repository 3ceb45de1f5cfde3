"""glyphs: the ten digits drawn from strokes, 100,000 grey images of 32×32; the class is the digit.

Made on this machine for what is tried on MNIST elsewhere (M1, M2, AAE, InfoGAN): every digit in
every style of slant, thickness of the pen, size, rotation and place, each combination once.
The class is called `label_digit`, so that methods that are told a class take it.
"""

from pathlib import Path

import numpy as np
from numpy.random import Generator

from unweave.data._dataset import Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import grid_size, takes_no_file
from unweave.data._pixels import FunctionPixels
from unweave.files.cache import cache_folder, cached_array

SIDE, MARGIN = 32, 4
WHOLE = SIDE + 2 * MARGIN  # side of a drawing that can be moved
SLANTS = np.linspace(-0.3, 0.3, 5)
PENS = np.array([1.2, 1.8, 2.4, 3.0])  # pixels
SIZES = np.array([11.0, 13.0, 15.0, 17.0])  # pixels, from top to bottom
TURNS = np.linspace(-20, 20, 5)  # degrees
SHIFTS = np.array([-4, -2, 0, 2, 4])  # pixels
FACTORS = (
    Factor("label_digit", 10, tuple(map(str, range(10))), categorical=True),
    Factor("slant", len(SLANTS), tuple(f"{s:g}" for s in SLANTS.round(3))),
    Factor("thickness", len(PENS), tuple(f"{p:g}" for p in PENS)),
    Factor("size", len(SIZES), tuple(f"{s:g}" for s in SIZES)),
    Factor("rotation", len(TURNS), tuple(f"{t:g}" for t in TURNS)),
    Factor("x", len(SHIFTS), tuple(map(str, SHIFTS.tolist()))),
    Factor("y", len(SHIFTS), tuple(map(str, SHIFTS.tolist()))),
)


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Draw every style of every digit in the middle; it is moved when images are asked for."""
    takes_no_file("glyphs", path)
    styles = grid_size(FACTORS[:5])
    drawn = cached_array(
        cache_folder() / "glyphs-v1.npy", (styles, WHOLE, WHOLE), np.dtype(np.uint8), draw_into
    )
    down, across = np.indices((SIDE, SIDE))

    def make(rows: np.ndarray, rng: Generator) -> np.ndarray:
        style, x, y = np.unravel_index(rows, (len(drawn), len(SHIFTS), len(SHIFTS)))
        top = (MARGIN - SHIFTS[y])[:, None, None] + down
        left = (MARGIN - SHIFTS[x])[:, None, None] + across
        bytes_ = drawn[style[:, None, None], top, left]
        return np.divide(bytes_, 255, dtype=np.float32)[:, None]

    pixels = FunctionPixels((1, SIDE, SIDE), grid_size(FACTORS), make)
    return FactorImages("glyphs", pixels, FACTORS)


def draw_into(drawn: np.ndarray) -> None:
    """Draw all digits in all styles but the place: bytes (style, side, side) with a margin."""
    pictures = drawn.reshape(*(factor.size for factor in FACTORS[:5]), WHOLE, WHOLE)
    middle = (np.arange(WHOLE) + 0.5 - WHOLE / 2).astype(np.float32)
    for digit in range(10):
        for s, slant in enumerate(SLANTS):
            for z, size in enumerate(SIZES):
                for t, turn in enumerate(TURNS):
                    away = _distance(_placed(digit, slant, size, turn), middle)
                    for p, pen in enumerate(PENS):
                        ink = (0.5 + pen / 2 - away).clip(0, 1)
                        pictures[digit, s, p, z, t] = np.rint(255 * ink)


def strokes(digit: int) -> list[np.ndarray]:
    """Return the lines of a digit, each (point, 2), in a box of height 1 with y up."""
    return {
        0: [_arc(0.5, 0.5, 0.3, 0.45, 90, 450)],
        1: [_line((0.32, 0.76), (0.54, 0.95), (0.54, 0.05))],
        2: [np.vstack([_arc(0.5, 0.69, 0.27, 0.26, 165, -35), _line((0.22, 0.05), (0.8, 0.05))])],
        3: [_arc(0.46, 0.72, 0.26, 0.23, 150, -90), _arc(0.46, 0.27, 0.31, 0.23, 90, -150)],
        4: [_line((0.6, 0.95), (0.18, 0.34), (0.84, 0.34)), _line((0.63, 0.6), (0.63, 0.05))],
        5: [
            np.vstack(
                [
                    _line((0.74, 0.95), (0.3, 0.95), (0.26, 0.53)),
                    _arc(0.46, 0.34, 0.29, 0.29, 130, -150),
                ]
            )
        ],
        6: [
            np.vstack([_arc(0.72, 0.42, 0.5, 0.54, 105, 175), _arc(0.5, 0.3, 0.27, 0.25, 180, 540)])
        ],
        7: [_line((0.2, 0.95), (0.8, 0.95), (0.4, 0.05))],
        8: [_arc(0.5, 0.73, 0.22, 0.22, -90, 270), _arc(0.5, 0.28, 0.28, 0.23, 90, 450)],
        9: [np.vstack([_arc(0.5, 0.7, 0.26, 0.25, 0, 360), _arc(0.28, 0.62, 0.48, 0.57, 8, -78)])],
    }[digit]


def _line(*points: tuple[float, float]) -> np.ndarray:
    return np.array(points)


def _arc(x: float, y: float, width: float, height: float, begin: float, end: float) -> np.ndarray:
    """Return points of an ellipse between two angles in degrees, from the right, to the left."""
    angles = np.radians(np.linspace(begin, end, max(int(abs(end - begin) / 18), 2) + 1))
    return np.stack([x + width * np.cos(angles), y + height * np.sin(angles)], axis=1)


def _placed(digit: int, slant: float, size: float, turn: float) -> np.ndarray:
    """Return the pieces (piece, end, 2) of a digit in pixels about the middle, y downwards."""
    angle = np.radians(turn)
    rotate = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shear = np.array([[1, slant], [0, 1]])
    pieces = []
    for line in strokes(digit):
        points = size * (line - 0.5) @ (rotate @ shear).T * [1, -1]
        pieces.append(np.stack([points[:-1], points[1:]], axis=1))
    return np.concatenate(pieces).astype(np.float32)


def _distance(pieces: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Return how far every pixel (row, column) is from the nearest piece."""
    nearest = np.full((len(middle), len(middle)), np.inf, np.float32)
    x, y = middle[None, :], middle[:, None]
    for (x0, y0), (x1, y1) in pieces:
        right, down = x1 - x0, y1 - y0
        share = ((x - x0) * right + (y - y0) * down) / max(right**2 + down**2, 1e-12)
        share = share.clip(0, 1)
        away = (x - x0 - share * right) ** 2 + (y - y0 - share * down) ** 2
        np.minimum(nearest, away, out=nearest)
    return np.sqrt(nearest)
