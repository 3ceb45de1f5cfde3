"""Convex solids that stand on a floor, met by many rays at once.

A ray is a point and a direction, any length. Every solid says how far along the ray
it is first met (infinity if it is missed) and the outward normal of a point on it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

FAR = np.float32(np.inf)


class Solid(Protocol):
    """A convex solid."""

    def distance(self, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return how many times the direction (ray, 3) leads from the origin to the solid."""
        ...

    def normals(self, points: np.ndarray) -> np.ndarray:
        """Return the outward unit normals of points (point, 3) on the surface."""
        ...


@dataclass(frozen=True)
class Sphere:
    """A ball around a centre."""

    center: tuple[float, float, float]
    radius: float

    def distance(self, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
        offset = origins - np.array(self.center, np.float32)
        return _first_root(
            _dot(directions, directions),
            _dot(directions, offset),
            _dot(offset, offset) - self.radius**2,
        )

    def normals(self, points: np.ndarray) -> np.ndarray:
        return _unit(points - np.array(self.center, np.float32))


@dataclass(frozen=True)
class Box:
    """A cube standing on the floor around the vertical axis through the origin."""

    half: float

    def distance(self, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
        low = np.array([-self.half, -self.half, 0], np.float32)
        high = np.array([self.half, self.half, 2 * self.half], np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            near, far = (low - origins) / directions, (high - origins) / directions
        enter = np.fmax.reduce(np.minimum(near, far), axis=1)
        leave = np.fmin.reduce(np.maximum(near, far), axis=1)
        return np.where((enter < leave) & (enter > 0), enter, FAR)

    def normals(self, points: np.ndarray) -> np.ndarray:
        scaled = (points - np.array([0, 0, self.half], np.float32)) / np.float32(self.half)
        face = np.abs(scaled).argmax(axis=1)[:, None]
        sides = np.zeros_like(points)
        np.put_along_axis(sides, face, np.sign(np.take_along_axis(scaled, face, axis=1)), axis=1)
        return sides


@dataclass(frozen=True)
class Cylinder:
    """An upright cylinder standing on the floor around the vertical axis."""

    radius: float
    height: float

    def distance(self, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
        side = _distance_to_shaft(origins, directions, self.radius, 0.0, self.height)
        with np.errstate(divide="ignore", invalid="ignore"):
            lid = (self.height - origins[:, 2]) / directions[:, 2]
            place = origins[:, :2] + lid[:, None] * directions[:, :2]
            on_lid = (_dot(place, place) <= self.radius**2) & (lid > 0)
        return np.minimum(side, np.where(on_lid, lid, FAR))

    def normals(self, points: np.ndarray) -> np.ndarray:
        outward = _unit(points * np.array([1, 1, 0], np.float32))
        on_lid = points[:, 2] > self.height - 1e-4
        return np.where(on_lid[:, None], np.array([0, 0, 1], np.float32), outward)


@dataclass(frozen=True)
class Capsule:
    """An upright cylinder with a half ball at each end, standing on the floor."""

    radius: float
    shaft: float
    """Height of the part between the half balls."""

    def _balls(self) -> tuple[Sphere, Sphere]:
        low = Sphere((0, 0, self.radius), self.radius)
        return low, Sphere((0, 0, self.radius + self.shaft), self.radius)

    def distance(self, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
        top = self.radius + self.shaft
        found = _distance_to_shaft(origins, directions, self.radius, self.radius, top)
        for ball in self._balls():
            found = np.minimum(found, ball.distance(origins, directions))
        return found

    def normals(self, points: np.ndarray) -> np.ndarray:
        axis = np.zeros_like(points)
        axis[:, 2] = points[:, 2].clip(self.radius, self.radius + self.shaft)
        return _unit(points - axis)


def _distance_to_shaft(
    origins: np.ndarray, directions: np.ndarray, radius: float, low: float, high: float
) -> np.ndarray:
    """Return the distance to the side of an upright cylinder between two heights."""
    flat, offset = directions[:, :2], origins[:, :2]
    found = _first_root(_dot(flat, flat), _dot(flat, offset), _dot(offset, offset) - radius**2)
    with np.errstate(invalid="ignore"):
        height = origins[:, 2] + found * directions[:, 2]
        return np.where((height >= low) & (height <= high), found, FAR)


def _first_root(a: np.ndarray, half_b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return the smaller root of a t² + 2 half_b t + c if it is positive, else infinity."""
    inside = half_b**2 - a * c
    with np.errstate(invalid="ignore", divide="ignore"):
        root = (-half_b - np.sqrt(inside)) / a
    return np.where((inside > 0) & (root > 0), root, FAR)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    product: np.ndarray = np.einsum("ij,ij->i", a, b)
    return product


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
