"""Interventions in the code: a latent taken from another image moves its factor alone."""

from rules._applied import ADA, PLAIN, look, trained, turned
from rules._rule import Checks, Columns, Finding, Rule
from unweave.applications import intervene
from unweave.runs.model import Model

SETTINGS = intervene.Settings()
FACTORS = 3
NOT_CARRIED = 10.0
"""Stands for the ratio of a factor that no latent carries."""


def finding(model: Model) -> Finding:
    numbers = intervene.apply(model, SETTINGS).numbers
    ratios = numbers["in_the_code"]["ratios"]
    return Finding(
        {
            "worst ratio": max(ratios.values(), default=NOT_CARRIED),
            "factors carried": len(ratios),
            "IRS": numbers["irs"]["value"],
            "IRS, codes rotated": max(numbers["irs"]["nulls"]["rotated"]),
            "IRS, shuffled": max(numbers["irs"]["nulls"]["shuffled"]),
        },
        look(model),
    )


def checks(own: Columns, others: object) -> Checks:
    return {
        "all factors carried": bool((own["factors carried"] == FACTORS).all()),
        "others move by < 0.3": bool(own["worst ratio"].max() < intervene.STILL),
        "IRS above rotated codes": bool((own["IRS"] > own["IRS, codes rotated"]).all()),
    }


RULE = Rule(
    covers=(),
    claim="Ada-GVAE on squares, each seed: every factor is carried by a latent; taken from another "
    "image it moves no other factor, as read off the decoded images, by more than 0.3 of what it "
    "moves its own; IRS is above that of every rotation of the codes",
    method=lambda seed: finding(trained(ADA, seed)),
    saboteurs={
        "its twin, all latents mixed": lambda seed: finding(turned(trained(ADA, seed))),
        "a VAE": lambda seed: finding(trained(PLAIN, seed)),
    },
    checks=checks,
    picture="Traversals of the model, one line for each latent.",
)
