"""DIP-VAE-II: codes are uncorrelated and vary by 1, and images are kept."""

from rules._covariance import of_form

RULE = of_form("II", 300, steps=1500)
