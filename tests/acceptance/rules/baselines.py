"""Baselines: truth is best, training informs, and linear codes are what they say."""

from collections.abc import Callable

import numpy as np

from rules._measures import scatter
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, all_images, judged_on, shuffled, squares, train, untrained
from unweave.methods import Method
from unweave.methods.ground_truth import GroundTruth
from unweave.methods.ica import ICA
from unweave.methods.pca import PCA
from unweave.methods.pixels import Pixels
from unweave.methods.untrained_vae import UntrainedVAE
from unweave.methods.vae import VAE
from unweave.metrics import dci, mig, modularity, sap
from unweave.runs.run import Run

SCORES = ("MIG", "SAP", "modularity", "DCI", "informativeness")


def scores(run: Run) -> dict[str, float]:
    data = squares()
    rows = np.random.default_rng(0).permutation(len(data))
    codes, factors = run.encode_rows(rows), data.factors(rows)
    sizes = {"train_rows": 700, "test_rows": 324}
    importance = dci(codes, factors, **sizes)
    values = (
        mig(codes, factors).value,
        sap(codes, factors, **sizes).value,
        modularity(codes, factors).value,
        importance.value,
        importance.details["informativeness"],
    )
    return dict(zip(SCORES, map(float, values), strict=True))


def linear(run: Run) -> dict[str, float]:
    """Return the largest correlation of two dimensions, and what is kept of the variance."""
    correlation = np.corrcoef(run.encode(all_images(squares())).T)
    return {
        "largest correlation": float(np.abs(correlation - np.eye(len(correlation))).max()),
        "variance kept": 1 - error_of(run),
    }


def error_of(run: Run) -> float:
    """Return the squared error of reconstructions, as a share of the mean image's."""
    images = all_images(squares())
    error = np.square(run.reconstruct(images) - images).sum()
    return float(error / np.square(images - images.mean(0)).sum())


def all_of_them(make: Callable[[Method, int], Run], *, true: bool) -> Measure:
    """Measure every baseline: made as they should be, or not."""

    def measure(seed: int) -> Finding:
        told = squares() if true else shuffled(squares(), seed)
        truth = train(GroundTruth(), data=told, seed=seed, steps=1)
        numbers = {f"{name}, ground truth": v for name, v in scores(truth).items()}
        others = {
            "pixels": train(Pixels(side=8), seed=seed, steps=1),
            "PCA": make(PCA(latent_dim=6), seed),
            "ICA": make(ICA(latent_dim=6), seed),
            "untrained VAE": untrained(UntrainedVAE(latent_dim=6), seed=seed),
            "VAE": make(VAE(**FAST), seed),
        }
        found = {name: scores(judged_on(run, squares())) for name, run in others.items()}
        for name in SCORES:
            numbers[f"{name}, best of the others"] = max(each[name] for each in found.values())
        for name in ("untrained VAE", "VAE"):
            numbers[f"informativeness, {name}"] = found[name]["informativeness"]
        numbers["error, VAE"] = error_of(others["VAE"])
        for name in ("PCA", "ICA"):
            for what, value in linear(others[name]).items():
                numbers[f"{what}, {name}"] = value
        codes = others["PCA"].encode(all_images(squares()))
        return Finding(numbers, scatter(codes, squares().factors()[:, 0]))

    return measure


def fitted(method: Method, seed: int) -> Run:
    return train(method, seed=seed, steps=1500)


def hardly_fitted(method: Method, seed: int) -> Run:
    """Return a run of three steps, which give linear codes all they need and a VAE nothing."""
    return train(method, seed=seed, steps=3)


def to_noise(method: Method, seed: int) -> Run:
    """Return a run whose networks have learnt nothing of the images."""
    run = untrained(method, seed=seed)
    if hasattr(run.nets, "code"):
        rng = np.random.default_rng(seed)
        encoding = rng.standard_normal(run.nets.code.encoding.shape).astype(np.float32)
        mean = all_images(squares()).mean(0).ravel()
        run.nets.code.set(mean, encoding, np.linalg.pinv(encoding))
    return run


def checks(own: Columns, others: object) -> Checks:
    best = [
        own[f"{name}, ground truth"].min() >= own[f"{name}, best of the others"].max() - 1e-6
        for name in SCORES
    ]
    trained, without = own["informativeness, VAE"], own["informativeness, untrained VAE"]
    return {
        "ground truth is best": bool(all(best)),
        "training informs by 0.1": bool((trained > without + 0.1).all()),
        "the VAE is trained": bool(own["error, VAE"].max() < 0.2),
        "linear codes uncorrelated": bool(
            max(own["largest correlation, PCA"].max(), own["largest correlation, ICA"].max()) < 0.02
        ),
        "PCA keeps half of the variance": bool(own["variance kept, PCA"].min() > 0.5),
    }


RULE = Rule(
    covers=("ground_truth", "pixels", "pca", "ica", "untrained_vae"),
    claim="each seed: ground truth at least as good as all others in MIG, SAP, modularity, DCI and "
    "its informativeness; a VAE trained to an error below 0.2 of the mean image's more informative "
    "than an untrained one by 0.1; no two dimensions of PCA or ICA correlated by 0.02, and PCA "
    "keeps half of the variance",
    method=all_of_them(fitted, true=True),
    saboteurs={
        "the truth of other images": all_of_them(fitted, true=False),
        "nothing fitted": all_of_them(to_noise, true=True),
        "a VAE of three steps": all_of_them(hardly_fitted, true=True),
    },
    checks=checks,
    picture="First two dimensions of PCA; the colour is x.",
)
