"""VAE: images are kept, at a rate, and the prior decodes to images."""

from rules._measures import evidence, one_blob, samples
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, train, untrained
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.vae import VAE
from unweave.runs.run import Run


def finding(run: Run) -> Finding:
    return Finding(evidence(run) | {"one blob": one_blob(run.sample(256))}, samples(run))


def trained(method: VAE | BetaVAE) -> Measure:
    return lambda seed: finding(train(method, seed=seed, steps=2500))


def checks(own: Columns, others: object) -> Checks:
    return {
        "R < 12": own["R"].max() < 12,
        "10 < KL < 18": own["KL"].min() > 10 and own["KL"].max() < 18,
        "one blob > 0.6": own["one blob"].min() > 0.6,
    }


RULE = Rule(
    covers=("vae",),
    claim="each seed: R < 12 nats, 10 < KL < 18 nats, and over 60 % of the samples from the "
    "prior have one connected bright region",
    method=trained(VAE(**FAST)),
    saboteurs={
        "KL left out": trained(BetaVAE(beta=0, **FAST)),
        "posterior collapsed (β = 300)": trained(BetaVAE(beta=300, **FAST)),
        "untrained": lambda seed: finding(untrained(VAE(**FAST), seed=seed)),
    },
    checks=checks,
    picture="Samples from the prior.",
)
