"""Every figure of a model at once, those that do not apply with the reason why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unweave import views
from unweave.catalog import check_name
from unweave.errors import ConfigError, DataError
from unweave.figures import animations, decoded, plots
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.views import CodeSample, Ranges


@dataclass(frozen=True)
class Wish:
    """A model, its codes as far as it has any, and how figures of it are to look."""

    model: Model
    sample: CodeSample | None
    how: dict[str, Any]

    @property
    def codes(self) -> CodeSample:
        """Return the codes, or say why there are none."""
        if self.sample is None:
            return views.sample_codes(self.model)
        return self.sample

    @property
    def run(self) -> Run:
        """Return the run, for figures of its files."""
        if not isinstance(self.model, Run):
            raise DataError("a wrapped model has no record of its training")
        return self.model


FIGURES: dict[str, Callable[[Wish], Any]] = {
    "reconstructions": lambda w: decoded.reconstructions(w.model, seed=w.how["seed"]),
    "prior_samples": lambda w: decoded.prior_samples(w.model, seed=w.how["seed"]),
    "traversals": lambda w: decoded.traversals(w.model, codes=w.sample, **w.how),
    "traversals_animated": lambda w: animations.animated_traversals(
        w.model, codes=w.sample, **(w.how | {"steps": 21})
    ),
    "training_traversals": lambda w: animations.training_traversals(w.run),
    "training_animated": lambda w: animations.training_animation(w.run),
    "swaps": lambda w: decoded.swap_grid(w.model, seed=w.how["seed"]),
    "mixes": lambda w: decoded.mixing_grid(w.model, seed=w.how["seed"]),
    "curves": lambda w: plots.curves(w.run),
    "kl_per_dimension": lambda w: plots.kl_per_dimension(w.model, w.codes),
    "kl_over_time": lambda w: plots.kl_over_time(w.run),
    "layer_rates": lambda w: plots.layer_rates(w.run),
    "heat_map_mi": lambda w: plots.heat_map(w.model, "mi", w.codes),
    "heat_map_dci": lambda w: plots.heat_map(w.model, "dci", w.codes),
    "latent_response": lambda w: plots.latent_response(w.model, w.codes),
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
    reach: float | None = None,
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
    has_codes = model.code.source != "nowhere"
    wish = Wish(model, views.sample_codes(model, seed=seed) if has_codes else None, how)
    drawn = Drawn()
    for name in chosen:
        try:
            figure = FIGURES[name](wish)
        except (DataError, ConfigError) as error:
            drawn.reasons[name] = str(error)
            continue
        suffix = animation if isinstance(figure, animations.Animation) else format
        drawn.paths[name] = folder / f"{name}.{suffix}"
        figure.save(drawn.paths[name])
    return drawn
