"""GVAE: content is what a group shares, style the rest."""

from rules._groups import of_groups
from unweave.methods.gvae import GVAE

RULE = of_groups("gvae", GVAE)
