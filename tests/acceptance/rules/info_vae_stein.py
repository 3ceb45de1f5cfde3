"""InfoVAE by Stein's direction: codes spread like the prior, and images are kept."""

from rules._matched import matched
from rules._training import FAST, train
from rules.info_vae_mmd import Cut
from unweave.methods.info_vae import InfoVAE

SETTINGS = {"alpha": 1, "lambda_prior": 100, "divergence": "stein", **FAST}
RULE = matched(
    "info_vae",
    InfoVAE(**SETTINGS),
    InfoVAE(**SETTINGS | {"lambda_prior": 0}),
    what="Stein's direction, α = 1, λ = 100",
    unmatched_is="an autoencoder (α = 1, λ = 0)",
    broken={"gradient of the direction cut": lambda seed: train(Cut(**SETTINGS), seed=seed)},
    share=1 / 2,
)
