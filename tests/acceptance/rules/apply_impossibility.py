"""The impossibility theorem: a twin of the same likelihood whose code is entangled."""

from unittest.mock import patch

import numpy as np

from rules._applied import ADA, PLAIN, look, trained
from rules._rule import Checks, Columns, Finding, Rule
from unweave.applications import impossibility
from unweave.runs.model import Model


def finding(model: Model) -> Finding:
    numbers = impossibility.apply(model).numbers
    scores = numbers["scores"]["mig"]
    return Finding(
        {
            "largest difference of log p(x)": numbers["largest_difference_of_an_image"],
            "rounding": numbers["rounding"],
            "MIG": scores["model"],
            "MIG of the twin": scores["twin"],
            "MIG, factors shuffled": scores["shuffled"],
        },
        look(model),
    )


def with_turn(turn: np.ndarray, seed: int) -> Finding:
    """Measure with something else than a rotation."""
    with patch.object(impossibility, "rotation_of", lambda active: turn):
        return finding(trained(ADA, seed))


def stretched(seed: int) -> Finding:
    """Measure a twin whose codes are stretched, which the prior notices."""
    return with_turn(np.diag([1.5, *np.ones(5)]) @ impossibility.rotation_of(np.ones(6)), seed)


def checks(own: Columns, others: object) -> Checks:
    same = own["largest difference of log p(x)"] <= own["rounding"]
    return {
        "the same likelihood to rounding": bool(same.all()),
        "MIG above the twin's by 0.3": bool((own["MIG"] > own["MIG of the twin"] + 0.3).all()),
        "MIG of shuffled factors < 0.05": bool(own["MIG, factors shuffled"].max() < 0.05),
    }


RULE = Rule(
    covers=(),
    claim="Ada-GVAE on squares, each seed: its twin gives no image another likelihood than "
    "rounding explains, and its MIG is below the model's by 0.3 or more; MIG of shuffled factors "
    "below 0.05",
    method=lambda seed: finding(trained(ADA, seed)),
    saboteurs={
        "codes stretched, not turned": stretched,
        "not turned at all": lambda seed: with_turn(np.eye(6), seed),
        "a VAE, whose code has no axes to lose": lambda seed: finding(trained(PLAIN, seed)),
    },
    checks=checks,
    picture="Traversals of the model, one line for each latent.",
)
