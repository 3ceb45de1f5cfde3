"""InfoVAE with MMD: codes spread like the prior, unlike the VAE's, and images are kept."""

from dataclasses import dataclass

from rules._covariance import NARROW
from rules._matched import matched
from rules._training import train
from unweave.methods.info_vae import InfoVAE
from unweave.methods.vae import VAE
from unweave.networks import Networks
from unweave.tensors import Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class Cut(InfoVAE):
    """Passes no gradient from the divergence to codes."""

    def divergence_of(self, nets: Networks, z: Latents) -> Scalar:
        return super().divergence_of(nets, z.detach())


SETTINGS = {"alpha": 0, "lambda_prior": 10_000, "kernel": "rbf", **NARROW}
RULE = matched(
    "info_vae",
    InfoVAE(**SETTINGS),
    VAE(**NARROW),
    what="MMD with an RBF kernel, α = 0, λ = 10,000",
    unmatched_is="the VAE",
    broken={"gradient of MMD cut": lambda seed: train(Cut(**SETTINGS), seed=seed, steps=2000)},
    share=1 / 3,
    steps=2000,
)
