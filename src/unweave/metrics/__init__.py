"""Disentanglement metrics: pure functions over tables, `metric(codes, factors) -> Score`.

Rows are samples. Every module without a leading underscore is one metric, and
the function has the module's name; the module also says which protocols it
knows (`PROTOCOLS`), what it needs (`NEEDS`) and which direction is better.
"""

import importlib
from typing import TYPE_CHECKING, Any

from unweave import catalog
from unweave.metrics._frames import matched_frames, taking_frames
from unweave.metrics._groups import Groups, read_groups
from unweave.metrics._information import factor_dependence
from unweave.metrics._protocol import (
    CODES,
    CODES_ALONE,
    GENERATOR,
    POSTERIOR,
    POSTERIOR_ALONE,
    SEVERAL_MODELS,
    TRAVERSALS,
)
from unweave.metrics._protocol import choose as choose_protocol
from unweave.metrics._protocol import made as how_made
from unweave.metrics._protocol import read as read_tables
from unweave.metrics._sampling import Encoder, Grid, encode_rows
from unweave.metrics._score import (
    Made,
    Score,
    headline,
    is_above_nulls,
    is_preliminary,
    null_words,
    protocol_words,
    shared_notes,
)

if TYPE_CHECKING:
    # names: python docs/make_tables.py
    from unweave.metrics.beta_vae_score import beta_vae_score as beta_vae_score
    from unweave.metrics.block_r2 import block_r2 as block_r2
    from unweave.metrics.dci import dci as dci
    from unweave.metrics.dci_es import dci_es as dci_es
    from unweave.metrics.dcimig import dcimig as dcimig
    from unweave.metrics.dmig import dmig as dmig
    from unweave.metrics.explicitness import explicitness as explicitness
    from unweave.metrics.factor_vae_score import factor_vae_score as factor_vae_score
    from unweave.metrics.factored_components import factored_components as factored_components
    from unweave.metrics.flatness import flatness as flatness
    from unweave.metrics.gaussian_total_correlation import (
        gaussian_total_correlation as gaussian_total_correlation,
    )
    from unweave.metrics.generalization_gap import generalization_gap as generalization_gap
    from unweave.metrics.infomec import infomec as infomec
    from unweave.metrics.irs import irs as irs
    from unweave.metrics.jemmig import jemmig as jemmig
    from unweave.metrics.kl_decomposition import kl_decomposition as kl_decomposition
    from unweave.metrics.linear_separability import linear_separability as linear_separability
    from unweave.metrics.mcc import mcc as mcc
    from unweave.metrics.med import med as med
    from unweave.metrics.mig import mig as mig
    from unweave.metrics.mig_sampled import mig_sampled as mig_sampled
    from unweave.metrics.mig_sup import mig_sup as mig_sup
    from unweave.metrics.modularity import modularity as modularity
    from unweave.metrics.omes import omes as omes
    from unweave.metrics.path_length import path_length as path_length
    from unweave.metrics.r_factor_vae_score import r_factor_vae_score as r_factor_vae_score
    from unweave.metrics.sample_efficiency import sample_efficiency as sample_efficiency
    from unweave.metrics.sap import sap as sap
    from unweave.metrics.traversal_smoothness import traversal_smoothness as traversal_smoothness
    from unweave.metrics.udr import udr as udr
    from unweave.metrics.unfairness import unfairness as unfairness
    # end of names

__all__ = [
    "CODES",
    "CODES_ALONE",
    "GENERATOR",
    "POSTERIOR",
    "POSTERIOR_ALONE",
    "SEVERAL_MODELS",
    "TRAVERSALS",
    "Encoder",
    "Grid",
    "Groups",
    "Made",
    "Score",
    "choose_protocol",
    "encode_rows",
    "factor_dependence",
    "headline",
    "how_made",
    "is_above_nulls",
    "is_preliminary",
    "matched_frames",
    "null_words",
    "protocol_words",
    "read_groups",
    "read_tables",
    "shared_notes",
]
__all__ += list(catalog.own_names(__name__))

# Now rather than when asked for: a module that is imported later would take the place
# of its function, which has the same name.
for _name in catalog.own_names(__name__):
    _module = importlib.import_module(f"{__name__}.{_name}")
    _function = getattr(_module, _name)
    globals()[_name] = taking_frames(_function) if _module.NEEDS == CODES else _function


def __getattr__(name: str) -> Any:
    if name in catalog.plugins.names(__name__):
        return getattr(catalog.load(__name__, name, "metric"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
