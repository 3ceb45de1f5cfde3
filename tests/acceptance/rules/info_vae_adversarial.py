"""InfoVAE with a discriminator: nearer to the prior than the VAE, at no less information.

The KL is half dropped (α = ½): with all of it dropped this would be the adversarial
autoencoder, which has rules of its own.
"""

from rules._covariance import NARROW
from rules._matched import matched
from rules._training import DISCRIMINATOR, train
from rules.info_vae_mmd import Cut
from unweave.methods.info_vae import InfoVAE
from unweave.methods.vae import VAE

SETTINGS = {
    "alpha": 0.5,
    "lambda_prior": 100,
    "divergence": "adversarial",
    **NARROW,
    **DISCRIMINATOR,
}
RULE = matched(
    "info_vae",
    InfoVAE(**SETTINGS),
    VAE(**NARROW),
    what="a discriminator, α = ½, λ = 100",
    unmatched_is="the VAE",
    broken={"gradient of the game cut": lambda seed: train(Cut(**SETTINGS), seed=seed)},
    share=1 / 3,
)
