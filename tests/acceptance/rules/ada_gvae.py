"""Ada-GVAE: pairs that differ in one factor show which dimensions are factors."""

from rules._pairs import adaptive
from unweave.methods.ada_gvae import AdaGVAE

RULE = adaptive("ada_gvae", AdaGVAE)
