"""InfoVAE with MMD of heavy tails: codes spread like the prior, and images are kept."""

from rules._covariance import NARROW
from rules._matched import matched
from rules._training import train
from rules.info_vae_mmd import Cut
from unweave.methods.info_vae import InfoVAE
from unweave.methods.vae import VAE

SETTINGS = {"alpha": 0, "lambda_prior": 1000, "kernel": "imq", **NARROW}
RULE = matched(
    "info_vae",
    InfoVAE(**SETTINGS),
    VAE(**NARROW),
    what="MMD with inverse multiquadrics, α = 0, λ = 1000",
    unmatched_is="the VAE",
    broken={"gradient of MMD cut": lambda seed: train(Cut(**SETTINGS), seed=seed, steps=2000)},
    share=1 / 3,
    steps=2000,
)
