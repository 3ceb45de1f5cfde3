"""DIP-VAE-I: the means are uncorrelated and vary by 1, and images are kept."""

from rules._covariance import of_form

RULE = of_form("I", 100, steps=3000)
