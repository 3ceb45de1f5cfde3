"""AAE for reducing dimensions: heads keep apart, and neighbours are of one shape."""

import numpy as np
import torch

from rules._measures import scatter
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import DISCRIMINATOR, TANH, all_images, shapes, train, untrained
from unweave.methods.aae_reduction import AAEReduction
from unweave.methods.pca import PCA
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

STEPS = 2500
SETTINGS = {"latent_dim": 2, "clusters": 20, "optimizer": Adam(1e-3), **DISCRIMINATOR}


def nearest_accuracy(codes: np.ndarray, classes: np.ndarray) -> float:
    """Return how often the 5 nearest of one half of the rows name the class of the other.

    The mean of ten halvings: one alone depends on which rows are in it.
    """
    from sklearn.neighbors import KNeighborsClassifier

    rng, scores = np.random.default_rng(0), []
    for _ in range(10):
        known, asked = np.array_split(rng.permutation(len(codes)), 2)
        model = KNeighborsClassifier(5).fit(codes[known], classes[known])
        scores.append(model.score(codes[asked], classes[asked]))
    return float(np.mean(scores))


def finding(run: Run) -> Finding:
    classes = shapes().factors()[:, 0]
    codes = run.encode(all_images(shapes()))
    numbers = {"shape by the 5 nearest": nearest_accuracy(codes, classes)}
    if hasattr(run.nets, "heads"):
        numbers["closest heads"] = torch.pdist(run.nets.heads.weight.detach().T).min().item()
    return Finding(numbers, scatter(codes, classes))


def trained(**changes: float) -> Measure:
    options = {"data": shapes(), "network": TANH, "steps": STEPS, "batch_size": 100}
    method = AAEReduction(**SETTINGS | changes)
    return lambda seed: finding(train(method, seed=seed, **options))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    best = others["PCA"]["shape by the 5 nearest"].max()
    return {
        "no two heads closer than 0.98 η": bool(own["closest heads"].min() > 0.98 * 2),
        "5 nearest > PCA's best + 0.03": bool(own["shape by the 5 nearest"].min() > best + 0.03),
    }


RULE = Rule(
    covers=("aae_reduction",),
    claim="each seed: no two heads closer than 0.98 of η = 2; in 2 dimensions the 5 nearest name "
    "the shape more often than those of PCA's best seed, by 0.03 or more",
    method=trained(),
    saboteurs={
        "heads do not repel": trained(repulsion_weight=0),
        "untrained": lambda seed: finding(
            untrained(AAEReduction(**SETTINGS), data=shapes(), network=TANH, seed=seed)
        ),
    },
    references={"PCA": lambda seed: finding(train(PCA(latent_dim=2), data=shapes(), seed=seed))},
    checks=checks,
    picture="Codes of all images; the colour is the shape.",
)
