"""The rule of methods that learn from pairs which dimensions are factors."""

from dataclasses import dataclass

import torch
from torch import Tensor

from rules._measures import traversals
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, all_images, judged_on, shuffled, squares, train
from unweave.methods import Method
from unweave.methods._adaptive import AdaptiveVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.metrics import mig
from unweave.probability.gaussian import DiagonalGaussian
from unweave.runs.run import Run

STEPS = 2500


def finding(run: Run) -> Finding:
    run = judged_on(run, squares())
    codes, factors = run.encode(all_images(run.data)), run.data.factors()
    return Finding({"MIG": float(mig(codes, factors).value)}, traversals(run))


def trained(method: Method) -> Measure:
    return lambda seed: finding(train(method, seed=seed, steps=STEPS))


def on_strangers(method: Method) -> Measure:
    """Train on pairs that share nothing."""
    return lambda seed: finding(
        train(method, data=shuffled(squares(), seed), seed=seed, steps=STEPS)
    )


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    best = others["β-VAE, β = 4"]["MIG"].max()
    return {"MIG > β-VAE's best + 0.15": bool(own["MIG"].min() > best + 0.15)}


def adaptive(name: str, kind: type[AdaptiveVAE]) -> Rule:
    """Return the rule of one way to pool."""

    @dataclass(frozen=True, kw_only=True)
    class Alone(kind):  # type: ignore[misc, valid-type]
        """Shares no dimension."""

        def kept(
            self, one: DiagonalGaussian, two: DiagonalGaussian, changed: Tensor | None
        ) -> Tensor:
            return torch.ones_like(one.mean, dtype=torch.bool)

    Alone.catalog_name = name  # type: ignore[attr-defined]
    return Rule(
        covers=(name,),
        claim="pairs that differ in one factor, unknown which: MIG of each seed above that of the "
        "best seed of β-VAE (β = 4) by 0.15 or more",
        method=trained(kind(**FAST)),
        saboteurs={
            "pairs that share nothing": on_strangers(kind(**FAST)),
            "no dimension shared": trained(Alone(**FAST)),
        },
        references={"β-VAE, β = 4": trained(BetaVAE(beta=4, **FAST))},
        checks=checks,
        picture="Traversals, one line for each latent.",
    )
