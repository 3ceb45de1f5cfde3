"""Plots of what was learnt: KL, curves, heat maps, responses of latents to factors."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from unweave import views
from unweave.code_prior import ACTIVE
from unweave.errors import DataError
from unweave.figures.style import DIVERGING, PALETTE, QUIET, SEQUENTIAL, Drawing, line_look, styled
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.views import CodeSample, Curve, HeatMap, KlOverTime, LatentResponse, ResponseLines

MOST_LATENTS = 12  # lines of the response plot
STEEP = 20.0  # ratio from which a curve is drawn on a logarithmic scale
NAMED_LINES = 12  # latents with a colour and a label of their own

Source = Run | Iterable[dict[str, Any]]


@styled
def kl_per_dimension(model: Model, codes: CodeSample | None = None) -> Drawing:
    """Draw how much each latent carries, largest first."""
    view = views.kl_per_dimension(model, codes)
    values = view.variance if view.kl is None else view.kl
    drawing = Drawing(figsize=(5.2, 0.9 + 0.26 * len(values)), layout="constrained")
    axes = drawing.add_subplot()
    places = np.arange(len(values))
    colors = [PALETTE[0] if view.active[latent] else QUIET for latent in view.order]
    axes.barh(places, values[view.order], color=colors, height=0.72)
    digits = ".2f" if values.max() >= 0.1 else ".2g"
    for place, latent in zip(places, view.order, strict=True):
        axes.annotate(
            f"{values[latent]:{digits}}",
            (values[latent], place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_yticks(places, [view.labels[latent] for latent in view.order])
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("variance of the code" if view.kl is None else "KL to the prior (nats)")
    active = int(view.active.sum())
    axes.set_title(f"{model.name}: {active} of {len(values)} latents carry something")
    return drawing


@styled
def kl_over_time(
    source: Source, labels: Sequence[str] | None = None, codes: CodeSample | None = None
) -> Drawing:
    """Draw the KL of each latent by step; those that end dead are grey.

    They are named in the order of their last KL, or with codes in that of all other figures.
    """
    view = views.kl_over_time(_record(source))
    if view.kl.size == 0:
        raise DataError("the record holds no KL per latent: the method has no Gaussian posterior")
    if labels is None:
        names = views.latent_names(source).labels if isinstance(source, Run) else None
        labels = names or [f"z{i}" for i in range(view.kl.shape[1])]
    drawing = Drawing(figsize=(7.2, 4.2), layout="constrained")
    order: Sequence[int] = np.argsort(-view.kl[-1], kind="stable").tolist()
    if codes is not None and isinstance(source, Run):
        order = views.latent_order(source, codes)
    _draw_kl_over_time(drawing.add_subplot(), view, labels, order)
    return drawing


def _draw_kl_over_time(
    axes: Axes, view: KlOverTime, labels: Sequence[str], order: Sequence[int]
) -> None:
    marker = "o" if len(view.steps) == 1 else None
    dead = 0
    for place, latent in enumerate(order):
        values = view.kl[:, latent]
        if place >= NAMED_LINES or values[-1] <= view.least + ACTIVE:
            dead += 1
            axes.plot(view.steps, values, color=QUIET, linewidth=1, marker=marker, zorder=1)
            continue
        axes.plot(
            view.steps, values, label=labels[latent], marker=marker, zorder=2, **line_look(place)
        )
    if dead:
        axes.plot([], [], color=QUIET, linewidth=1, label=f"{dead} others")
    axes.set_xlabel("step")
    axes.set_ylabel("KL to the prior (nats)")
    axes.set_ylim(bottom=0)
    axes.set_title("KL of each latent while training")
    _steps(axes)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=2.5)


@styled
def layer_rates(source: Source) -> Drawing:
    """Draw the rate of each layer of a hierarchy: at the end, and all of them by step."""
    view = views.layer_rates(_record(source))
    if view.rates.size == 0:
        raise DataError("the record holds no rates of layers: the method has no hierarchy")
    count = len(view.layers)
    labels = [f"{place} ({size.replace('x', '×')})" for place, size in enumerate(view.layers)]
    colors = matplotlib.colormaps[SEQUENTIAL](np.linspace(0, 0.95, count))
    drawing = Drawing(figsize=(8.4, max(3.2, 1.2 + 0.26 * count)), layout="constrained")
    last, over_time = drawing.subplots(1, 2)
    places = np.arange(count)
    last.barh(places, view.rates[-1], color=colors, height=0.72)
    for place, rate in zip(places, view.rates[-1], strict=True):
        where = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": 8}
        last.annotate(f"{rate:.2f}", (rate, place), **where)
    last.set_yticks(places, labels)
    last.invert_yaxis()
    last.margins(x=0.14)
    last.grid(visible=False, axis="y")
    last.set_xlabel("rate (nats)")
    last.set_ylabel("layer, from the top")
    last.set_title(f"at step {view.steps[-1]:,}: {view.rates[-1].sum():.1f} nats in all")
    if len(view.steps) > 1:
        over_time.stackplot(view.steps, view.rates.T, colors=colors, linewidth=0)
    else:
        over_time.bar(
            np.repeat(view.steps, count),
            view.rates[0],
            bottom=np.cumsum(view.rates[0]) - view.rates[0],
            color=colors,
        )
    over_time.set_xlabel("step")
    over_time.set_title("one upon the other, while training")
    _steps(over_time)
    return drawing


@styled
def curves(source: Source) -> Drawing:
    """Draw every term of every player by step, each on a scale of its own."""
    found = views.curves(_record(source)).curves
    if not found:
        raise DataError("the record is empty: nothing was trained, so there are no curves")
    columns = min(3, len(found))
    lines = -(-len(found) // columns)
    drawing = Drawing(figsize=(3.3 * columns, 0.3 + 2.2 * lines), layout="constrained")
    players = list(dict.fromkeys(curve.player for curve in found))
    for place, curve in enumerate(found):
        axes = drawing.add_subplot(lines, columns, place + 1)
        _draw_curve(axes, curve, PALETTE[players.index(curve.player) % len(PALETTE)])
        if place >= len(found) - columns:
            axes.set_xlabel("step")
    return drawing


def _draw_curve(axes: Axes, curve: Curve, color: str) -> None:
    few = len(curve.steps) <= 30
    axes.plot(curve.steps, curve.values, color=color, marker="." if few else None)
    # A steep start would leave the rest of a linear scale flat.
    if curve.values.min() > 0 and curve.values.max() / np.median(curve.values) > STEEP:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=6))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.set_title(f"{curve.name.replace('_', ' ')} ({curve.player})", fontsize=9, color=color)
    _steps(axes)


@styled
def heat_map(model: Model, kind: views.Kind = "mi", codes: CodeSample | None = None) -> Drawing:
    """Draw how much each latent says about each factor: "mi" or "dci".

    It is that of the score which a run keeps, and that of codes if it keeps none. With codes,
    latents stand in the order of all other figures, those that carry most first.
    """
    view = views.heat_map_of_scores(model, kind, codes)
    if codes is not None:
        order = views.latent_order(model, codes)
        named = [view.latents[latent] for latent in order]
        view = replace(view, latents=named, values=view.values[:, order])
    width, height = 0.62 * len(view.latents), 0.42 * len(view.factors)
    drawing = Drawing(figsize=(2.6 + width, 1.6 + height), layout="constrained")
    _draw_heat_map(drawing, drawing.add_subplot(), view)
    return drawing


def _draw_heat_map(drawing: Drawing, axes: Axes, view: HeatMap) -> None:
    image = axes.imshow(view.values, cmap=SEQUENTIAL, vmin=0, vmax=1, aspect="auto")
    axes.grid(visible=False)
    axes.set_xticks(range(len(view.latents)), view.latents)
    if any(len(label) > 4 for label in view.latents):
        axes.tick_params(axis="x", labelrotation=40)
        for text in axes.get_xticklabels():
            text.set_horizontalalignment("right")
            text.set_rotation_mode("anchor")
    axes.set_yticks(range(len(view.factors)), view.factors)
    axes.tick_params(length=0)
    if view.values.size <= 400:
        for (line, column), value in np.ndenumerate(view.values):
            ink = "white" if value < 0.5 else "black"
            axes.text(
                column, line, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=7.5
            )
    title = {
        "mi": "share of each factor's entropy that a latent knows",
        "dci": "importance of each latent for a factor (DCI)",
    }[view.kind]
    axes.set_title(f"{title}\n{view.rows:,} images" if view.rows else title)
    drawing.colorbar(image, ax=axes, fraction=0.05, pad=0.02)


@styled
def latent_response(
    model: Model,
    codes: CodeSample | None = None,
    *,
    latents: Sequence[int] | None = None,
    view: LatentResponse | None = None,
) -> Drawing:
    """Draw each latent's mean by position, and against every other factor by class.

    A line per latent, those with most KL first; dead ones are left out.
    """
    codes = codes or views.sample_codes(model)
    view = view or views.latent_response(model, codes)
    if latents is None:
        carried = views.kl_per_dimension(model, codes)
        latents = [int(i) for i in carried.order if carried.active[i]] or [int(carried.order[0])]
        latents = latents[:MOST_LATENTS]
    widths = [1.15] * (view.position is not None) + [1.6] * len(view.lines)
    drawing = Drawing(
        figsize=(1.1 + 1.5 * sum(widths), 0.9 + 1.35 * len(latents)), layout="constrained"
    )
    grid = drawing.add_gridspec(len(latents), len(widths), width_ratios=widths)
    for line, latent in enumerate(latents):
        reach = _reach(view, latent)
        last = line == len(latents) - 1
        column = 0
        if view.position is not None:
            axes = drawing.add_subplot(grid[line, 0])
            _draw_position(axes, view.position.means[latent], reach)
            axes.set_ylabel(view.labels[latent], rotation=0, ha="right", va="center")
            if line == 0:
                axes.set_title(f"{view.position.across} →, {view.position.down} ↓")
            column = 1
        for place, lines in enumerate(view.lines):
            axes = drawing.add_subplot(grid[line, column + place])
            _draw_response(axes, lines, latent, reach)
            if column + place == 0:
                axes.set_ylabel(view.labels[latent], rotation=0, ha="right", va="center")
            if line == 0:
                axes.set_title(lines.factor)
            if not last:
                axes.tick_params(labelbottom=False)
    if view.split_by is not None and view.lines:
        handles, names = drawing.axes[-1].get_legend_handles_labels()
        drawing.legend(handles, names, loc="outside lower right", ncols=len(names))
    return drawing


def _reach(view: LatentResponse, latent: int) -> float:
    """Return the size of the largest mean of a latent, so that its plots share one scale."""
    means = [lines.means[latent] for lines in view.lines]
    if view.position is not None:
        means.append(view.position.means[latent])
    return max(float(np.nanmax(np.abs(part))) for part in means) or 1.0


def _draw_position(axes: Axes, means: np.ndarray, reach: float) -> None:
    color_map = matplotlib.colormaps[DIVERGING].with_extremes(bad="#E0E0E0")
    axes.imshow(means, cmap=color_map, vmin=-reach, vmax=reach, aspect="equal")
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.set_yticks([])


def _draw_response(axes: Axes, lines: ResponseLines, latent: int, reach: float) -> None:
    for place, name in enumerate(lines.classes):
        look = line_look(place)
        means, spread = lines.means[latent, place], lines.spread[latent, place]
        axes.plot(lines.values, means, label=name, **look)
        if len(lines.classes) == 1:  # bands of several lines would hide each other
            axes.fill_between(
                lines.values, means - spread, means + spread, color=look["color"], alpha=0.15, lw=0
            )
    # The means decide the scale; a wide spread may run out of it.
    axes.set_ylim(-1.1 * reach, 1.1 * reach)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    labels = lines.value_labels
    if labels is not None and len(labels) <= 6 and max(map(len, labels)) <= 6:
        axes.set_xticks(lines.values, labels)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True, steps=[1, 2, 5, 10]))


@styled
def scatter(model: Model, latent: int, factor: str, codes: CodeSample | None = None) -> Drawing:
    """Draw one latent against one factor, a point per image."""
    view = views.scatter(model, latent, factor, codes)
    drawing = Drawing(figsize=(5.2, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    whole = bool((view.values == np.rint(view.values)).all())
    # Points of one value side by side, or they would hide each other.
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(view.values)) if whole else 0.0
    for place, name in enumerate(view.class_labels or [""]):
        chosen = slice(None) if view.classes is None else view.classes == place
        axes.scatter(
            (view.values + jitter)[chosen],
            view.codes[chosen],
            s=6,
            color=PALETTE[place % len(PALETTE)],
            alpha=0.5,
            linewidths=0,
            label=name,
        )
    if view.classes is not None:
        axes.legend(markerscale=2, loc="center left", bbox_to_anchor=(1.0, 0.5))
    if view.factor_labels is not None and len(view.factor_labels) <= 10:
        axes.set_xticks(range(len(view.factor_labels)), view.factor_labels)
    axes.set_xlabel(view.factor)
    axes.set_ylabel(view.label)
    return drawing


def _record(source: Source) -> Iterable[dict[str, Any]]:
    if not isinstance(source, Run):
        return source
    if source.folder is None:
        raise DataError("this run lives in memory only and has no record of its training")
    return source.folder.record()


def _steps(axes: Axes) -> None:
    """Mark few, round steps."""
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda step, _: f"{step / 1000:g}k" if step >= 1000 else f"{step:g}")
    )
