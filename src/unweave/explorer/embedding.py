"""Codes of the data as points in a plane, and the images nearest to a code."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from unweave import views
from unweave.editing.sources import in_words
from unweave.errors import ConfigError
from unweave.explorer.open_runs import OpenRun

NEIGHBORS = 8
SMALL = 32  # pixels of a side of an image in a sheet of many


@dataclass(frozen=True)
class Plane:
    """Two directions in the space of codes."""

    labels: tuple[str, str]
    mean: np.ndarray
    """(code,), what is subtracted first."""
    directions: np.ndarray
    """(2, code)."""

    def points(self, codes: np.ndarray) -> np.ndarray:
        """Return where codes lie, (row, 2)."""
        found: np.ndarray = (codes - self.mean) @ self.directions.T
        return found


def plane_of(opened: OpenRun, axes: str) -> Plane:
    """Return the plane of the first principal components, `pca`, or of two latents, `3,5`."""
    run, codes = opened.run, opened.codes.codes
    if axes != "pca":
        parts = axes.split(",")
        chosen = [int(part) for part in parts if part.isascii() and part.isdigit()]
        if len(parts) != 2 or len(chosen) != 2 or max(chosen) >= run.latent_dim:
            raise ConfigError(
                f"expected axes pca, or two latents from 0 to {run.latent_dim - 1} as 3,5; "
                f"found {axes[:40]!r}"
            )
        labels = run.latent_labels()
        names = (labels[chosen[0]], labels[chosen[1]])
        return Plane(names, np.zeros(run.latent_dim), np.eye(run.latent_dim)[chosen])
    mean = codes.mean(axis=0, dtype=np.float64)
    covariance = np.cov((codes - mean).T).reshape(run.latent_dim, run.latent_dim)
    spread, vectors = np.linalg.eigh(covariance)
    order = np.argsort(-spread, kind="stable")[:2]
    directions = vectors[:, order].T
    # The sign is free; the largest part of a direction is taken as positive.
    largest = np.abs(directions).argmax(axis=1)
    directions = directions * np.sign(directions[np.arange(len(directions)), largest])[:, None]
    shares = spread[order] / max(float(spread.sum()), 1e-12)
    if len(directions) == 1:
        directions, shares = (
            np.vstack([directions, np.zeros_like(directions)]),
            np.append(shares, 0),
        )
    first, second = (f"component {i + 1} ({share:.0%})" for i, share in enumerate(shares[:2]))
    return Plane((first, second), mean, directions)


def embedding(opened: OpenRun, axes: str = "pca", most: int | None = None) -> dict[str, Any]:
    """Return points of some rows, the factors to colour them by, and how a code is placed."""
    with opened.lock:
        sample, plane = opened.codes, plane_of(opened, axes)
    chosen = np.sort(np.random.default_rng(0).permutation(len(sample.rows))[:most])
    points = plane.points(sample.codes[chosen])
    data = opened.run.data
    factors = []
    for column, factor in enumerate(data.factor_list):
        values = sample.factors[chosen, column]
        called = None if factor.continuous else in_words(factor, np.arange(factor.size)).tolist()
        factors.append(
            {
                "name": factor.name,
                "values": values.tolist(),
                "labels": called and [_short(name) for name in called],
                "is_ordered": not factor.categorical,
            }
        )
    return {
        "axes": axes,
        "labels": list(plane.labels),
        "rows": sample.rows[chosen].tolist(),
        "x": points[:, 0].round(4).tolist(),
        "y": points[:, 1].round(4).tolist(),
        "factors": factors,
        "mean": plane.mean.tolist(),
        "directions": plane.directions.tolist(),
    }


def embedding_with_images(opened: OpenRun, most: int) -> dict[str, Any]:
    """Return the same with codes and one sheet of small images, for a page without a server."""
    found = embedding(opened, "pca", most)
    rows = np.array(found["rows"])
    place = {int(row): i for i, row in enumerate(opened.codes.rows)}
    across = int(np.ceil(np.sqrt(len(rows))))
    sheet = Image.new("RGB", (across * SMALL, -(-len(rows) // across) * SMALL))
    for i, image in enumerate(opened.run.data.images(rows)):
        small = views.to_picture(image).convert("RGB").resize((SMALL, SMALL))
        sheet.paste(small, (i % across * SMALL, i // across * SMALL))
    codes = opened.codes.codes[[place[int(row)] for row in rows]]
    return found | {
        "codes": codes.astype(np.float64).round(5).tolist(),
        "sheet": {"picture": views.to_url(sheet), "across": across, "side": SMALL},
    }


def neighbors(opened: OpenRun, code: list[float] | None) -> dict[str, Any]:
    """Return the rows whose codes are nearest to a code, by the latents that carry something."""
    run = opened.run
    start = views.start_code(run, np.array(code or []))
    with opened.lock:
        sample = opened.codes
        active = views.kl_per_dimension(run, sample).active
    kept = active if active.any() else np.ones_like(active)
    distances = np.sqrt(((sample.codes[:, kept] - start[kept]) ** 2).sum(axis=1))
    order = np.argsort(distances, kind="stable")[:NEIGHBORS]
    return {
        "code": start.tolist(),
        "among": len(sample.rows),
        "neighbors": [{"row": int(sample.rows[i]), "distance": float(distances[i])} for i in order],
    }


def image_of_row(opened: OpenRun, row: int) -> Image.Image:
    """Return an image of the data as a picture."""
    data = opened.run.data
    if not 0 <= row < len(data):
        raise ConfigError(f"{data.name} has rows 0 to {len(data) - 1}, found {row}")
    return views.to_picture(data.images([row])[0])


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
