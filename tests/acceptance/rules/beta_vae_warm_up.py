"""β-VAE with a warm-up: where it ends, it is the β-VAE."""

from rules._measures import evidence, traversals
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, train
from unweave.methods.beta_vae import BetaVAE

# As many latents as factors. With some to spare a warmed-up run keeps one more of them active
# than one with constant β, and stays there: the two differ by the optimum they are in.
FEW = FAST | {"latent_dim": 3}


def with_beta(beta: float | str) -> Measure:
    def measure(seed: int) -> Finding:
        run = train(BetaVAE(beta=beta, **FEW), seed=seed, steps=2500)
        return Finding(evidence(run), traversals(run))

    return measure


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    ratio = own["KL"] / others["β constant"]["KL"]
    return {"KL within 10 %": bool((abs(ratio - 1) < 0.1).all())}


RULE = Rule(
    covers=("beta_vae",),
    claim="β from 0 to 4 over 1,000 of 2,500 steps: each seed ends with a KL within 10 % of that "
    "of constant β = 4",
    method=with_beta("0:4:1000"),
    saboteurs={"a ramp that never ends": with_beta("0:4:100000")},
    references={"β constant": with_beta(4.0)},
    checks=checks,
    picture="Traversals, one line for each latent.",
)
