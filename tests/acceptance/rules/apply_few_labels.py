"""Few labels: a code reads factors with fewer of them than pixels need."""

from rules._applied import ADA, fresh, look, mean, of_others, trained
from rules._rule import Checks, Columns, Finding, Rule
from unweave.applications import few_labels
from unweave.runs.model import Model

SETTINGS = few_labels.Settings(labels=(10, 30, 100))


def finding(model: Model) -> Finding:
    r2 = few_labels.apply(model, SETTINGS).numbers["r2"]
    return Finding(
        {
            "the code at 10": mean(r2[few_labels.CODE][10]),
            "the code at 30": mean(r2[few_labels.CODE][30]),
            "pixels at 30": mean(r2["pixels"][30]),
            "pixels at 100": mean(r2["pixels"][100]),
            "rows shuffled at 100": mean(r2[few_labels.SHUFFLED][100]),
        },
        look(model),
    )


def checks(own: Columns, others: object) -> Checks:
    return {
        "30 labels as good as 100 of pixels": bool(
            (own["the code at 30"] >= own["pixels at 100"]).all()
        ),
        "10 labels of other images say nothing": bool(own["rows shuffled at 100"].max() < 0.05),
    }


RULE = Rule(
    covers=(),
    claim="squares, each seed: R² of x, y and side by a ridge regression from the code of "
    "Ada-GVAE with 30 labels is no lower than that from pixels with 100; codes of other images "
    "have an R² below 0.05",
    method=lambda seed: finding(trained(ADA, seed)),
    saboteurs={
        "untrained": lambda seed: finding(fresh(ADA, seed)),
        "codes of other images": lambda seed: finding(of_others(trained(ADA, seed))),
    },
    checks=checks,
    picture="Traversals of the model, one line for each latent.",
)
