"""CooledTCVAE: factors that switch on one by one are found on latents of their own."""

import numpy as np

from rules._measures import evidence, traversals
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, all_images, train, untrained
from unweave.methods import Method
from unweave.methods.cooled_tcvae import CooledTCVAE
from unweave.metrics import mig
from unweave.runs.run import Run
from unweave.runs.silencing import NATS

# A weight of 60 is just below where every latent of this network stays off on toy_xys.
FALL = "60:1:1300:geometric"


def finding(run: Run) -> Finding:
    images = all_images(run.data)
    posterior = run.posterior(images)
    assert posterior is not None
    mean, logvar = posterior
    kl = run.code_prior.kl(mean, logvar, np.exp(logvar)).mean(axis=0)
    on = float((kl > run.code_prior.least_kl + NATS).sum())
    found = {"MIG": mig(mean, run.data.factors()).value, "on": on, "R": evidence(run)["R"]}
    return Finding(found, traversals(run))


def trained(method: Method) -> Measure:
    return lambda seed: finding(train(method, seed=seed, steps=2000))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    cold = others["KL weight 1 throughout"]
    return {
        "MIG > that of KL weight 1 + 0.1": bool(
            np.median(own["MIG"]) > np.median(cold["MIG"]) + 0.1
        ),
        "3 latents on, one for each factor": bool(np.median(own["on"]) == 3),
        "R < 40": bool(np.median(own["R"]) < 40),
    }


RULE = Rule(
    covers=("cooled_tcvae",),
    claim="KL weight from 60 to 1, medians of the seeds: MIG above that with a weight of 1 "
    "throughout by 0.1 or more, exactly 3 of 6 latents on for 3 factors, R below 40 nats",
    method=trained(CooledTCVAE(kl_weight=FALL, **FAST)),
    saboteurs={
        "KL weight 1 throughout": trained(CooledTCVAE(kl_weight=1.0, **FAST)),
        "KL weight 60 throughout": trained(CooledTCVAE(kl_weight=60.0, **FAST)),
        "untrained": lambda seed: finding(
            untrained(CooledTCVAE(kl_weight=FALL, **FAST), seed=seed)
        ),
    },
    references={"KL weight 1 throughout": trained(CooledTCVAE(kl_weight=1.0, **FAST))},
    checks=checks,
    picture="Traversals, one line for each latent.",
)
