"""DC-IGN: each slot is of its factor, since batches vary one at a time, and the rest holds still.

What is not active being held still shows in the dimensions beside the slots, for which squares
leave no factor: of seeds 0 and 1 they varied 0.01 as far as the least slot, and without it 0.3 as
far. Slots know no less of other factors by it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rules._measures import squared_error, traversals
from rules._rule import FRESH_SEEDS, Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, all_images, squares, train, untrained
from unweave.batches import OneVariesBatch
from unweave.methods import Method, Turn
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.dc_ign import DCIGN
from unweave.metrics import beta_vae_score, mig
from unweave.networks import Networks
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

STEPS = 2500
SETTINGS = {"latent_dim": 3, "optimizer": Adam(1e-3)}


@dataclass(frozen=True, kw_only=True)
class AnySlot(DCIGN):
    """Takes the next slot at each step, whichever factor varies."""

    def turns(self, nets: Networks, batch: OneVariesBatch, step: int) -> Iterator[Turn]:
        return super().turns(nets, replace(batch, varying=step % len(self.factors)), step)


def finding(run: Run) -> Finding:
    data = squares()
    factors = data.factors()
    codes = run.encode(all_images(data))
    score = mig(codes, factors)
    known = np.asarray(score.details["mutual_information"])
    numbers = {
        "slots that know most of their factor": float((known.argmax(0) == np.arange(3)).sum()),
        "MIG": float(score.value),
        "β-VAE score": float(beta_vae_score(run.encode, data).value),
        "squared error": squared_error(run),
    }
    if isinstance(run.config.method, DCIGN):
        deviations = codes.std(0)
        numbers["deviation of the rest over a slot's"] = float(
            deviations[3:].max() / deviations[:3].min()
        )
    return Finding(numbers, traversals(run))


def trained(method: Method) -> Measure:
    return lambda seed: finding(train(method, seed=seed, steps=STEPS))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    rival = float(np.median(others["β-VAE, β = 4"]["MIG"]))
    return {
        "each slot is of its factor": bool(own["slots that know most of their factor"].min() == 3),
        "MIG > β-VAE's + 0.1, medians": bool(np.median(own["MIG"]) > rival + 0.1),
        "the rest deviates < 0.1 of a slot": bool(
            own["deviation of the rest over a slot's"].max() < 0.1
        ),
        "β-VAE score ≥ 0.99": bool(own["β-VAE score"].min() >= 0.99),
    }


RULE = Rule(
    covers=("dc_ign",),
    claim="batches in which one of three factors varies, each seed: the dimension that knows most "
    "of a factor is its slot, for all three; those beside slots deviate less than 0.1 as far as "
    "the slot that does so least; a β-VAE score of 0.99 or more; the median of MIG above that of "
    "β-VAE (β = 4) by 0.1 or more",
    method=trained(DCIGN(**SETTINGS)),
    saboteurs={
        "others free to vary": trained(DCIGN(invariance=0, **SETTINGS)),
        "slots taken in turn, whatever varies": trained(AnySlot(**SETTINGS)),
        "untrained": lambda seed: finding(untrained(DCIGN(**SETTINGS), seed=seed)),
    },
    references={"β-VAE, β = 4": trained(BetaVAE(beta=4, **FAST))},
    checks=checks,
    picture="Traversals, one line for each latent: slots of x, y and side, then the rest.",
    reformed="With the other dimensions free to vary (s = 0), the method passed on seeds 11 to 13, "
    "which was told and not judged. That the rest holds still has been asked since.",
    seeds=FRESH_SEEDS,
)
