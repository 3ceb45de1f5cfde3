"""Rays meet solids where an independent description of the solid says they do."""

import numpy as np
import pytest

from unweave.data._solids import Box, Capsule, Cylinder, Sphere

SOLIDS = {
    "sphere": (
        Sphere((0, 0, 0.6), 0.6),
        lambda p: np.linalg.norm(p - [0, 0, 0.6], axis=-1) - 0.6,
    ),
    "box": (
        Box(0.5),
        lambda p: np.abs(p - [0, 0, 0.5]).max(axis=-1) - 0.5,
    ),
    "cylinder": (
        Cylinder(0.4, 1.1),
        lambda p: np.maximum(np.hypot(p[..., 0], p[..., 1]) - 0.4, np.abs(p[..., 2] - 0.55) - 0.55),
    ),
    "capsule": (
        Capsule(0.3, 0.7),
        lambda p: (
            np.linalg.norm(
                p - np.stack([0 * p[..., 0], 0 * p[..., 0], p[..., 2].clip(0.3, 1.0)], axis=-1),
                axis=-1,
            )
            - 0.3
        ),
    ),
}


def rays_from_outside(seed: int = 0, count: int = 4000):
    """Return rays from above the floor, outside every solid, most of them towards it."""
    rng = np.random.default_rng(seed)
    turn, height = rng.uniform(0, 2 * np.pi, count), rng.uniform(0.05, 2, count)
    origins = np.stack([3 * np.cos(turn), 3 * np.sin(turn), height], axis=1)
    targets = rng.uniform([-0.7, -0.7, 0.0], [0.7, 0.7, 1.4], (count, 3))
    return origins.astype(np.float32), (targets - origins).astype(np.float32)


@pytest.mark.parametrize("name", SOLIDS)
def test_a_ray_ends_on_the_surface_and_passes_through_nothing_before(name):
    solid, outside = SOLIDS[name]
    origins, directions = rays_from_outside()
    distance = solid.distance(origins, directions)
    hit = np.isfinite(distance)
    assert 0.2 < hit.mean() < 0.95
    ends = origins[hit] + distance[hit, None] * directions[hit]
    np.testing.assert_allclose(outside(ends), 0, atol=1e-4)
    for share in np.linspace(0.05, 0.99, 20):
        before = origins[hit] + share * distance[hit, None] * directions[hit]
        assert outside(before).min() > -1e-4


@pytest.mark.parametrize("name", SOLIDS)
def test_a_ray_that_misses_never_enters(name):
    solid, outside = SOLIDS[name]
    origins, directions = rays_from_outside(1)
    missed = ~np.isfinite(solid.distance(origins, directions))
    for step in np.linspace(0, 2, 200):
        points = origins[missed] + step * directions[missed]
        above_floor = points[:, 2] > 1e-3  # what stands on the floor is closed from below
        assert outside(points)[above_floor].min() > -5e-3


@pytest.mark.parametrize("name", SOLIDS)
def test_normals_are_the_slope_of_the_outside(name):
    solid, outside = SOLIDS[name]
    origins, directions = rays_from_outside(2)
    distance = solid.distance(origins, directions)
    hit = np.isfinite(distance)
    ends = (origins[hit] + distance[hit, None] * directions[hit]).astype(np.float64)
    normals = solid.normals(ends.astype(np.float32))
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-5)
    step = 1e-3
    slope = np.stack(
        [outside(ends + step * axis) - outside(ends - step * axis) for axis in np.eye(3)]
    )
    slope = slope.T / (2 * step)
    smooth = np.abs(np.linalg.norm(slope, axis=1) - 1) < 1e-2  # not across an edge
    assert smooth.mean() > 0.8
    np.testing.assert_allclose(normals[smooth], slope[smooth], atol=2e-2)
