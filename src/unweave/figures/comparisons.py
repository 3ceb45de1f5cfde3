"""Plots of several runs: scores by setting, trade-offs, agreement of metrics."""

import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from unweave.errors import DataError
from unweave.figures.style import DIVERGING, PALETTE, Drawing, styled
from unweave.views import FEWEST_RUNS, Comparison

MARKERS = "osD^vP*X"
MOST_LETTERS = 90  # of a setting's name in a legend
LABEL_WIDTH = 30  # letters of a setting's name on one line

LEAST_SPAN = 0.01
"""Of an axis of scores: those that differ by less are alike to the digits that are told."""


@styled
def scores_by_method(comparison: Comparison) -> Drawing:
    """Draw every metric by setting: a point per seed, a bar at the mean."""
    if not comparison.metrics:
        raise DataError("none of the runs has a score: `unweave evaluate RUN` makes them")
    columns = min(3, len(comparison.metrics))
    lines = -(-len(comparison.metrics) // columns)
    groups = comparison.groups
    names = [in_lines(group) for group in groups]
    left = 0.5 + 0.075 * max(len(line) for name in names for line in name.split("\n"))
    room = max(0.3, 0.04 + 0.16 * max(name.count("\n") + 1 for name in names))
    drawing = Drawing(
        figsize=(left + 2.5 * columns, 0.5 + lines * (0.7 + room * len(groups))),
        layout="constrained",
    )
    for place, metric in enumerate(comparison.metrics):
        axes = drawing.add_subplot(lines, columns, place + 1)
        for score in (s for s in comparison.scores if s.metric == metric):
            line = groups.index(score.group)
            look = group_look(line)
            axes.plot(
                score.values, [line] * len(score.values), alpha=0.6, linestyle="", ms=6, **look
            )
            axes.plot([score.mean] * 2, [line - 0.3, line + 0.3], color=look["color"], lw=2.5)
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.set_yticks(range(len(groups)), names if place % columns == 0 else [""] * len(groups))
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.ticklabel_format(axis="x", useOffset=False)
        low, high = axes.get_xlim()
        if (missing := LEAST_SPAN - (high - low)) > 0:
            axes.set_xlim(low - missing / 2, high + missing / 2)
        better = "" if comparison.higher_is_better[metric] else " (lower is better)"
        axes.set_title(metric.replace("_", " ") + better)
    return drawing


@styled
def bound_against_mig(comparison: Comparison) -> Drawing:
    """Draw what disentanglement costs: MIG against the evidence bound."""
    points = [(r.group, r.elbo, r.scores.get("mig")) for r in comparison.runs]
    return _trade_off(comparison, points, "evidence bound (nats)", "MIG")


@styled
def mig_against_correlation(comparison: Comparison) -> Drawing:
    """Draw MIG against the total correlation of the codes."""
    points = [(r.group, r.total_correlation, r.scores.get("mig")) for r in comparison.runs]
    return _trade_off(comparison, points, "total correlation of the codes (nats)", "MIG")


def rank_agreement(comparison: Comparison) -> Drawing:
    """Draw whether metrics order the runs alike: +1 the same order, -1 the reverse."""
    view = comparison.agreement
    ranked = np.flatnonzero(np.isfinite(view.correlation).any(axis=1))
    if len(ranked) < 2:
        raise DataError(
            f"fewer than {FEWEST_RUNS} runs share two metrics: ranks of so few agree by chance"
        )
    names = [view.metrics[i] for i in ranked]
    return draw_agreement(names, view.correlation[np.ix_(ranked, ranked)])


@styled
def draw_agreement(names: Sequence[str], correlation: np.ndarray) -> Drawing:
    """Draw rank correlations of metrics, (metric, metric)."""
    count = len(names)
    side = 1.9 + 0.55 * count
    drawing = Drawing(figsize=(side + 1.0, side), layout="constrained")
    axes = drawing.add_subplot()
    color_map = matplotlib.colormaps[DIVERGING].with_extremes(bad="#F0F0F0")
    image = axes.imshow(correlation, cmap=color_map, vmin=-1, vmax=1, aspect="auto")
    axes.grid(visible=False)
    names = [name.replace("_", " ") for name in names]
    axes.set_xticks(range(count), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(count), names)
    axes.tick_params(length=0)
    for (line, column), value in np.ndenumerate(correlation):
        text = f"{value:.2f}" if np.isfinite(value) else "–"
        ink = "white" if np.isfinite(value) and abs(value) > 0.55 else "black"
        axes.text(column, line, text, ha="center", va="center", color=ink, fontsize=7.5)
    drawing.suptitle("rank correlation of metrics over runs (Spearman)", fontsize=10)
    drawing.colorbar(image, ax=axes, fraction=0.05, pad=0.02)
    return drawing


def in_lines(name: str) -> str:
    """Break a setting's long name where its parts end."""
    lines: list[str] = []
    for part in name.split(", "):
        if lines and len(lines[-1]) + len(part) + 2 <= LABEL_WIDTH:
            lines[-1] += f", {part}"
        else:
            lines.append(part)
    return ",\n".join(lines)


def group_look(index: int) -> dict[str, Any]:
    """Return colour and marker of a setting; all differ up to 56 settings."""
    return {
        "color": PALETTE[index % len(PALETTE)],
        "marker": MARKERS[index // len(PALETTE) % len(MARKERS)],
    }


def _trade_off(
    comparison: Comparison,
    points: list[tuple[str, float | None, float | None]],
    across: str,
    up: str,
) -> Drawing:
    known = [(g, x, y) for g, x, y in points if x is not None and y is not None]
    if not known:
        raise DataError(f"no run has both: {across}, and {up}")
    # Names of settings can be long, so they stand below, not beside.
    drawing = Drawing(figsize=(6.4, 3.4 + 0.17 * len(comparison.groups)), layout="constrained")
    axes: Axes = drawing.add_subplot()
    for index, group in enumerate(comparison.groups):
        own = [(x, y) for g, x, y in known if g == group]
        if own:
            xs, ys = zip(*own, strict=True)
            axes.plot(xs, ys, linestyle="", ms=7, alpha=0.85, label=group, **group_look(index))
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.margins(0.12)
    handles, names = axes.get_legend_handles_labels()
    names = [textwrap.shorten(group, MOST_LETTERS, placeholder=" …") for group in names]
    drawing.legend(handles, names, loc="outside lower left")
    return drawing
