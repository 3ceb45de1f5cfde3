"""Figures as parts of a page."""

from collections.abc import Callable, Mapping
from typing import Any

from unweave.errors import UnweaveError
from unweave.figures.style import Drawing
from unweave.pages import Html, data_url, figure, picture_url, tag

ENDINGS = ("svg", "pdf")
"""Files that every figure is offered as."""


def drawn(make: Callable[[], Any], caption: Any, alternative: str) -> Html:
    """Return a figure, or the sentence why there is none."""
    try:
        result = make()
    except UnweaveError as error:
        return tag("p", f"No {alternative}: {error}", class_="note")
    if isinstance(result, Drawing):
        return plotted(result, caption, alternative)
    files = {ending: result.drawing.content(ending) for ending in ENDINGS}
    return pictured(picture_url(result.picture), caption, alternative, files)


def plotted(drawing: Drawing, caption: Any, alternative: str) -> Html:
    """Return a plot, whose letters look the same whatever fonts the reader has."""
    width = round(float(drawing.get_figwidth()) * 100)
    shown = drawing.content("svg", outlines=True)
    files = {e: shown if e == "svg" else drawing.content(e) for e in ENDINGS}
    source = data_url(shown, "image/svg+xml")
    return tag("div", figure(source, caption, alternative, width, files), class_="plot")


def pictured(
    source: str, caption: Any, alternative: str, files: Mapping[str, bytes] | None = None
) -> Html:
    """Return images, whose pixels are not made smaller on narrow pages."""
    return tag("div", figure(source, caption, alternative, files=files), class_="pictures")
