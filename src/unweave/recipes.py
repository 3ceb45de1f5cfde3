"""Settings found by measurement; docs/results/recipe.md shows what each part is worth."""

from unweave.methods.cooled_tcvae import CooledTCVAE
from unweave.networks.what_where import WhatWhere
from unweave.runs.config import Train
from unweave.runs.silencing import NATS
from unweave.settings.optimizers import Adam


def demo() -> Train:
    """Return the default model: the best code that two minutes on two cores give."""
    steps = 4200
    # The rate falls late: a latent that is still off needs it to switch on.
    optimizer = Adam(2e-3, warmup_steps=200, decay_steps=steps, decay_after=2 * steps // 5)
    return Train(
        method=CooledTCVAE(latent_dim=10, optimizer=optimizer).over(steps),
        architecture=WhatWhere(),
        data="dsprites",
        batch_size=128,
        steps=steps,
        silence=NATS,
    )
