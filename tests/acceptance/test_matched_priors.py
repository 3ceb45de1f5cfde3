"""FactorVAE, DIP-VAE, AAE, InfoVAE and QLAE on toy_xys: what each objective must do."""

import numpy as np
import pytest
import torch

from unweave.data import FactorImages
from unweave.methods.aae import AAE
from unweave.methods.dip_vae import DIPVAE
from unweave.methods.factor_vae import FactorVAE
from unweave.methods.info_vae import InfoVAE
from unweave.methods.qlae import QLAE
from unweave.methods.vae import VAE
from unweave.metrics import infomec
from unweave.networks._discriminator import code_discriminator
from unweave.networks.mlp64 import MLP64
from unweave.probability.adversarial import discriminator_loss
from unweave.probability.divergence import mmd_rbf
from unweave.probability.total_correlation import permute_dimensions
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

FAST = {"latent_dim": 6, "optimizer": Adam(1e-3)}
# Converges several times sooner than the default decoder, which has tanh.
RELU = MLP64(hidden=256, decoder_activation="relu")
# Pixels outweigh the VAE's KL by far, so that its q(z) is far from the prior.
NARROW = {"likelihood": "gaussian", "pixel_scale": 0.05, **FAST}
JUDGE = {
    "discriminator_width": 256,
    "discriminator_depth": 2,
    "discriminator_optimizer": Adam(1e-3, betas=(0.5, 0.9)),
}


def all_images(toy: FactorImages) -> np.ndarray:
    return toy.images(np.arange(len(toy)))


def posterior(run: Run, toy: FactorImages) -> tuple[torch.Tensor, torch.Tensor]:
    """Return means and variances of every image."""
    mean, logvar = run.posterior(all_images(toy))
    return torch.from_numpy(mean), torch.from_numpy(logvar).exp()


def sampled_codes(run: Run, toy: FactorImages) -> torch.Tensor:
    """Return a code of every image, drawn from its posterior where there is one."""
    torch.manual_seed(0)
    if run.posterior(all_images(toy)[:1]) is None:
        return torch.from_numpy(run.encode(all_images(toy)))
    mean, variance = posterior(run, toy)
    return mean + variance.sqrt() * torch.randn_like(mean)


def distance_to_prior(run: Run, toy: FactorImages) -> float:
    """Return the unbiased MMD² of codes and a standard normal."""
    z = sampled_codes(run, toy)
    torch.manual_seed(1)
    return mmd_rbf(z, torch.randn(len(z), z.shape[1]), unbiased=True).item()


def correlation_of_fresh_discriminator(run: Run, toy: FactorImages, steps: int = 4000) -> float:
    """Return the total correlation that a discriminator trained on fixed codes finds.

    Noise is drawn anew for every step and for the judgement, so it has no codes to know by heart.
    """
    mean, variance = posterior(run, toy)
    torch.manual_seed(0)
    judge = code_discriminator(mean.shape[1], 256, 2)
    optimizer = torch.optim.Adam(judge.parameters(), lr=1e-3)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)

    def draw(count: int) -> torch.Tensor:
        rows = torch.randint(len(mean), (count,))
        return mean[rows] + variance[rows].sqrt() * torch.randn(count, mean.shape[1])

    for _ in range(steps):
        optimizer.zero_grad()
        discriminator_loss(judge(draw(256)), judge(permute_dimensions(draw(256)))).backward()
        optimizer.step()
        decay.step()
    with torch.no_grad():
        return judge(draw(20_000)).mean().item()


def squared_correlation(covariance: torch.Tensor) -> float:
    """Return the mean squared correlation of two different dimensions."""
    scale = covariance.diagonal().sqrt()
    correlation = covariance / (scale[:, None] * scale)
    size = len(correlation)
    return (correlation.square().sum() - size).item() / (size * (size - 1))


def test_factor_vae(train, toy, verdict):
    """The discriminator learns faster than the encoder, so that it keeps up."""
    steps = 4000
    settings = JUDGE | {
        "latent_dim": 6,
        "optimizer": Adam(3e-4, decay_steps=steps),
        "discriminator_optimizer": Adam(2e-3, betas=(0.5, 0.9), decay_steps=steps),
    }
    found: dict[int, list[float]] = {0: [], 30: []}
    error: dict[int, list[float]] = {0: [], 30: []}
    for seed in range(2):
        for gamma in found:
            method = FactorVAE(gamma=gamma, **settings)
            run = train(method, architecture=RELU, steps=steps, seed=seed)
            found[gamma].append(correlation_of_fresh_discriminator(run, toy))
            error[gamma].append(run.terms(all_images(toy))["reconstruction"])
    verdict(
        "factor_vae",
        "total correlation found by a fresh discriminator: γ = 30 below γ = 0 in every seed",
        {f"TC γ={g}": values for g, values in found.items()}
        | {f"R γ={g}": values for g, values in error.items()},
        all(strong < none for strong, none in zip(found[30], found[0], strict=True)),
    )


