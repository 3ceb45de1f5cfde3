"""β-TCVAE: less total correlation, and more information than the β-VAE leaves."""

from dataclasses import dataclass

import numpy as np

from rules._measures import evidence, split_rate, traversals
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, TANH, train, untrained
from unweave.batches import Batch
from unweave.methods import Loss, Method
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.networks import Networks
from unweave.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class Cut(BetaTCVAE):
    """Adds the total correlation to the loss without its gradient."""

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        loss = super().loss(nets, batch, step)
        return Loss(loss.terms["reconstruction"] + loss.terms["kl"], **loss.terms)


def finding(run: Run) -> Finding:
    return Finding(split_rate(run) | {"R": evidence(run)["R"]}, traversals(run))


def trained(method: Method) -> Measure:
    return lambda seed: finding(train(method, network=TANH, seed=seed, steps=3000))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    plain, beta_vae = others["β = 1"], others["β-VAE, β = 6"]
    return {
        "TC < 0.5 of β = 1": bool(np.median(own["TC"]) < 0.5 * np.median(plain["TC"])),
        "MI > β-VAE's + 0.5": bool(np.median(own["MI"]) > np.median(beta_vae["MI"]) + 0.5),
    }


RULE = Rule(
    covers=("beta_tcvae",),
    claim="β = 6, medians of the seeds over all images: total correlation below half of that with "
    "β = 1; mutual information above that of β-VAE with β = 6 by 0.5 nats or more",
    method=trained(BetaTCVAE(beta=6, **FAST)),
    saboteurs={
        "gradient of the total correlation cut": trained(Cut(beta=6, **FAST)),
        "β-VAE, β = 6": trained(BetaVAE(beta=6, **FAST)),
        "untrained": lambda seed: finding(untrained(BetaTCVAE(**FAST), seed=seed)),
    },
    references={
        "β = 1": trained(BetaTCVAE(beta=1, **FAST)),
        "β-VAE, β = 6": trained(BetaVAE(beta=6, **FAST)),
    },
    checks=checks,
    picture="Traversals, one line for each latent.",
)
