"""Identification by interventions: they find the factors in a code that mixes them.

With 1,500 steps, judged first, seeds 11 to 13 had 0.948, 0.950 and 0.954 after interventions, the
median just below its bound. Trained longer since; the bound is as it was.
"""

from functools import cache
from unittest.mock import patch

import numpy as np

from rules._applied import METHODS, look, of_others
from rules._rule import Checks, Columns, Finding, Rule
from rules._training import squares, train
from unweave.applications import intervene
from unweave.applications._inputs import sample
from unweave.runs.model import Model
from unweave.runs.run import Run

MIXED = "VAE, 4 latents"
SETTINGS = intervene.Settings()
GROUPS = intervene.do_groups
STEPS = 4000


@cache
def trained(seed: int) -> Run:
    """Return a VAE that has seen squares for long enough to code them finely."""
    return train(METHODS[MIXED], data=squares(), seed=seed, steps=STEPS)


def finding(model: Model) -> Finding:
    found = intervene.identification(sample(model, SETTINGS.rows, SETTINGS.seed), SETTINGS)
    return Finding(
        {
            "MCC before": found["before"],
            "MCC after": found["after"],
            "MCC after, assigned at random": max(found["at_random"]),
        },
        look(model),
    )


def at_random(seed: int) -> Finding:
    """Assign images to interventions at random."""
    rng = np.random.default_rng(seed)

    def groups(column: np.ndarray, values: int) -> np.ndarray:
        return rng.permutation(GROUPS(column, values))

    with patch.object(intervene, "do_groups", groups):
        return finding(trained(seed))


def checks(own: Columns, others: object) -> Checks:
    gain = own["MCC after"] - own["MCC before"]
    return {
        "MCC after ≥ 0.95": bool(np.median(own["MCC after"]) >= 0.95),
        "0.1 above before": bool(np.median(gain) >= 0.1),
        "0.1 above random assignments": bool(
            (own["MCC after"] > own["MCC after, assigned at random"] + 0.1).all()
        ),
    }


RULE = Rule(
    covers=(),
    claim="a VAE of 4 latents on squares, three values of each factor set from outside, medians "
    "over seeds: the mean correlation of directions and factors is 0.95 or more and 0.1 above "
    "that of the latents; above that of images assigned to interventions at random by 0.1 in each",
    method=lambda seed: finding(trained(seed)),
    saboteurs={
        "images assigned at random": at_random,
        "codes of other images": lambda seed: finding(of_others(trained(seed))),
    },
    checks=checks,
    picture="Traversals of the model, one line for each latent.",
)