@pytest.mark.parametrize(("form", "weight"), [("I", 30), ("II", 300)])
def test_dip_vae(train, toy, verdict, form, weight):
    """Each form is held to the covariance that it constrains: of means, or of q(z)."""
    found = {}
    for name, method in (
        ("VAE", VAE(**NARROW)),
        ("DIP", DIPVAE(form=form, lambda_od=weight, **NARROW)),
    ):
        mean, variance = posterior(train(method, steps=1500), toy)
        found[name] = mean.T.cov() + (variance.mean(0).diag() if form == "II" else 0)
    vae, dip = squared_correlation(found["VAE"]), squared_correlation(found["DIP"])
    held = found["DIP"].diagonal()
    what = "means" if form == "I" else "q(z)"
    verdict(
        f"dip_vae, {form}",
        f"of {what}: mean squared correlation < 1/5 of the VAE's, variances in [0.8, 1.2]",
        {"correlation² VAE": vae, "correlation² DIP": dip, "variances": held.tolist()},
        dip < vae / 5 and bool(((held > 0.8) & (held < 1.2)).all()),
    )


@pytest.mark.parametrize("encoder", ["deterministic", "gaussian"])
def test_aae(train, toy, verdict, encoder):
    plain = train(AAE(encoder=encoder, adversarial_weight=0, **FAST, **JUDGE), steps=1500)
    matched = train(AAE(encoder=encoder, adversarial_weight=5, **FAST, **JUDGE), steps=1500)
    far, near = distance_to_prior(plain, toy), distance_to_prior(matched, toy)
    verdict(
        f"aae, {encoder}",
        "MMD² of codes and prior < 1/5 of the plain autoencoder's",
        {"autoencoder": far, "AAE": near},
        near < far / 5,
    )


def test_info_vae_adversarial(train, toy, verdict):
    settings = {"alpha": 1, "divergence": "adversarial", **FAST, **JUDGE}
    far = distance_to_prior(train(InfoVAE(lambda_prior=0, **settings), steps=1500), toy)
    near = distance_to_prior(train(InfoVAE(lambda_prior=5, **settings), steps=1500), toy)
    verdict(
        "info_vae, adversarial",
        "MMD² of codes and prior < 1/5 of the autoencoder's (λ = 0)",
        {"autoencoder": far, "InfoVAE": near},
        near < far / 5,
    )


@pytest.mark.parametrize(("kernel", "weight"), [("rbf", 1000), ("imq", 200)])
def test_info_vae_mmd(train, toy, verdict, kernel, weight):
    images = all_images(toy)
    runs = {
        "VAE": train(VAE(**NARROW), steps=2000),
        "InfoVAE": train(
            InfoVAE(alpha=0, lambda_prior=weight, kernel=kernel, **NARROW), steps=2000
        ),
    }
    distance = {name: distance_to_prior(run, toy) for name, run in runs.items()}
    error = {
        name: float(np.square(run.reconstruct(images) - images).sum((1, 2, 3)).mean())
        for name, run in runs.items()
    }
    verdict(
        f"info_vae, mmd {kernel}",
        "MMD² of q(z) and prior < 1/5 of the VAE's; squared error at most 1.5 times the VAE's",
        {f"MMD² {n}": v for n, v in distance.items()} | {f"error {n}": v for n, v in error.items()},
        distance["InfoVAE"] < distance["VAE"] / 5 and error["InfoVAE"] < 1.5 * error["VAE"],
    )


def test_info_vae_stein(train, toy, verdict):
    settings = {"alpha": 1, "divergence": "stein", **FAST}
    far = distance_to_prior(train(InfoVAE(lambda_prior=0, **settings), steps=1500), toy)
    near = distance_to_prior(train(InfoVAE(lambda_prior=100, **settings), steps=1500), toy)
    verdict(
        "info_vae, stein",
        "MMD² of codes and prior < 1/3 of the autoencoder's (λ = 0)",
        {"autoencoder": far, "InfoVAE": near},
        near < far / 3,
    )


def test_qlae(train, toy, verdict):
    """Both codes have 10 values and one estimator; weight decay is set for a short run."""
    seeds, images, factors = range(3), all_images(toy), toy.factors()
    no_judge = {"discriminator_width": 1}
    decay = Adam(1e-3, weight_decay=1, decay_biases=False, clip_value=1)
    quantized, plain = [], []
    for seed in seeds:
        how = {"architecture": RELU, "steps": 2000, "seed": seed}
        run = train(QLAE(latent_dim=6, optimizer=decay), **how)
        quantized.append(run.encode(images))
        run = train(AAE(adversarial_weight=0, **no_judge, **FAST), **how)
        plain.append(in_ten_steps(run.encode(images)))
    found = {
        name: [infom(each, factors) for each in codes]
        for name, codes in (("QLAE", quantized), ("autoencoder", plain))
    }
    values = [[len(np.unique(code)) for code in codes.T] for codes in quantized]
    active = [sum(count >= 2 for count in counts) for counts in values]
    verdict(
        "qlae",
        "InfoM above that of a plain autoencoder whose codes are cut into 10 values, medians of "
        "3 seeds; at least as many codes as factors use 2 values or more",
        {f"InfoM {name}": each for name, each in found.items()}
        | {"values of each code": [str(counts) for counts in values]},
        np.median(found["QLAE"]) > np.median(found["autoencoder"]) and min(active) >= 3,
    )


def infom(codes: np.ndarray, factors: np.ndarray) -> float:
    """Return the modularity of codes with few values."""
    return float(infomec(codes, factors, protocol="hsu2023_discrete").details["modularity"])


def in_ten_steps(codes: np.ndarray) -> np.ndarray:
    """Return which tenth of its range each code is in."""
    low, high = codes.min(0), codes.max(0)
    return np.minimum((codes - low) / (high - low) * 10, 9).astype(np.int64)
