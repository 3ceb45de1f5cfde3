"""Scores of a model among those of codes that nothing was learnt for."""

from collections.abc import Mapping, Sequence
from typing import Any

from unweave.errors import DataError
from unweave.figures.style import PALETTE, QUIET, Drawing, styled

MARKERS = {"pixels": "s", "PCA": "^", "untrained": "v", "ground truth": "D"}
NULL = "#D9D9D9"


@styled
def among_baselines(
    scores: Mapping[str, float],
    baselines: Mapping[str, Mapping[str, float]],
    nulls: Mapping[str, Mapping[str, Sequence[float]]],
    name: str = "this model",
) -> Drawing:
    """Draw a line for each metric: the model, the baselines, and from where to where nulls reach.

    What has no baseline and no null is left out.
    """
    shown = [metric for metric in scores if baselines.get(metric) or nulls.get(metric)]
    if not shown:
        raise DataError("none of the scores has a baseline or a null")
    drawing = Drawing(figsize=(7.6, 1.2 + 0.42 * len(shown)), layout="constrained")
    axes = drawing.add_subplot()
    for place, metric in enumerate(shown):
        draws = [draw for of_kind in nulls.get(metric, {}).values() for draw in of_kind]
        if draws:
            least, most = min(draws), max(draws)
            width = max(most - least, 0.004)
            axes.barh(place, width, left=least, color=NULL, height=0.62, label="nulls", zorder=1)
        for arm, value in baselines.get(metric, {}).items():
            look: dict[str, Any] = {
                "marker": MARKERS.get(arm, "x"),
                "color": QUIET,
                "ms": 6,
                "zorder": 2,
            }
            axes.plot(value, place, linestyle="", mfc="white", mew=1.3, label=arm, **look)
        look = {"marker": "o", "color": PALETTE[1], "ms": 7, "zorder": 3}
        axes.plot(scores[metric], place, linestyle="", label=name, **look)
    axes.set_yticks(range(len(shown)), [metric.replace("_", " ") for metric in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, -0.02), max(high, 1.02))
    axes.set_xlabel("score")
    axes.grid(visible=False, axis="y")
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    order = [label for label in (name, *MARKERS, "nulls") if label in once]
    drawing.legend(
        [once[label] for label in order], order, loc="outside upper left", ncols=len(order)
    )
    return drawing
