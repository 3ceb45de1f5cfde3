"""Views: pure functions from a model to named arrays, for figures, reports and the explorer.

A model is a `Run`, or functions of the user's own wrapped by `unweave.wrap`. Every
view is a frozen dataclass with `to_json`. Where several views need the codes of the
same rows, `sample_codes` once and pass it as `codes`.
"""

from unweave.views.code_sample import CodeSample, sample_codes, sample_rows
from unweave.views.comparison import (
    FEWEST_RUNS,
    Comparison,
    GroupScore,
    RankAgreement,
    RunRow,
    by_chance,
    compare,
    group_names,
    rank_agreement,
)
from unweave.views.decoded import (
    RANGES,
    PriorSamples,
    Ranges,
    Reconstructions,
    SwapGrid,
    Traversals,
    prior_samples,
    reconstructions,
    start_code,
    swap_grid,
    traversals,
)
from unweave.views.latents import (
    KINDS,
    HeatMap,
    Kind,
    KlPerDimension,
    LatentNames,
    Scatter,
    heat_map,
    heat_map_of_scores,
    kl_per_dimension,
    latent_names,
    scatter,
)
from unweave.views.responses import LatentResponse, PositionMap, ResponseLines, latent_response
from unweave.views.training_curves import (
    Curve,
    Curves,
    KlOverTime,
    LayerRates,
    curves,
    kl_over_time,
    layer_rates,
)
from unweave.views.turning import latent_order, turned, units_by_weight, values_of
from unweave.views.view import View, pictures_to_urls, plain, to_picture, to_url
from unweave.views.warning_signs import Warned, Warnings, warnings

__all__ = [
    "FEWEST_RUNS",
    "KINDS",
    "RANGES",
    "CodeSample",
    "Comparison",
    "Curve",
    "Curves",
    "GroupScore",
    "HeatMap",
    "Kind",
    "KlOverTime",
    "KlPerDimension",
    "LatentNames",
    "LatentResponse",
    "LayerRates",
    "PositionMap",
    "PriorSamples",
    "Ranges",
    "RankAgreement",
    "Reconstructions",
    "ResponseLines",
    "RunRow",
    "Scatter",
    "SwapGrid",
    "Traversals",
    "View",
    "Warned",
    "Warnings",
    "by_chance",
    "compare",
    "curves",
    "group_names",
    "heat_map",
    "heat_map_of_scores",
    "kl_over_time",
    "kl_per_dimension",
    "latent_names",
    "latent_order",
    "latent_response",
    "layer_rates",
    "pictures_to_urls",
    "plain",
    "prior_samples",
    "rank_agreement",
    "reconstructions",
    "sample_codes",
    "sample_rows",
    "scatter",
    "start_code",
    "swap_grid",
    "to_picture",
    "to_url",
    "traversals",
    "turned",
    "units_by_weight",
    "values_of",
    "warnings",
]
