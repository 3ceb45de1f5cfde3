"""ML-VAE: content is what a group shares, style the rest."""

from rules._groups import of_groups
from unweave.methods.ml_vae import MLVAE

RULE = of_groups("ml_vae", MLVAE)
