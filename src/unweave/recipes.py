"""Settings found by measurement; docs/results/recipe.md shows what each part is worth."""

from unweave.methods.cooled_tcvae import CooledTCVAE
from unweave.networks.what_where import WhatWhere
from unweave.runs.config import Train
from unweave.runs.silencing import NATS
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule


def demo() -> Train:
    """Return the default model: the best code that two minutes on two cores give."""
    steps = 6400
    # Larger or later rates, or smaller batches, keep the fourth latent off in some seeds.
    optimizer = Adam(2e-3, warmup_steps=200, decay_steps=steps, decay_after=2 * steps // 5)
    # Later latents become dearer once all are on: place is still refined, while the area
    # stays too coarse to tell the shape as well.
    stagger = Schedule(0.3, 0.9, steps=1500, wait=4100)
    return Train(
        method=CooledTCVAE(latent_dim=10, stagger=stagger, optimizer=optimizer).over(steps),
        architecture=WhatWhere(),
        data="dsprites",
        batch_size=96,
        steps=steps,
        silence=NATS,
    )
