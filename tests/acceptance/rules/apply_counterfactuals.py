"""Counterfactual fairness: decisions about decoded counterfactuals are those about true ones.

The first form, fewer flips than with a VAE, was not met on seeds 11 to 13 (0.25 against 0.21) and
was wrong: where decisions are biased, an exchange that changes the group must flip them. Chosen
since on seeds 0 to 2.

On seeds 21 to 23 decoding alone flipped 2.0 to 2.8 %, above the 2 % that it was to stay below: the
rule is not met, though decisions about decoded images are those about true ones.
"""

import numpy as np

from rules._applied import ADA, PLAIN, fresh, look, of_others, trained, turned
from rules._rule import FRESH_SEEDS, Checks, Columns, Finding, Rule
from unweave.applications import fairness
from unweave.runs.model import Model

SETTINGS = fairness.Settings(sensitive="side", target="y", rows=1000, drop=1)


def finding(model: Model) -> Finding:
    flips = fairness.apply(model, SETTINGS).numbers["flips"]
    named = {
        "flips of codes": "codes",
        "flips of decoded": "decoded",
        "flips of true": "true",
        "decided otherwise than true": "not_as_true",
        "flips by decoding alone": "decoded_unchanged",
        "flips of codes, all exchanged": "codes_all_exchanged",
    }
    return Finding({name: float(flips[key]) for name, key in named.items()}, look(model))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    wrong = float(np.median(own["decided otherwise than true"]))
    of_the_vae = float(np.median(others[PLAIN]["decided otherwise than true"]))
    return {
        "unfair to begin with: true flips > 0.1": bool(np.median(own["flips of true"]) > 0.1),
        "half as many otherwise than of the VAE": wrong < 0.5 * of_the_vae,
        "at most 0.08 otherwise": wrong <= 0.08,
        "decoding alone flips < 2 %": bool(np.median(own["flips by decoding alone"]) < 0.02),
    }


RULE = Rule(
    covers=(),
    claim="Ada-GVAE on squares whose large ones are mostly refused, medians over seeds: of "
    "images decoded with the latent that tells the side exchanged, at most 0.08 are decided "
    "otherwise than the true images with the side alone exchanged, and fewer than half as many as "
    "with a VAE; true flips are above 0.1, and decoding alone flips fewer than 2 %",
    method=lambda seed: finding(trained(ADA, seed)),
    saboteurs={
        "untrained": lambda seed: finding(fresh(ADA, seed)),
        "codes of other images": lambda seed: finding(of_others(trained(ADA, seed))),
        "a VAE": lambda seed: finding(trained(PLAIN, seed)),
        "axes of the code turned": lambda seed: finding(turned(trained(ADA, seed))),
    },
    references={PLAIN: lambda seed: finding(trained(PLAIN, seed))},
    checks=checks,
    picture="Traversals of the model, one line for each latent.",
    reformed="Its first form, fewer flips than with a VAE, was not met on seeds 11 to 13, and was "
    "wrong: where decisions are biased, an exchange that changes the group must flip them. "
    "Decisions have been compared with those about true images since.",
    seeds=FRESH_SEEDS,
)
