"""Settings found by measurement; docs/results/recipe.md shows what each part is worth."""

from unweave.methods.cooled_tcvae import CooledTCVAE
from unweave.networks.posed import POSE, Posed
from unweave.networks.what_where import WhatWhere
from unweave.runs.config import Train
from unweave.runs.silencing import NATS
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule, constant


def demo() -> Train:
    """Return the default model: the best code that two minutes on two cores give."""
    steps = 9600
    method = CooledTCVAE(
        latent_dim=10,
        kl_weight=constant(1.0),  # the poses keep factors apart from the first step on
        unstaggered=POSE,
        stagger=after_the_pose(steps),
        optimizer=falling(steps),
    )
    return Train(
        method=method,
        architecture=Posed(),
        data="dsprites",
        batch_size=96,
        steps=steps,
        silence=NATS,
    )


def after_the_pose(steps: int) -> Schedule:
    """Return by how much codes that draw are dearer than those of a pose.

    They are kept off until the pose is told, or they would tell the angle, which takes two of
    them; and let on while the rate is high, or they stay half asleep.
    """
    return Schedule(7.0, 0.3, steps=5 * steps // 32, wait=25 * steps // 96)


def without_pose() -> Train:
    """Return the best that was found with a network that knows nothing of poses."""
    steps = 6400
    # Later latents become dearer once all are on: place is still refined, while the area
    # stays too coarse to tell the shape as well.
    stagger = Schedule(0.3, 0.9, steps=1500, wait=4100)
    # Larger or later rates, or smaller batches, keep the fourth latent off in some seeds.
    return Train(
        method=CooledTCVAE(latent_dim=10, stagger=stagger, optimizer=falling(steps)).over(steps),
        architecture=WhatWhere(),
        data="dsprites",
        batch_size=96,
        steps=steps,
        silence=NATS,
    )


def falling(steps: int) -> Adam:
    """Return how a run of so many steps is updated: the rate falls from two fifths of it on."""
    return Adam(2e-3, warmup_steps=200, decay_steps=steps, decay_after=2 * steps // 5)
