"""Correlated factors: what training on them costs where they are independent.

What was asked first, that Ada-GVAE stays within 0.1 and HFS is no lower than a VAE, was not met on
seeds 11 to 13 (Ada-GVAE 0.97, 0.95, 0.97 to 0.57, 0.56, 0.29), nor was it on seeds 0 to 2: partners
of a pair differ in one factor, but the pairs themselves are where x and y go together. What is
asked now is that the application notices, and that it does not where there is nothing to notice.
"""

import numpy as np

from rules._applied import ADA, PLAIN, look, trained
from rules._rule import Checks, Columns, Finding, Measure, Rule
from unweave.applications import correlated
from unweave.evaluation.score import score
from unweave.runs.run import Run

CORRELATION = "x~y:0.1"
SETTINGS = correlated.Settings(rows=1024)


def both(correlation: str) -> Measure:
    """Measure a VAE, Ada-GVAE and HFS trained on correlated squares, beside independent ones."""

    def measure(seed: int) -> Finding:
        numbers: dict[str, float] = {}
        for name in (PLAIN, ADA):
            numbers[f"DCI, {name}, independent"] = _dci(trained(name, seed))
        for name in (PLAIN, ADA, "HFS"):
            run = trained(name, seed, correlate=correlation)
            found = correlated.apply(run, SETTINGS).numbers
            numbers |= {
                f"DCI, {name}, correlated": found["scores"]["dci"]["all"],
                f"known of the other, {name}": found["of_the_pair"],
            }
        numbers["chance of that"] = found["chance"]
        return Finding(numbers, look(trained(PLAIN, seed, correlate=correlation)))

    return measure


def _dci(run: Run) -> float:
    rows = np.random.default_rng(0).permutation(len(run.data))
    scored = score(run.encode_rows(rows), run.data.factors(rows), ["dci"], preset="fast")
    return float(scored["dci"].value)


def checks(own: Columns, others: object) -> Checks:
    lost = own["DCI, Ada-GVAE, independent"] - own["DCI, Ada-GVAE, correlated"]
    known = own["known of the other, Ada-GVAE"]
    return {
        "Ada-GVAE loses 0.2 of DCI": bool(lost.min() > 0.2),
        "its latent of x knows y, twice chance": bool((known > 2 * own["chance of that"]).all()),
    }


RULE = Rule(
    covers=(),
    claim="squares whose x and y seldom differ much (σ = 0.1) in training, judged on independent "
    "ones, each seed: DCI of Ada-GVAE is below that of one trained on independent squares by more "
    "than 0.2, and its latent of x knows more than twice as much of y as by chance; where x and y "
    "are hardly correlated neither holds",
    method=both(CORRELATION),
    saboteurs={"hardly correlated (σ = 10)": both("x~y:10")},
    checks=checks,
    picture="Traversals of the VAE trained on correlated squares, one line for each latent.",
)
