"""The plots of a study's report: plain functions from a table to a figure."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from unweave.figures.style import PALETTE, SEQUENTIAL, Drawing, styled
from unweave.studies.report.statistics import median_interval
from unweave.studies.report.table import StudyTable

MANY_DOTS = 2_000  # from which they are drawn as pixels, since each takes 100 bytes of an SVG

MEANING = {
    "elbo": "elbo (nats per image; further right fits better)",
    "kl_decomposition": "total correlation (nats; further left, latents know less of each other)",
}


def _drawing(width: float, height: float) -> tuple[Drawing, Axes]:
    drawing = Drawing(figsize=(width, height), layout="constrained")
    return drawing, drawing.add_subplot()


def _dots(axes: Axes, xs: Any, ys: Any, color: str, alpha: float, of: int) -> None:
    """Draw some of the runs of a table with so many."""
    many = of > MANY_DOTS
    axes.plot(xs, ys, "o", color=color, alpha=alpha, markersize=4, mew=0, rasterized=many)


def color_of(methods: Sequence[str]) -> dict[str, str]:
    """Give each method its colour, the same in every plot."""
    return {method: PALETTE[i % len(PALETTE)] for i, method in enumerate(dict.fromkeys(methods))}


@styled
def seed_distributions(table: StudyTable, metric: str) -> Drawing:
    """Draw every run as a dot, by arm, with the median and its interval."""
    arms = {
        arm: rows for arm, rows in table.arms().items() if np.isfinite(rows.column(metric)).any()
    }
    colors = color_of([row["method"] for row in table.rows])
    drawing, axes = _drawing(7.5, 0.9 + 0.36 * max(len(arms), 1))
    rng = np.random.default_rng(0)
    for place, rows in enumerate(arms.values()):
        values = rows.column(metric)
        values = values[np.isfinite(values)]
        color = colors[rows.rows[0]["method"]]
        shift = rng.uniform(-0.16, 0.16, size=len(values))
        _dots(axes, values, place + shift, color, 0.6, len(table))
        middle = median_interval(values)
        axes.plot([middle.low, middle.high], [place, place], "-", color="black", lw=1.2)
        axes.plot([middle.value], [place], "|", color="black", markersize=13, mew=2)
    axes.set_yticks(range(len(arms)), list(arms))
    axes.invert_yaxis()
    axes.set_xlabel(f"{metric}: runs, median, 95 % interval")
    axes.grid(visible=False, axis="y")
    return drawing


@styled
def trade_off(table: StudyTable, setting: str, metric: str, against: str = "elbo") -> Drawing:
    """Draw a score against another column, along the values of a setting."""
    drawing, axes = _drawing(6.4, 4.2)
    colors = color_of([row["method"] for row in table.rows])
    for method, color in colors.items():
        rows = [
            row
            for row in table.where(method=method).rows
            if isinstance(row.get(setting), (int, float))
            and row.get(metric) is not None
            and row.get(against) is not None
        ]
        values = sorted({row[setting] for row in rows})
        if not values:
            continue
        points = []
        for value in values:
            here = [row for row in rows if row[setting] == value]
            xs, ys = [r[against] for r in here], [r[metric] for r in here]
            points.append((float(np.median(xs)), float(np.median(ys))))
            _dots(axes, xs, ys, color, 0.35, len(table))
            axes.annotate(
                f"{value:g}", points[-1], textcoords="offset points", xytext=(6, 5), fontsize=8
            )
        line = np.array(points)
        axes.plot(line[:, 0], line[:, 1], "o-", color=color, label=f"{method}, {setting}")
    axes.set_xlabel(MEANING.get(against, against))
    axes.set_ylabel(f"{metric}; dots are runs, the line joins medians")
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    return drawing


@styled
def setting_map(
    table: StudyTable, metric: str, pixels: int, across: str = "beta", down: str = "latent_dim"
) -> Drawing:
    """Draw medians over two settings; for β and latent size each cell also says β_norm."""
    rows = [row for row in table.rows if row.get(metric) is not None]
    numeric = [
        row for row in rows if all(isinstance(row.get(k), (int, float)) for k in (across, down))
    ]
    xs, ys = sorted({r[across] for r in numeric}), sorted({r[down] for r in numeric})
    grid = np.full((len(ys), len(xs)), np.nan)
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            values = [r[metric] for r in numeric if r[across] == x and r[down] == y]
            grid[i, j] = np.median(values) if values else np.nan
    drawing, axes = _drawing(1.6 + 1.0 * len(xs), 1.4 + 0.7 * len(ys))
    image = axes.imshow(grid, cmap=SEQUENTIAL, aspect="auto")
    axes.grid(visible=False)
    axes.set_xticks(range(len(xs)), [f"{x:g}" for x in xs])
    axes.set_yticks(range(len(ys)), [f"{y:g}" for y in ys])
    axes.set_xlabel(across)
    axes.set_ylabel(down)
    middle = np.nanmean([np.nanmin(grid), np.nanmax(grid)]) if np.isfinite(grid).any() else 0.0
    for i, j in np.argwhere(np.isfinite(grid)):
        text = f"{grid[i, j]:.2f}"
        if (across, down) == ("beta", "latent_dim"):
            text += f"\nβ_norm {xs[j] * ys[i] / pixels:.2g}"
        shade = "black" if grid[i, j] > middle else "white"
        axes.text(j, i, text, ha="center", va="center", fontsize=8, color=shade)
    drawing.colorbar(image, label=f"median {metric}")
    return drawing


@styled
def variance_bars(shares: Mapping[str, Any]) -> Drawing:
    """Draw what method, setting and seed explain of each score."""
    drawing, axes = _drawing(7.0, 0.9 + 0.4 * max(len(shares), 1))
    places = np.arange(len(shares))
    left = np.zeros(len(shares))
    for part, color in (("method", PALETTE[0]), ("setting", PALETTE[5]), ("seed", PALETTE[1])):
        width = np.array([getattr(share, part) for share in shares.values()])
        axes.barh(places, width, left=left, color=color, label=part, height=0.6)
        left += width
    axes.set_yticks(places, list(shares))
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the variance over all runs (R² of group means)")
    axes.legend(
        ncols=3,
        loc="upper center",
        bbox_to_anchor=(0.5, 1.0 + 0.6 / max(len(shares), 1)),
    )
    return drawing


@styled
def selection_scatter(
    chosen: Mapping[str, float], truth: Mapping[str, float], name: str, metric: str
) -> Drawing:
    """Draw a label-free score of each run against the true one."""
    drawing, axes = _drawing(4.4, 3.4)
    both = [run for run in chosen if truth.get(run) is not None]
    axes.plot([chosen[r] for r in both], [truth[r] for r in both], "o", color=PALETTE[0], alpha=0.7)
    axes.set_xlabel(f"{name}, made without labels")
    axes.set_ylabel(metric)
    return drawing
