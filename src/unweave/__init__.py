"""unweave: learn, measure and look at disentangled representations of images.

import unweave as uw

run = uw.train(uw.BetaVAE(beta=4), data="dsprites", steps=20_000)
print(uw.evaluate(run))
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave import applications as applications
    from unweave import data as data
    from unweave import editing as editing
    from unweave import figures as figures
    from unweave import methods as methods
    from unweave import metrics as metrics
    from unweave import networks as networks
    from unweave import views as views
    from unweave.catalog import add_plugin as add_plugin
    from unweave.data import DataOptions as DataOptions
    from unweave.data import FactorImages as FactorImages
    from unweave.data import from_arrays as from_arrays
    from unweave.data import load_data as load_data
    from unweave.estimator import Disentangler as Disentangler
    from unweave.evaluation.probes import leakage as leakage
    from unweave.hub import from_pretrained as from_pretrained
    from unweave.hub import save_pretrained as save_pretrained

    # names: python docs/make_tables.py
    from unweave.methods.aae import AAE as AAE
    from unweave.methods.aae_clustering import AAEClustering as AAEClustering
    from unweave.methods.aae_reduction import AAEReduction as AAEReduction
    from unweave.methods.aae_semi_supervised import AAESemiSupervised as AAESemiSupervised
    from unweave.methods.ada_gvae import AdaGVAE as AdaGVAE
    from unweave.methods.ada_ml_vae import AdaMLVAE as AdaMLVAE
    from unweave.methods.annealed_vae import AnnealedVAE as AnnealedVAE
    from unweave.methods.beta_tcvae import BetaTCVAE as BetaTCVAE
    from unweave.methods.beta_vae import BetaVAE as BetaVAE
    from unweave.methods.control_vae import ControlVAE as ControlVAE
    from unweave.methods.cooled_tcvae import CooledTCVAE as CooledTCVAE
    from unweave.methods.cv_mim import CVMIM as CVMIM
    from unweave.methods.dc_ign import DCIGN as DCIGN
    from unweave.methods.dip_vae import DIPVAE as DIPVAE
    from unweave.methods.dr_net import DrNet as DrNet
    from unweave.methods.dynamic_vae import DynamicVAE as DynamicVAE
    from unweave.methods.elastic_info_gan import ElasticInfoGAN as ElasticInfoGAN
    from unweave.methods.f_statistic import FStatistic as FStatistic
    from unweave.methods.factor_vae import FactorVAE as FactorVAE
    from unweave.methods.ff_vae import FFVAE as FFVAE
    from unweave.methods.generalised_m2 import GeneralisedM2 as GeneralisedM2
    from unweave.methods.ground_truth import GroundTruth as GroundTruth
    from unweave.methods.gvae import GVAE as GVAE
    from unweave.methods.hfs import HFS as HFS
    from unweave.methods.i_vae import IVAE as IVAE
    from unweave.methods.ica import ICA as ICA
    from unweave.methods.info_gan import InfoGAN as InfoGAN
    from unweave.methods.info_gan_cr import InfoGANCR as InfoGANCR
    from unweave.methods.info_vae import InfoVAE as InfoVAE
    from unweave.methods.lord import LORD as LORD
    from unweave.methods.m1_m2 import M1M2 as M1M2
    from unweave.methods.m2 import M2 as M2
    from unweave.methods.ml_vae import MLVAE as MLVAE
    from unweave.methods.pca import PCA as PCA
    from unweave.methods.pixels import Pixels as Pixels
    from unweave.methods.qlae import QLAE as QLAE
    from unweave.methods.semi_supervised import SemiSupervised as SemiSupervised
    from unweave.methods.slow_vae import SlowVAE as SlowVAE
    from unweave.methods.style_gan import StyleGAN as StyleGAN
    from unweave.methods.top_k_sae import TopKSAE as TopKSAE
    from unweave.methods.tripod import Tripod as Tripod
    from unweave.methods.untrained_vae import UntrainedVAE as UntrainedVAE
    from unweave.methods.vae import VAE as VAE
    from unweave.methods.vae_gan import VAEGAN as VAEGAN
    from unweave.methods.very_deep_vae import VeryDeepVAE as VeryDeepVAE

    # end of names
    from unweave.runs.config import Machine as Machine
    from unweave.runs.run import Run as Run
    from unweave.runs.wrapped import wrap as wrap
    from unweave.settings.optimizers import SGD as SGD
    from unweave.settings.optimizers import Adagrad as Adagrad
    from unweave.settings.optimizers import Adam as Adam
    from unweave.settings.optimizers import RMSProp as RMSProp
    from unweave.settings.schedules import Schedule as Schedule
    from unweave.settings.schedules import constant as constant
    from unweave.studies import Study as Study
    from unweave.workflows import evaluate as evaluate
    from unweave.workflows import load as load
    from unweave.workflows import resume as resume
    from unweave.workflows import train as train
    from unweave.workflows import write_report as write_report

# Where each public name lives; imported on first use, so that `import unweave`
# and `unweave --help` need not wait for torch.
_PLACES = {
    "Adagrad": "settings.optimizers",
    "Adam": "settings.optimizers",
    "DataOptions": "data",
    "Disentangler": "estimator",
    "FactorImages": "data",
    "Machine": "runs.config",
    "RMSProp": "settings.optimizers",
    "Run": "runs.run",
    "SGD": "settings.optimizers",
    "Schedule": "settings.schedules",
    "Study": "studies",
    "add_plugin": "catalog",
    "constant": "settings.schedules",
    "evaluate": "workflows",
    "from_arrays": "data",
    "leakage": "evaluation.probes",
    "from_pretrained": "hub",
    "load": "workflows",
    "load_data": "data",
    "resume": "workflows",
    "save_pretrained": "hub",
    "train": "workflows",
    "wrap": "runs.wrapped",
    "write_report": "workflows",
}

_PACKAGES = (
    "applications",
    "data",
    "editing",
    "figures",
    "methods",
    "metrics",
    "networks",
    "views",
)


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"unweave.{_PLACES[name]}"), name)
    if name in _PACKAGES:
        return importlib.import_module(f"unweave.{name}")
    if name[:1].isupper() and (entry := _method_classes().get(name)) is not None:
        return getattr(importlib.import_module(f"unweave.methods.{entry}"), name)
    raise AttributeError(f"module 'unweave' has no attribute {name!r}")


def _method_classes() -> dict[str, str]:
    """Return the file of each method by the name of its class, read without importing any.

    The file has the name of the class in small letters.
    """
    import re
    from pathlib import Path

    found: dict[str, str] = {}
    for file in sorted((Path(__file__).parent / "methods").glob("[!_]*.py")):
        defined = re.findall(r"^(?:class|def) (\w+)", file.read_text("utf-8"), re.MULTILINE)
        wanted = file.stem.replace("_", "")
        found |= {name: file.stem for name in defined if name.lower() == wanted}
    return found


def __dir__() -> list[str]:
    own = [name for name in globals() if name.startswith("__")]
    return sorted({*own, *_PLACES, *_PACKAGES, *_method_classes()})
