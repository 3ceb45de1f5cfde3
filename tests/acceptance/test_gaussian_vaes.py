"""VAE, β-VAE, warm-up, AnnealedVAE and β-TCVAE on toy_xys."""

import numpy as np
import pytest

from unweave.data import FactorImages
from unweave.methods.annealed_vae import AnnealedVAE
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.vae import VAE
from unweave.metrics import kl_decomposition
from unweave.networks.mlp64 import MLP64
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule, constant

FAST = {"latent_dim": 6, "optimizer": Adam(1e-3)}
# Converges several times sooner than the paper's decoder, which has tanh.
RELU = MLP64(hidden=256, decoder_activation="relu")


def terms(run: Run, toy: FactorImages) -> dict[str, float]:
    return run.terms(toy.images(np.arange(len(toy))))


def split(run: Run, toy: FactorImages) -> dict[str, float]:
    """Return mutual information and total correlation over all images."""
    mean, logvar = run.posterior(toy.images(np.arange(len(toy))))
    details = kl_decomposition(mean, logvar, estimator="exact").details
    return {"mi": details["mutual_information"], "tc": details["total_correlation"]}


def blobs(image: np.ndarray) -> int:
    """Count the connected bright regions of an image (height, width)."""
    from scipy.ndimage import label

    return label(image > 0.5)[1]


def test_vae(train, toy, verdict):
    run = train(VAE(**FAST), architecture=RELU)
    figures = terms(run, toy)
    samples = run.sample(64)[:, 0]
    single = float(np.mean([blobs(image) == 1 for image in samples]))
    met = figures["reconstruction"] < 10 and 10 < figures["kl"] < 18 and single > 0.8
    verdict(
        "vae",
        "R < 10, 10 < KL < 18, samples decode to one blob (over 80 %)",
        {"R": figures["reconstruction"], "KL": figures["kl"], "one blob": single},
        met,
    )


def test_beta_vae(train, toy, verdict):
    runs = {beta: train(BetaVAE(beta=beta, **FAST)) for beta in (1, 4, 16)}
    figures = {beta: terms(run, toy) for beta, run in runs.items()}
    kl = [figures[b]["kl"] for b in (1, 4, 16)]
    reconstruction = [figures[b]["reconstruction"] for b in (1, 4, 16)]
    twin = train(BetaVAE(beta_norm=4 * 6 / 1024, **FAST))
    same = terms(twin, toy) == figures[4]
    met = kl[0] > kl[1] > kl[2] and reconstruction[0] < reconstruction[1] < reconstruction[2]
    verdict(
        "beta_vae",
        "β 1, 4, 16: KL strictly falls, R strictly rises; β_norm reproduces β = 4",
        {"KL": kl, "R": reconstruction, "β_norm same": same},
        met and same,
    )


def test_warm_up(train, toy, verdict):
    """There are as many latents as factors.

    With latents to spare a warmed-up run keeps one more of them active than a run with
    constant β, and stays there; the two then differ by the optimum they are in.
    """
    beta, few = Schedule(0, 4, 1000), FAST | {"latent_dim": 3}
    exact = [beta.at(step) for step in (0, 500, 1000, 2999)] == [0, 2, 4, 4]
    kl: dict[str, list[float]] = {"constant": [], "warmed up": []}
    for seed in range(2):
        for name, weight in (("constant", constant(4)), ("warmed up", beta)):
            run = train(BetaVAE(beta=weight, **few), architecture=RELU, seed=seed)
            kl[name].append(terms(run, toy)["kl"])
    ratios = [w / c for w, c in zip(kl["warmed up"], kl["constant"], strict=True)]
    verdict(
        "beta_vae, warm-up",
        "β exact at the start, middle and end of the warm-up; final KL within 10 % of that of "
        "constant β in every seed",
        {f"KL {name}": values for name, values in kl.items()} | {"β exact": exact},
        exact and all(abs(ratio - 1) < 0.1 for ratio in ratios),
    )


@pytest.mark.parametrize("capacity", [2, 5, 10])
def test_annealed_vae(train, toy, verdict, capacity):
    method = AnnealedVAE(gamma=100, capacity=f"0:{capacity}:1800", **FAST)
    kl = terms(train(method), toy)["kl"]
    verdict("annealed_vae", f"abs(KL − {capacity}) < 0.5", {"KL": kl}, abs(kl - capacity) < 0.5)


def test_beta_tcvae(train, toy, verdict):
    seeds = range(3)
    plain = [split(train(BetaTCVAE(beta=1, **FAST), seed=s), toy) for s in seeds]
    strong = [split(train(BetaTCVAE(beta=6, **FAST), seed=s), toy) for s in seeds]
    beta_vae = [split(train(BetaVAE(beta=6, **FAST), seed=s), toy) for s in seeds]

    def median(parts: list[dict[str, float]], name: str) -> float:
        return float(np.median([part[name] for part in parts]))

    met = median(strong, "tc") < 0.6 * median(plain, "tc")
    met = met and median(strong, "mi") > median(beta_vae, "mi")
    verdict(
        "beta_tcvae",
        "full-data TC(β=6) < 0.6·TC(β=1); MI above that of β-VAE(β=6); medians of 3 seeds",
        {
            "TC β=1": [p["tc"] for p in plain],
            "TC β=6": [p["tc"] for p in strong],
            "MI β=6": [p["mi"] for p in strong],
            "MI β-VAE 6": [p["mi"] for p in beta_vae],
        },
        met,
    )
