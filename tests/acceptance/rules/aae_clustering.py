"""AAE for clustering: images are sure of their cluster, all are used, and they mean something."""

import numpy as np

from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import DISCRIMINATOR, NETWORK, all_images, shapes, train, untrained
from unweave.methods.aae_clustering import AAEClustering
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

CLUSTERS = 16
STEPS = 1500
SETTINGS = {
    "latent_dim": 2,
    "clusters": CLUSTERS,
    "adversarial_weight": 10,
    "optimizer": Adam(1e-3),
    **DISCRIMINATOR,
}


def purity(clusters: np.ndarray, classes: np.ndarray) -> float:
    """Return the share of rows whose class is the commonest of their cluster."""
    right = sum(np.bincount(classes[clusters == c]).max() for c in np.unique(clusters))
    return float(right / len(classes))


def entropy(shares: np.ndarray) -> np.ndarray:
    """Return the entropy along the last axis in units of that of equal shares."""
    return -(shares * np.log(shares + 1e-12)).sum(-1) / np.log(shares.shape[-1])


def finding(run: Run) -> Finding:
    data = shapes()
    y = run.encode(all_images(data))[:, :CLUSTERS]
    chosen = y.argmax(1)
    shares = np.bincount(chosen, minlength=CLUSTERS) / len(chosen)
    numbers = {
        "purity": purity(chosen, data.factors()[:, 0]),
        "H(y|x) / log 16": float(entropy(y).mean()),
        "entropy of chosen clusters / log 16": float(entropy(shares)),
    }
    styles = run.prior_codes(8)[:, CLUSTERS:]
    lines = [np.concatenate([np.tile(np.eye(CLUSTERS)[k], (8, 1)), styles], 1) for k in range(8)]
    made = run.decode(np.concatenate(lines).astype(np.float32))[:, 0]
    return Finding(numbers, {"images": made.reshape(8, 8, 32, 32)})


def trained(**changes: float) -> Measure:
    method = AAEClustering(**SETTINGS | changes)
    options = {"data": shapes(), "steps": STEPS, "batch_size": 100}
    return lambda seed: finding(train(method, seed=seed, **options))


def by_k_means(seed: int) -> Finding:
    from sklearn.cluster import KMeans

    data = shapes()
    flat = all_images(data).reshape(len(data), -1)
    found = KMeans(CLUSTERS, n_init=3, random_state=seed).fit_predict(flat)
    return Finding({"purity": purity(found, data.factors()[:, 0])})


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    best = others["k-means of pixels"]["purity"].max()
    return {
        "purity > k-means' best + 0.03": bool(own["purity"].min() > best + 0.03),
        "H(y|x) < 0.25 log 16": bool(own["H(y|x) / log 16"].max() < 0.25),
        "chosen clusters > 0.85 log 16": bool(
            own["entropy of chosen clusters / log 16"].min() > 0.85
        ),
    }


RULE = Rule(
    covers=("aae_clustering",),
    claim="16 clusters of 3 shapes, each seed: purity above that of the best k-means of pixels by "
    "0.03 or more; H(y|x) < 0.25 log 16; entropy of the chosen clusters > 0.85 log 16",
    method=trained(),
    saboteurs={
        "nothing presses to decide (v = 0)": trained(decision_weight=0),
        "nothing presses to use all (v = w = 0)": trained(decision_weight=0, adversarial_weight=0),
        "untrained": lambda seed: finding(
            untrained(AAEClustering(**SETTINGS), data=shapes(), network=NETWORK, seed=seed)
        ),
    },
    references={"k-means of pixels": by_k_means},
    checks=checks,
    picture="Lines have one cluster each (the first 8), columns one style each.",
)
