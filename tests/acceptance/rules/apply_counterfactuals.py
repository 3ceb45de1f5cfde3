"""Counterfactual fairness: how many decisions change with the latent that tells the group."""

import numpy as np

from rules._applied import ADA, PLAIN, fresh, look, of_others, trained
from rules._rule import Checks, Columns, Finding, Rule
from unweave.applications import fairness
from unweave.runs.model import Model

SETTINGS = fairness.Settings(sensitive="side", target="y", rows=1000, drop=1)


def finding(model: Model) -> Finding:
    flips = fairness.apply(model, SETTINGS).numbers["flips"]
    named = {
        "flips of codes": "codes",
        "flips of decoded": "decoded",
        "flips by decoding alone": "decoded_unchanged",
        "flips of codes, all exchanged": "codes_all_exchanged",
    }
    return Finding({name: float(flips[key]) for name, key in named.items()}, look(model))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    fewer = np.median(own["flips of decoded"]) < np.median(others[PLAIN]["flips of decoded"])
    return {
        "fewer flips than the VAE": bool(fewer),
        "decoding alone flips < 2 %": bool(np.median(own["flips by decoding alone"]) < 0.02),
    }


RULE = Rule(
    covers=(),
    claim="Ada-GVAE on squares whose large ones are mostly refused, medians over seeds: "
    "exchanging the latent that tells the side flips fewer decisions about decoded images than "
    "with a VAE, and decoding alone flips fewer than 2 %",
    method=lambda seed: finding(trained(ADA, seed)),
    saboteurs={
        "untrained": lambda seed: finding(fresh(ADA, seed)),
        "codes of other images": lambda seed: finding(of_others(trained(ADA, seed))),
    },
    references={PLAIN: lambda seed: finding(trained(PLAIN, seed))},
    checks=checks,
    picture="Traversals of the model, one line for each latent.",
)
