"""Pictures of a data set: samples, and what each factor does."""

import numpy as np
from PIL import Image

from unweave.data import FactorImages
from unweave.figures.pictures import tile


def samples(data: FactorImages, count: int = 32, seed: int = 0) -> Image.Image:
    """Show images drawn at random."""
    rng = np.random.default_rng(seed)
    columns = min(8, count)
    rows = data.sample_rows(-(-count // columns) * columns, rng)
    images = data.images(rows, rng).reshape(-1, columns, *data.image_shape)
    return tile(images, title=f"{data.name}: {len(data):,} images, {columns * len(images)} of them")


def factor_traversals(data: FactorImages, columns: int = 10, seed: int = 0) -> Image.Image:
    """Show what each factor changes while the others rest (or nearly, off a grid)."""
    rng = np.random.default_rng(seed)
    start = data.factors(data.sample_rows(1, rng))[0]
    lines, labels = [], []
    for index, factor in enumerate(data.factor_list):
        if factor.continuous:
            rows = _spread_of_continuous(data, index, columns)
        else:
            values = np.linspace(0, factor.size - 1, columns).round().astype(int)
            rows = np.array([_nearest(data, start, index, v) for v in values])
        lines.append(data.images(rows, rng))
        labels.append(factor.name)
    return tile(
        np.stack(lines), row_labels=labels, title=f"{data.name}: each line varies one factor"
    )


def _nearest(data: FactorImages, start: np.ndarray, index: int, value: int) -> int:
    """Find the row with this value of one factor whose others are closest to `start`."""
    if data.is_grid:
        wanted = start.copy()
        wanted[index] = value
        return int(data.rows_of(wanted[None])[0])
    table = data.factors()
    rows = np.flatnonzero(table[:, index] == value)
    if len(rows) == 0:
        rows = np.arange(len(table))
    differing = (table[rows] != start).sum(axis=1)
    return int(rows[np.argmin(differing)])


def _spread_of_continuous(data: FactorImages, index: int, columns: int) -> np.ndarray:
    order = np.argsort(data.factors()[:, index], kind="stable")
    return order[np.linspace(0, len(order) - 1, columns).round().astype(int)]


def clip_strips(data: FactorImages, clips: int = 4, frames: int = 10, seed: int = 0) -> Image.Image:
    """Show the first frames of clips drawn at random, a line each."""
    rng = np.random.default_rng(seed)
    clip, time = data.column("clip"), data.column("time")
    lines = []
    for value in rng.permutation(np.unique(clip[clip >= 0]))[:clips]:
        rows = np.flatnonzero(clip == value)
        rows = rows[np.argsort(time[rows], kind="stable")][:frames]
        lines.append(np.resize(rows, frames))  # a shorter clip begins again
    images = np.stack([data.images(rows, rng) for rows in lines])
    return tile(images, title=f"{data.name}: each line is a clip")


def data_overview(data: FactorImages, seed: int = 0, *, count: int = 32) -> Image.Image:
    """Show samples and, on the same page, clips or what each factor does, where there are any."""
    pages = [samples(data, count, seed=seed)]
    if {"clip", "time"} <= data.columns.keys():
        pages.append(clip_strips(data, seed=seed))
    elif data.factor_list:
        pages.append(factor_traversals(data, seed=seed))
    whole = Image.new("RGB", (max(p.width for p in pages), sum(p.height for p in pages)), "white")
    top = 0
    for page in pages:
        whole.paste(page, (0, top))
        top += page.height
    return whole
