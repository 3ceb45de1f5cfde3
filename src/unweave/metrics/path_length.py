"""Perceptual path length: how fast images change along a path between two codes.

T. Karras, S. Laine, T. Aila, CVPR 2019, arXiv:1812.04948. With t uniform in [0, 1] ("full") or 0
("end"), codes interpolated at t and t + ε, and a distance d of images:

    E d(G(t), G(t + ε)) / ε²

Lower is smoother; a generator that draws one image has 0, so stand something beside it that sees
whether images are good and differ. In a Gaussian space the path runs along the sphere, in others
straight. The lowest and highest hundredth of the paths are left out.

Differs from the paper: the distance is the squared one of pixels unless `distance` is given, since
the weights of the paper's network are not ours to ship; only values of one distance compare.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._score import Made, Score
from unweave.tables import code_table, to_numpy

PROTOCOLS = {
    "karras2019_full": "paths at any place",
    "karras2019_end": "paths at their beginning",
}
NEEDS = _protocol.GENERATOR
HIGHER_IS_BETTER = False
RANGE = "0 upwards"

BATCH = 256

Distance = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]


def path_length(
    generate: Callable[[NDArray[np.float64]], Any],
    codes: Any,
    *,
    seed: int = 0,
    protocol: str = "karras2019_full",
    paths: int = 10_000,
    step: float = 1e-4,
    spherical: bool = False,
    distance: Distance | None = None,
) -> Score:
    """Score how far images move along paths between codes drawn from the rows of `codes`.

    `generate` turns codes into images. Small steps need images in double precision; a
    generator of single precision wants a larger `step`.
    """
    _protocol.choose(protocol, PROTOCOLS, "path_length")
    table = code_table(codes).astype(np.float64)
    if not callable(generate) or paths < 1 or step <= 0:
        raise DataError("path_length needs a function from codes to images, paths and a step.")
    rng = np.random.default_rng(seed)
    lengths: list[NDArray[np.float64]] = []
    for start in range(0, paths, BATCH):
        count = min(BATCH, paths - start)
        first, second = table[rng.integers(len(table), size=(2, count))]
        t = rng.random((count, 1)) if protocol == "karras2019_full" else np.zeros((count, 1))
        between = _along_sphere if spherical else _straight
        near = to_numpy(generate(between(first, second, t)))
        far = to_numpy(generate(between(first, second, t + step)))
        apart = (distance or _squared)(near, far)
        lengths.append(np.asarray(apart, dtype=np.float64) / step**2)
    every = np.concatenate(lengths)
    low, high = np.percentile(every, [1, 99])
    kept = every[(every >= low) & (every <= high)]
    return Score(
        "path_length",
        float(kept.mean()),
        protocol,
        {"paths": len(every), "kept": len(kept), "step": step, "spherical": spherical},
        higher_is_better=False,
        made=Made(len(table), table.shape[1], seed, {"paths": paths}),
    )


def _squared(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
    apart = (first.astype(np.float64) - second.astype(np.float64)).reshape(len(first), -1)
    return np.asarray((apart**2).sum(axis=1))


def _straight(
    first: NDArray[np.float64], second: NDArray[np.float64], t: NDArray[np.float64]
) -> NDArray[np.float64]:
    return first + t * (second - first)


def _along_sphere(
    first: NDArray[np.float64], second: NDArray[np.float64], t: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Interpolate directions along the sphere; codes become directions of length 1."""
    a = first / np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-300)
    b = second / np.maximum(np.linalg.norm(second, axis=1, keepdims=True), 1e-300)
    inner = np.clip((a * b).sum(axis=1, keepdims=True), -1, 1)
    aside = b - inner * a
    aside /= np.maximum(np.linalg.norm(aside, axis=1, keepdims=True), 1e-300)
    angle = t * np.arccos(inner)
    return np.asarray(a * np.cos(angle) + aside * np.sin(angle))
