"""Pictures of data sets and runs."""

from unweave.figures.of_data import data_overview, factor_traversals, samples
from unweave.figures.of_run import prior_samples, reconstructions, traversals

__all__ = [
    "data_overview",
    "factor_traversals",
    "prior_samples",
    "reconstructions",
    "samples",
    "traversals",
]
