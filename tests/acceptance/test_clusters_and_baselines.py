"""Clustering and reducing autoencoders on toy_shapes; baselines on toy_xys."""

import numpy as np
import pytest
import torch

from unweave.data import FactorImages, load_data
from unweave.methods.aae_clustering import AAEClustering
from unweave.methods.aae_reduction import AAEReduction
from unweave.methods.ground_truth import GroundTruth
from unweave.methods.ica import ICA
from unweave.methods.pca import PCA
from unweave.methods.pixels import Pixels
from unweave.methods.untrained_vae import UntrainedVAE
from unweave.methods.vae import VAE
from unweave.metrics import dci, mig, modularity, sap
from unweave.networks.mlp64 import MLP64
from unweave.settings.optimizers import Adam

FAST = {"optimizer": Adam(1e-3)}
LEARNER = {"architecture": MLP64(hidden=256, decoder_activation="relu"), "batch_size": 100}
JUDGE = {
    "discriminator_width": 256,
    "discriminator_depth": 2,
    "discriminator_optimizer": Adam(1e-3, betas=(0.5, 0.9)),
}


@pytest.fixture(scope="module")
def shapes() -> FactorImages:
    return load_data("toy_shapes")


def purity(clusters: np.ndarray, classes: np.ndarray) -> float:
    """Return the share of rows whose class is the commonest of their cluster."""
    right = sum(np.bincount(classes[clusters == c]).max() for c in np.unique(clusters))
    return float(right / len(classes))


def nearest_accuracy(codes: np.ndarray, classes: np.ndarray) -> float:
    """Return how often the 5 nearest of one half of the rows name the class of the other."""
    from sklearn.neighbors import KNeighborsClassifier

    order = np.random.default_rng(0).permutation(len(codes))
    known, asked = np.array_split(order, 2)
    model = KNeighborsClassifier(5).fit(codes[known], classes[known])
    return float(model.score(codes[asked], classes[asked]))


def test_aae_clustering(shapes, train, verdict):
    from sklearn.cluster import KMeans

    images, classes = shapes.images(np.arange(len(shapes))), shapes.factors()[:, 0]
    flat = images.reshape(len(images), -1)
    method = AAEClustering(latent_dim=2, clusters=16, adversarial_weight=3, **FAST, **JUDGE)
    found, spread = [], []
    for seed in range(3):
        run = train(method, data=shapes, steps=1500, seed=seed, **LEARNER)
        y = run.encode(images)[:, : method.clusters]
        mean = y.mean(0)
        found.append(purity(y.argmax(1), classes))
        spread.append(float(-(mean * np.log(mean + 1e-12)).sum() / np.log(method.clusters)))
    by_pixels = [
        purity(KMeans(16, n_init=3, random_state=seed).fit_predict(flat), classes)
        for seed in range(3)
    ]
    verdict(
        "aae_clustering",
        "median purity of 16 clusters at least that of k-means on pixels, 3 seeds; entropy of the "
        "mean cluster > 0.8 log 16 in every seed",
        {"purity": found, "purity k-means": by_pixels, "entropy / log 16": spread},
        np.median(found) >= np.median(by_pixels) and min(spread) > 0.8,
    )


def test_aae_reduction(shapes, train, verdict):
    images, classes = shapes.images(np.arange(len(shapes))), shapes.factors()[:, 0]
    method = AAEReduction(latent_dim=2, clusters=20, **FAST, **JUDGE)
    run = train(method, data=shapes, steps=2500, batch_size=100)
    closest = torch.pdist(run.nets.heads.weight.detach().T).min().item()
    linear = train(PCA(latent_dim=2), data=shapes, steps=1)
    accuracy = {
        "AAE": nearest_accuracy(run.encode(images), classes),
        "PCA": nearest_accuracy(linear.encode(images), classes),
    }
    verdict(
        "aae_reduction",
        f"no two heads closer than η = {method.head_distance:g}; in 2 dimensions the 5 nearest "
        "name the shape more often than those of PCA",
        {"closest heads": closest, "AAE": accuracy["AAE"], "PCA": accuracy["PCA"]},
        closest >= 0.99 * method.head_distance and accuracy["AAE"] > accuracy["PCA"],
    )


def test_baselines(toy, train, verdict):
    methods = {
        "ground truth": GroundTruth(),
        "pixels": Pixels(side=8),
        "PCA": PCA(latent_dim=6),
        "ICA": ICA(latent_dim=6),
        "untrained VAE": UntrainedVAE(latent_dim=6),
        "VAE": VAE(latent_dim=6, **FAST),
    }
    rows = np.random.default_rng(0).permutation(len(toy))
    factors = toy.factors(rows)
    sizes = {"train_rows": 700, "test_rows": 324}
    measured: dict[str, list[float]] = {}
    for name, method in methods.items():
        run = train(method, steps=2000)
        codes = run.encode_rows(rows)
        importance = dci(codes, factors, **sizes)
        measured[name] = [
            mig(codes, factors).value,
            sap(codes, factors, **sizes).value,
            modularity(codes, factors).value,
            importance.value,
            float(importance.details["informativeness"]),
        ]
    best = np.max([values for name, values in measured.items() if name != "ground truth"], axis=0)
    met = bool((np.array(measured["ground truth"]) >= best - 1e-6).all())
    met = met and measured["untrained VAE"][-1] <= measured["VAE"][-1]
    verdict(
        "baselines",
        "ground truth at least as good as all others in MIG, SAP, modularity, DCI and its "
        "informativeness; untrained VAE no more informative than trained",
        measured,
        met,
    )
