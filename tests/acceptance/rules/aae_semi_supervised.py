"""Semi-supervised AAE: few labels name the clusters, and the style is free of them."""

from rules._classes import of_classes
from rules._labels import LABELS
from rules._training import DISCRIMINATOR, TANH
from unweave.methods.aae_semi_supervised import AAESemiSupervised
from unweave.settings.optimizers import Adam


def make(seed: int, **changes: float) -> AAESemiSupervised:
    settings = DISCRIMINATOR | {
        "latent_dim": 2,
        "labels": LABELS,
        "label_seed": seed,
        "discriminator_optimizer": Adam(5e-4, betas=(0.5, 0.9)),
        "optimizer": Adam(1e-3),
    }
    return AAESemiSupervised(**settings | changes)


RULE = of_classes(
    "aae_semi_supervised",
    make,
    {
        "no discriminators (w = 0)": lambda seed: make(seed, adversarial_weight=0),
        "labels without weight": lambda seed: make(seed, classification_weight=0),
    },
    steps=2500,
    network=TANH,
    batch_size=64,
    margin=0.04,
    samples=0.55,
)
