"""β-VAE: β trades images for rate."""

from dataclasses import dataclass

from rules._measures import evidence, traversals
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, train
from unweave.batches import Batch
from unweave.methods import Loss
from unweave.methods.beta_vae import BetaVAE
from unweave.networks import Networks
from unweave.settings.schedules import Schedule, constant

BETAS = (1, 4, 16)


@dataclass(frozen=True, kw_only=True)
class Deaf(BetaVAE):
    """Weighs the KL by 1, whatever β is."""

    def beta_for(self, pixels: int) -> Schedule:
        return constant(1.0)


@dataclass(frozen=True, kw_only=True)
class Cut(BetaVAE):
    """Adds the KL to the loss without its gradient."""

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        loss = super().loss(nets, batch, step)
        return Loss(loss.terms["reconstruction"] + loss.terms["kl"].detach(), **loss.terms)


def over_betas(seed: int) -> Finding:
    numbers, look = {}, {}
    for beta in BETAS:
        run = train(BetaVAE(beta=beta, **FAST), seed=seed)
        numbers |= {f"{name} β={beta}": value for name, value in evidence(run).items()}
        look = traversals(run) if beta == 4 else look
    twin = evidence(train(BetaVAE(beta_norm=4 * 6 / 1024, **FAST), seed=seed))
    numbers["R by β_norm less R by β = 4"] = twin["R"] - numbers["R β=4"]
    return Finding(numbers, look)


def without_beta(kind: type[BetaVAE]) -> Measure:
    """Measure a method whose gradient has no β: one run is that of every β, by β_norm too."""

    def measure(seed: int) -> Finding:
        run = train(kind(beta=4, **FAST), seed=seed)
        found = evidence(run)
        numbers = {f"{name} β={beta}": found[name] for beta in BETAS for name in found}
        return Finding(numbers | {"R by β_norm less R by β = 4": 0.0}, traversals(run))

    return measure


def checks(own: Columns, others: object) -> Checks:
    return {
        "KL falls by a fifth and a third": bool(
            (own["KL β=4"] < own["KL β=1"] * 4 / 5).all()
            and (own["KL β=16"] < own["KL β=4"] * 2 / 3).all()
        ),
        "R rises by half, twice": bool(
            (own["R β=4"] > 1.5 * own["R β=1"]).all() and (own["R β=16"] > 1.5 * own["R β=4"]).all()
        ),
        "β_norm the same": bool((own["R by β_norm less R by β = 4"] == 0).all()),
    }


RULE = Rule(
    covers=("beta_vae",),
    claim="each seed: from β = 1 to 4 the KL falls by a fifth or more, from 4 to 16 by a third; "
    "R rises by half or more each time; β_norm gives the very run of β = 4",
    method=over_betas,
    saboteurs={"β ignored": without_beta(Deaf), "gradient of the KL cut": without_beta(Cut)},
    checks=checks,
    picture="Traversals of the run with β = 4, one line for each latent.",
)
