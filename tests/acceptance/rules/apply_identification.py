"""Identification by interventions: they find the factors in a code that mixes them.

Straight directions missed 0.95 by 0.0003 on seeds 11 to 13 (0.948, 0.950, 0.954), and 0.9 was asked
for a while. Curved ones had 0.97 to 0.98 on seeds 0 to 2, 20 and 21, so 0.95 is asked again.
"""

from unittest.mock import patch

import numpy as np

from rules._applied import look, of_others, trained
from rules._rule import Checks, Columns, Finding, Rule
from unweave.applications import _identification as by_interventions
from unweave.applications._inputs import sample
from unweave.runs.model import Model

MIXED = "VAE, 4 latents"
ROWS, VALUES, NULLS = 3000, 3, 3
GROUPS = by_interventions.do_groups


def finding(model: Model) -> Finding:
    found = by_interventions.identification(
        sample(model, ROWS, 0), values=VALUES, nulls=NULLS, seed=0
    )
    return Finding(
        {
            "MCC before": found["before"],
            "MCC after, straight": found["straight"],
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

    with patch.object(by_interventions, "do_groups", groups):
        return finding(trained(MIXED, seed))


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
    "over seeds: the mean correlation of curves and factors is 0.95 or more and 0.1 above that of "
    "the latents; above that of images assigned to interventions at random by 0.1 in each",
    method=lambda seed: finding(trained(MIXED, seed)),
    saboteurs={
        "images assigned at random": at_random,
        "codes of other images": lambda seed: finding(of_others(trained(MIXED, seed))),
    },
    checks=checks,
    picture="Traversals of the model, one line for each latent.",
)
