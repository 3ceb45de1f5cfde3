"""Correlated factors: what training on them costs where they are independent."""

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
    middle = {name: float(np.median(values)) for name, values in own.items()}
    plain = middle["DCI, VAE, correlated"]
    return {
        "DCI of the VAE falls": plain < middle["DCI, VAE, independent"],
        "Ada-GVAE's stays within 0.1": middle["DCI, Ada-GVAE, correlated"]
        > middle["DCI, Ada-GVAE, independent"] - 0.1,
        "HFS no lower than the VAE": middle["DCI, HFS, correlated"] >= plain,
        "the pair is more entangled than by chance": middle["known of the other, VAE"]
        > 2 * middle["chance of that"],
    }


RULE = Rule(
    covers=(),
    claim="squares whose x and y seldom differ much (σ = 0.1) in training, judged on independent "
    "ones, medians over seeds: DCI of a VAE is below that of one trained on independent ones, "
    "Ada-GVAE's (partners of a pair differ in one factor, wherever that leads) stays within 0.1 "
    "and HFS's is no lower than the VAE's; the latent of x knows twice as much of y as by chance",
    method=both(CORRELATION),
    saboteurs={"hardly correlated (σ = 10)": both("x~y:10")},
    checks=checks,
    picture="Traversals of the VAE trained on correlated squares, one line for each latent.",
)
