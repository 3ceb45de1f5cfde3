"""faces: modelled heads under a lamp, 17,496 grey images of 64×64: person, pose and light.

The structure of Extended Yale B and of the 3D Faces of the literature, made on this machine:
24 people, who differ in the shape of head, nose, brows, eyes, mouth, chin and in their hair;
9 × 3 directions of the head, 9 × 3 of the light, which a tenth of ambient light accompanies.
"""

from pathlib import Path

import numpy as np
from numpy.random import Generator

from unweave.data._dataset import Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import grid_size, takes_no_file
from unweave.data._pixels import FunctionPixels
from unweave.data._progress import with_progress
from unweave.files.cache import cache_folder, cached_array

SIDE, PEOPLE = 64, 24
TURNS, NODS = np.linspace(-40, 40, 9), np.linspace(-20, 20, 3)
LIGHT_TURNS, LIGHT_HEIGHTS = np.linspace(-72, 72, 9), np.array([-15.0, 20.0, 55.0])
FACTORS = (
    Factor("person", PEOPLE, categorical=True),
    Factor("azimuth", len(TURNS), tuple(f"{t:g}" for t in TURNS)),
    Factor("elevation", len(NODS), tuple(f"{n:g}" for n in NODS)),
    Factor("light_azimuth", len(LIGHT_TURNS), tuple(f"{t:g}" for t in LIGHT_TURNS)),
    Factor("light_elevation", len(LIGHT_HEIGHTS), tuple(f"{h:g}" for h in LIGHT_HEIGHTS)),
)
AMBIENT = 0.1
FINE = 2  # rays along each side of a pixel
HALF_WIDTH = 1.16  # of the picture, where a head is about 2 high
STEPS = 7


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Model the heads once; light falls on them when images are asked for."""
    takes_no_file("faces", path)
    scenes = PEOPLE * len(TURNS) * len(NODS)
    maps = cached_array(
        cache_folder() / "faces-v1.npy", (scenes, 4, SIDE * SIDE), np.dtype(np.float32), fill_maps
    )
    turn, height = np.meshgrid(np.radians(LIGHT_TURNS), np.radians(LIGHT_HEIGHTS), indexing="ij")
    lights = np.stack(
        [np.sin(turn) * np.cos(height), np.sin(height), np.cos(turn) * np.cos(height)], axis=-1
    )
    lights = lights.reshape(-1, 1, 3).astype(np.float32)

    def make(rows: np.ndarray, rng: Generator) -> np.ndarray:
        scene, light = np.divmod(rows, len(lights))
        chosen = maps[scene]
        images = (lights[light] @ chosen[:, :3])[:, 0].clip(0)
        images += AMBIENT * chosen[:, 3]
        return images.clip(0, 1).reshape(-1, 1, SIDE, SIDE)

    return FactorImages("faces", FunctionPixels((1, SIDE, SIDE), grid_size(FACTORS), make), FACTORS)


def fill_maps(maps: np.ndarray) -> None:
    """Fill in for every head and pose: paint times normal (3), and paint, by pixel."""
    by_scene = maps.reshape(PEOPLE, len(TURNS), len(NODS), 4, SIDE * SIDE)
    for person in with_progress(range(PEOPLE), PEOPLE, "modelling faces"):
        head = Head(person)
        for t, turn in enumerate(TURNS):
            for n, nod in enumerate(NODS):
                by_scene[person, t, n] = head.maps(turn, nod)


class Head:
    """One person's head: a surface that every ray from the middle meets once.

    In its own directions x is to the picture's right, y up and z out of the face.
    """

    def __init__(self, person: int):
        rng = np.random.default_rng((person, 0xFACE))

        def about(middle: float, spread: float) -> float:
            return middle * (1 + spread * rng.uniform(-1, 1))

        self.radii = np.array([about(0.74, 0.12), about(1.0, 0.06), about(0.86, 0.06)], np.float32)
        self.eyes = about(0.31, 0.16), about(0.13, 0.3)
        brow, mouth = self.eyes[1] + about(0.17, 0.2), about(-0.5, 0.1)
        self.brow, self.mouth = brow, mouth
        self.mouth_width, self.brow_width = about(0.19, 0.3), about(0.17, 0.3)
        nose = about(0.2, 0.4)
        # Where it is, how wide and high it is, how far it stands out.
        self.bumps = [
            (0.0, 0.0, about(0.09, 0.3), about(0.2, 0.2), nose),
            (0.0, about(-0.2, 0.3), about(0.11, 0.4), about(0.07, 0.3), about(0.11, 0.4)),
            (0.0, mouth, self.mouth_width, 0.07, about(0.035, 0.5)),
            (0.0, mouth, self.mouth_width, 0.02, -0.03),
            (0.0, about(-0.95, 0.1), about(0.25, 0.3), 0.2, about(0.07, 0.9)),
        ]
        for side in (-1, 1):
            eye = side * self.eyes[0]
            self.bumps += [
                (eye, self.eyes[1], 0.13, 0.1, -about(0.07, 0.3)),
                (eye, self.eyes[1], 0.06, 0.05, 0.035),
                (eye, brow, self.brow_width, 0.06, about(0.035, 0.6)),
                (side * about(0.55, 0.1), -0.2, 0.22, 0.2, about(0.035, 0.9)),
            ]
        self.ears = about(0.12, 0.5)
        self.skin, self.hair = about(0.82, 0.14), rng.uniform(0.08, 0.75)
        self.hairline, self.sideburn = about(0.62, 0.35), rng.uniform(-0.35, 0.25)
        self.brow_paint = min(self.hair, 0.5)

    def radius(self, directions: np.ndarray) -> np.ndarray:
        """Return how far the surface is from the middle, by unit direction (3, ray)."""
        x, y, z = directions
        front = z > 0
        depth = np.where(front, np.maximum(z, 0.2), 1)
        u, v = x / depth, y / depth  # as the face is seen from the front
        bumps = np.zeros_like(x)
        for right, up, width, height, out in self.bumps:
            bumps += out * np.exp(-0.5 * (((u - right) / width) ** 2 + ((v - up) / height) ** 2))
        bumps *= front
        bumps += self.ears * np.exp(-0.5 * (((abs(x) - 1) / 0.1) ** 2 + ((y - 0.02) / 0.18) ** 2))
        egg = np.sqrt(sum((d / r) ** 2 for d, r in zip(directions, self.radii, strict=True)))
        return (1 + bumps) / egg

    def paint(self, directions: np.ndarray) -> np.ndarray:
        """Return how much light the surface gives back, by unit direction (3, ray)."""
        x, y, z = directions
        depth = np.maximum(z, 0.2)
        u, v = x / depth, y / depth
        paint = np.full_like(x, self.skin)

        def spot(right: float, up: float, width: float, height: float) -> np.ndarray:
            away = ((abs(u) - right) / width) ** 2 + ((v - up) / height) ** 2
            return np.where(z > 0, 1 / (1 + np.exp(12 * (away.clip(0, 4) - 1))), 0)

        for share, value in (
            (spot(0, self.mouth, self.mouth_width, 0.05), 0.6 * self.skin),
            (spot(self.eyes[0], self.brow, self.brow_width, 0.045), self.brow_paint),
            (spot(self.eyes[0], self.eyes[1], 0.11, 0.055), 0.95),
            (spot(self.eyes[0], self.eyes[1], 0.05, 0.055), 0.12),
        ):
            paint += share * (value - paint)
        line = np.where(z > 0.25, self.hairline, self.sideburn)
        hair = 1 / (1 + np.exp(-30 * (y - line - 0.4 * (z > 0.25) * (abs(x) < 0.2) * x)))
        hair = np.maximum(hair, 1 / (1 + np.exp(20 * (z + 0.05))))
        return paint + hair * (self.hair - paint)

    def maps(self, turn: float, nod: float) -> np.ndarray:
        """Return paint times normal and paint (4, pixel) of the head in a pose."""
        rotation = _rotation(np.radians(turn), np.radians(nod)).astype(np.float32)
        step = ((np.arange(FINE * SIDE) + 0.5) / (FINE * SIDE) * 2 - 1) * HALF_WIDTH
        across = np.meshgrid(step, -step)
        x, y = (values.reshape(-1).astype(np.float32) for values in across)
        away = x**2 + y**2
        near = np.flatnonzero(away < 1.4**2)
        x, y, away = x[near], y[near], away[near]
        z = np.sqrt(np.maximum(1 - away, 0.01)).astype(np.float32)
        for _ in range(STEPS):  # the ray from the front meets the surface where z no longer changes
            here = np.stack([x, y, z])
            far = self.radius(rotation.T @ (here / np.sqrt((here**2).sum(axis=0))))
            z = 0.5 * (z + np.sqrt(np.maximum(far**2 - away, 1e-6)))
        here = np.stack([x, y, z])
        directions = rotation.T @ (here / np.sqrt((here**2).sum(axis=0)))
        met = self.radius(directions) ** 2 > away + 1e-4
        near, directions = near[met], directions[:, met]
        fine = np.zeros((4, (FINE * SIDE) ** 2), np.float32)
        fine[3, near] = self.paint(directions)
        fine[:3, near] = fine[3, near] * (rotation @ self._normals(directions))
        by_pixel = fine.reshape(4, SIDE, FINE, SIDE, FINE)
        return by_pixel.mean(axis=(2, 4)).reshape(4, -1)

    def _normals(self, directions: np.ndarray) -> np.ndarray:
        """Return the outward normals, by the slope of what is outside: |p| − radius."""
        points = directions * self.radius(directions)
        slope = np.empty_like(points)
        for axis in range(3):
            moved = points.copy()
            moved[axis] += 4e-3  # from the surface itself, where the value is 0
            length = np.sqrt((moved**2).sum(axis=0))
            slope[axis] = length - self.radius(moved / length)
        return slope / np.maximum(np.sqrt((slope**2).sum(axis=0)), 1e-9)


def _rotation(turn: float, nod: float) -> np.ndarray:
    """Return the rotation that turns a head to the picture's right and lifts its face."""
    around = np.array(
        [[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]]
    )
    up = np.array([[1, 0, 0], [0, np.cos(nod), np.sin(nod)], [0, -np.sin(nod), np.cos(nod)]])
    return around @ up
