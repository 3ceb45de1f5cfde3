"""Disentanglement metrics: pure functions over tables, `metric(codes, factors) -> Score`.

Rows are samples. Every module without a leading underscore is one metric, and
the function has the module's name; the module also says which protocols it
knows (`PROTOCOLS`), what it needs (`NEEDS`) and which direction is better.
"""

from unweave.metrics._score import Made, Score, is_preliminary, protocol_words
from unweave.metrics.beta_vae_score import beta_vae_score, beta_vae_score_of_model
from unweave.metrics.dci import dci
from unweave.metrics.dcimig import dcimig
from unweave.metrics.explicitness import explicitness
from unweave.metrics.factor_vae_score import factor_vae_score, factor_vae_score_of_model
from unweave.metrics.factored_components import (
    factored_components,
    factored_components_of_model,
)
from unweave.metrics.flatness import flatness, flatness_of_model
from unweave.metrics.gaussian_total_correlation import gaussian_total_correlation
from unweave.metrics.infomec import infomec
from unweave.metrics.irs import irs
from unweave.metrics.jemmig import jemmig
from unweave.metrics.kl_decomposition import kl_decomposition
from unweave.metrics.mcc import mcc
from unweave.metrics.mig import mig
from unweave.metrics.mig_sampled import mig_sampled
from unweave.metrics.mig_sup import mig_sup
from unweave.metrics.modularity import modularity
from unweave.metrics.r_factor_vae_score import r_factor_vae_score, r_factor_vae_score_of_model
from unweave.metrics.sample_efficiency import sample_efficiency
from unweave.metrics.sap import sap
from unweave.metrics.udr import udr
from unweave.metrics.unfairness import unfairness, unfairness_of_model

__all__ = [
    "Made",
    "Score",
    "beta_vae_score",
    "beta_vae_score_of_model",
    "dci",
    "dcimig",
    "explicitness",
    "factor_vae_score",
    "factor_vae_score_of_model",
    "factored_components",
    "factored_components_of_model",
    "flatness",
    "flatness_of_model",
    "gaussian_total_correlation",
    "infomec",
    "irs",
    "is_preliminary",
    "jemmig",
    "kl_decomposition",
    "mcc",
    "mig",
    "mig_sampled",
    "mig_sup",
    "modularity",
    "protocol_words",
    "r_factor_vae_score",
    "r_factor_vae_score_of_model",
    "sample_efficiency",
    "sap",
    "udr",
    "unfairness",
    "unfairness_of_model",
]
