"""AAE with points as codes: they spread like the prior, and images are kept."""

from rules._adversarial import of_encoder

RULE = of_encoder("deterministic")
