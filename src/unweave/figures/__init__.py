"""Pictures of data sets, runs and wrapped models.

Each function returns something that has `save(path)` and shows itself in a notebook.
What needs matplotlib is imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from unweave.figures.animations import (
    Animation,
    animated_traversals,
    training_animation,
    training_traversals,
)
from unweave.figures.data_sheets import (
    clip_strips,
    data_overview,
    factor_traversals,
    samples,
)
from unweave.figures.decoded import (
    mixing_grid,
    prior_samples,
    reconstructions,
    swap_grid,
    traversals,
)
from unweave.figures.pictures import ImageGrid

if TYPE_CHECKING:
    from unweave.figures.collection import draw as draw
    from unweave.figures.plots import curves as curves
    from unweave.figures.plots import heat_map as heat_map
    from unweave.figures.plots import kl_over_time as kl_over_time
    from unweave.figures.plots import kl_per_dimension as kl_per_dimension
    from unweave.figures.plots import latent_response as latent_response
    from unweave.figures.plots import layer_rates as layer_rates
    from unweave.figures.plots import scatter as scatter

_PLACES = {
    "curves": "plots",
    "draw": "collection",
    "heat_map": "plots",
    "kl_over_time": "plots",
    "kl_per_dimension": "plots",
    "latent_response": "plots",
    "layer_rates": "plots",
    "scatter": "plots",
}

__all__ = [
    "Animation",
    "ImageGrid",
    "animated_traversals",
    "clip_strips",
    "curves",
    "data_overview",
    "draw",
    "factor_traversals",
    "heat_map",
    "kl_over_time",
    "kl_per_dimension",
    "latent_response",
    "layer_rates",
    "mixing_grid",
    "prior_samples",
    "reconstructions",
    "samples",
    "scatter",
    "swap_grid",
    "training_animation",
    "training_traversals",
    "traversals",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"unweave.figures.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'unweave.figures' has no attribute {name!r}")
