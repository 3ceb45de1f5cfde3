"""Every figure of a model at once, those that do not apply with the reason why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unweave import views
from unweave.catalog import check_name
from unweave.errors import ConfigError, DataError
from unweave.figures import animations, decoded, plots
from unweave.runs.models import Model
from unweave.runs.run import Run
from unweave.views import CodeSample, Ranges

Maker = Callable[[Model, CodeSample, dict[str, Any]], Any]


def _of_run(function: Callable[[Run], Any]) -> Maker:
    """Make a figure that needs the files of a run."""

    def make(model: Model, codes: CodeSample, how: dict[str, Any]) -> Any:
        if not isinstance(model, Run):
            raise DataError("a wrapped model has no record of its training")
        return function(model)

    return make


def _of_decoder(make: Maker) -> Maker:
    """Make a figure that needs a decoder."""

    def checked(model: Model, codes: CodeSample, how: dict[str, Any]) -> Any:
        if not model.has_decoder:
            raise DataError(f"{model.name} has no decoder: it makes no images of codes")
        return make(model, codes, how)

    return checked


def _of_both(make: Maker) -> Maker:
    """Make a figure that needs a decoder and codes of images."""

    def checked(model: Model, codes: CodeSample, how: dict[str, Any]) -> Any:
        if not model.has_encoder:
            raise DataError(f"{model.name} has no codes of images, only of rows of data")
        return _of_decoder(make)(model, codes, how)

    return checked


def _unless_scored(model: Model, metric: str, codes: CodeSample) -> CodeSample | None:
    """Return the codes to compare, or None where a stored score has compared others already."""
    scored = (model.scores.get(metric) or {}).get("value") is not None
    return None if scored else codes


FIGURES: dict[str, Maker] = {
    "reconstructions": _of_both(lambda m, c, how: decoded.reconstructions(m, seed=how["seed"])),
    "prior_samples": _of_decoder(lambda m, c, how: decoded.prior_samples(m, seed=how["seed"])),
    "traversals": _of_decoder(lambda m, c, how: decoded.traversals(m, codes=c, **how)),
    "traversals_animated": _of_decoder(
        lambda m, c, how: animations.animated_traversals(m, codes=c, **(how | {"steps": 21}))
    ),
    "training_traversals": _of_run(animations.training_traversals),
    "training_animated": _of_run(animations.training_animation),
    "swaps": lambda m, c, how: decoded.swap_grid(m, seed=how["seed"]),
    "curves": _of_run(plots.curves),
    "kl_per_dimension": lambda m, c, how: plots.kl_per_dimension(m, c),
    "kl_over_time": _of_run(plots.kl_over_time),
    "layer_rates": _of_run(plots.layer_rates),
    "heat_map_mi": lambda m, c, how: plots.heat_map(m, "mi", _unless_scored(m, "mig", c)),
    "heat_map_dci": lambda m, c, how: plots.heat_map(m, "dci", _unless_scored(m, "dci", c)),
    "latent_response": lambda m, c, how: plots.latent_response(m, c),
}
"""Figures by the name of their file."""


@dataclass
class Drawn:
    """Which figures were written, and why the others were not."""

    paths: dict[str, Path] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


def draw(
    model: Model,
    folder: str | Path,
    *,
    only: Sequence[str] | None = None,
    format: str = "png",
    animation: str = "gif",
    start: Any = None,
    ranges: Ranges = "fixed",
    reach: float = 2.0,
    steps: int = 11,
    seed: int = 0,
) -> Drawn:
    """Write all figures of a model, or those named, into a folder."""
    check_name(format, ("png", "svg", "pdf"), "format of figures")
    check_name(animation, animations.ANIMATED, "format of animations")
    chosen = list(FIGURES) if only is None else list(only)
    for name in chosen:
        check_name(name, FIGURES, "figure")
    how = {"start": start, "ranges": ranges, "reach": reach, "steps": steps, "seed": seed}
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    codes = views.sample_codes(model, seed=seed)
    drawn = Drawn()
    for name in chosen:
        try:
            figure = FIGURES[name](model, codes, how)
        except (DataError, ConfigError) as error:
            drawn.reasons[name] = str(error)
            continue
        suffix = animation if isinstance(figure, animations.Animation) else format
        drawn.paths[name] = folder / f"{name}.{suffix}"
        figure.save(drawn.paths[name])
    return drawn
