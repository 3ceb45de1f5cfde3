"""The plots of a study's report: plain functions from a table to a matplotlib figure."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unweave.studies.report.statistics import median_interval
from unweave.studies.report.table import StudyTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = ("#3366aa", "#cc5533", "#338855", "#8855aa", "#aa8833", "#338899", "#aa3366", "#666666")


def _figure(width: float, height: float) -> "tuple[Figure, Any]":
    # Made without pyplot, whose figures stay in memory until they are closed.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def color_of(methods: Sequence[str]) -> dict[str, str]:
    """Give each method its colour, the same in every plot."""
    return {method: COLORS[i % len(COLORS)] for i, method in enumerate(dict.fromkeys(methods))}


def seed_distributions(table: StudyTable, metric: str) -> "Figure":
    """Draw every run as a dot, by arm, with the median and its interval."""
    arms = {
        arm: rows for arm, rows in table.arms().items() if np.isfinite(rows.column(metric)).any()
    }
    colors = color_of([row["method"] for row in table.rows])
    figure, axes = _figure(7.5, 0.9 + 0.36 * max(len(arms), 1))
    rng = np.random.default_rng(0)
    for place, rows in enumerate(arms.values()):
        values = rows.column(metric)
        values = values[np.isfinite(values)]
        color = colors[rows.rows[0]["method"]]
        shift = rng.uniform(-0.16, 0.16, size=len(values))
        axes.plot(values, place + shift, "o", color=color, alpha=0.6, markersize=4, mew=0)
        middle = median_interval(values)
        axes.plot([middle.low, middle.high], [place, place], "-", color="black", lw=1.2)
        axes.plot([middle.value], [place], "|", color="black", markersize=13, mew=2)
    axes.set_yticks(range(len(arms)), list(arms))
    axes.invert_yaxis()
    axes.set_xlabel(f"{metric}: runs, median, 95 % interval")
    axes.grid(axis="x", alpha=0.3)
    return figure


def trade_off(table: StudyTable, setting: str, metric: str, against: str = "elbo") -> "Figure":
    """Draw a score against the evidence bound, along the values of a setting."""
    figure, axes = _figure(6.4, 4.2)
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
            axes.plot(xs, ys, "o", color=color, alpha=0.35, markersize=4, mew=0)
            axes.annotate(
                f"{value:g}", points[-1], textcoords="offset points", xytext=(6, 5), fontsize=8
            )
        line = np.array(points)
        axes.plot(line[:, 0], line[:, 1], "o-", color=color, label=f"{method}, {setting}")
    axes.set_xlabel(f"{against} (nats per image; further right fits better)")
    axes.set_ylabel(f"{metric}; dots are runs, the line joins medians")
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
    return figure


def setting_map(
    table: StudyTable, metric: str, pixels: int, across: str = "beta", down: str = "latent_dim"
) -> "Figure":
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
    figure, axes = _figure(1.6 + 1.0 * len(xs), 1.4 + 0.7 * len(ys))
    image = axes.imshow(grid, cmap="viridis", aspect="auto")
    axes.spines[:].set_visible(False)
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
    figure.colorbar(image, label=f"median {metric}")
    return figure


def agreement_map(names: Sequence[str], matrix: NDArray[Any]) -> "Figure":
    """Draw rank correlations between scores."""
    side = 1.8 + 0.5 * len(names)
    figure, axes = _figure(side + 0.8, side)
    image = axes.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
    axes.spines[:].set_visible(False)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(names)), names)
    for i, j in np.argwhere(np.isfinite(matrix)):
        shade = "white" if abs(matrix[i, j]) > 0.6 else "black"
        axes.text(j, i, f"{matrix[i, j]:.2f}", ha="center", va="center", fontsize=7, color=shade)
    figure.colorbar(image, label="Spearman's rank correlation over runs")
    return figure


def variance_bars(shares: Mapping[str, Any]) -> "Figure":
    """Draw what method, setting and seed explain of each score."""
    figure, axes = _figure(7.0, 0.9 + 0.4 * max(len(shares), 1))
    places = np.arange(len(shares))
    left = np.zeros(len(shares))
    for part, color in (("method", "#3366aa"), ("setting", "#99bbdd"), ("seed", "#cc5533")):
        width = np.array([getattr(share, part) for share in shares.values()])
        axes.barh(places, width, left=left, color=color, label=part, height=0.6)
        left += width
    axes.set_yticks(places, list(shares))
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the variance over all runs (R² of group means)")
    axes.legend(
        frameon=False,
        ncols=3,
        loc="upper center",
        bbox_to_anchor=(0.5, 1.0 + 0.6 / max(len(shares), 1)),
    )
    return figure


def selection_scatter(
    chosen: Mapping[str, float], truth: Mapping[str, float], name: str, metric: str
) -> "Figure":
    """Draw a label-free score of each run against the true one."""
    figure, axes = _figure(4.4, 3.4)
    both = [run for run in chosen if truth.get(run) is not None]
    axes.plot([chosen[r] for r in both], [truth[r] for r in both], "o", color=COLORS[0], alpha=0.7)
    axes.set_xlabel(f"{name}, made without labels")
    axes.set_ylabel(metric)
    axes.grid(alpha=0.3)
    return figure
