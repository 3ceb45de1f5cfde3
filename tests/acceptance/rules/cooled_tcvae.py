"""CooledTCVAE: as the weight falls, each latent finds a factor of its own."""

from dataclasses import dataclass

import numpy as np
import torch

from rules._measures import evidence, traversals
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, all_images, train, untrained
from unweave.methods import Method
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.cooled_tcvae import CooledTCVAE
from unweave.metrics import mig
from unweave.networks import Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.runs.run import Run
from unweave.settings.schedules import Schedule
from unweave.tensors import Scalar

STEPS = 3000
# Images of 32×32 pixels have a quarter of those of 64×64, and are worth a quarter of the KL.
COOLING = Schedule(40.0, 1.0, STEPS // 2, curve="geometric")


@dataclass(frozen=True, kw_only=True)
class Uncorrelated(CooledTCVAE):
    """Takes no heed of the total correlation."""

    def _correlation(
        self,
        nets: Networks,
        q: DiagonalGaussian,
        kl_each: torch.Tensor,
        population: int,
        step: int,
    ) -> Scalar:
        return kl_each.new_zeros(())


def finding(run: Run) -> Finding:
    codes, factors = run.encode(all_images(run.data)), run.data.factors()
    numbers = {"MIG": float(mig(codes, factors).value), "R": evidence(run)["R"]}
    return Finding(numbers, traversals(run))


def trained(method: Method) -> Measure:
    return lambda seed: finding(train(method, seed=seed, steps=STEPS))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    best = np.median(others["β-VAE, β = 4"]["MIG"])
    return {
        "median MIG > β-VAE's + 0.15": bool(np.median(own["MIG"]) > best + 0.15),
        "R < 40": bool(own["R"].max() < 40),
    }


RULE = Rule(
    covers=("cooled_tcvae",),
    claim="weight from 40 to 1: median MIG of the seeds above that of β-VAE (β = 4) by 0.15 or "
    "more, R < 40 nats in each",
    method=trained(CooledTCVAE(kl_weight=COOLING, **FAST)),
    saboteurs={
        "the weight is 1 from the start": trained(CooledTCVAE(kl_weight=1.0, **FAST)),
        "the weight stays at 40": trained(CooledTCVAE(kl_weight=40.0, **FAST)),
        "untrained": lambda seed: finding(untrained(CooledTCVAE(**FAST), seed=seed)),
    },
    references={"β-VAE, β = 4": trained(BetaVAE(beta=4, **FAST))},
    told={"no total correlation": trained(Uncorrelated(kl_weight=COOLING, **FAST))},
    checks=checks,
    picture="Traversals, one line for each latent.",
)
