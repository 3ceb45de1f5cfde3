"""The four criteria: sufficient for a task, bounded in the nuisance, little total correlation."""

import numpy as np

from rules._applied import ADA, PLAIN, fresh, look, of_others, trained
from rules._rule import Checks, Columns, Finding, Rule
from unweave.applications import representation
from unweave.runs.model import Model

SETTINGS = representation.Settings(task="side", nuisance="x", rows=1024)


def finding(model: Model) -> Finding:
    numbers = representation.apply(model, SETTINGS).numbers
    known, shuffled = (
        numbers["information"][who] for who in (representation.CODE, representation.SHUFFLED)
    )
    bound = numbers["bound_of_nuisance"]
    return Finding(
        {
            "I(side; z)": known["task"],
            "I(side; z), shuffled": shuffled["task"],
            "H(side)": numbers["entropy_of_task"],
            "I(x; z)": known["nuisance"],
            "its bound": np.inf if bound is None else bound,
            "total correlation": numbers["rate"]["tc"],
        },
        look(model),
    )


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    rival = np.median(others[PLAIN]["total correlation"])
    return {
        "sufficient: nine tenths of H(side)": bool(
            (own["I(side; z)"] >= representation.NEARLY * own["H(side)"]).all()
        ),
        "shuffled codes know nothing": bool(own["I(side; z), shuffled"].max() < 0.02),
        "the nuisance is within its bound": bool((own["I(x; z)"] <= own["its bound"]).all()),
        "less total correlation than the VAE": bool(np.median(own["total correlation"]) < rival),
    }


RULE = Rule(
    covers=(),
    claim="squares, the side is the task, x the nuisance, each seed: the code of Ada-GVAE knows "
    "nine tenths of the side's entropy, shuffled codes less than 0.02 nats; what it knows of x is "
    "within the bound; its total correlation is below a VAE's (medians)",
    method=lambda seed: finding(trained(ADA, seed)),
    saboteurs={
        "untrained": lambda seed: finding(fresh(ADA, seed)),
        "codes of other images": lambda seed: finding(of_others(trained(ADA, seed))),
        "a VAE": lambda seed: finding(trained(PLAIN, seed)),
    },
    references={PLAIN: lambda seed: finding(trained(PLAIN, seed))},
    checks=checks,
    picture="Traversals of the model, one line for each latent.",
)
