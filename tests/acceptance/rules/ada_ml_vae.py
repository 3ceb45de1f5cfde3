"""Ada-ML-VAE: pairs that differ in one factor show which dimensions are factors."""

from rules._pairs import adaptive
from unweave.methods.ada_ml_vae import AdaMLVAE

RULE = adaptive("ada_ml_vae", AdaMLVAE)
