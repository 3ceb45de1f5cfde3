"""Settings found by measurement; docs/results/recipe.md shows the curves."""

from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.networks.quick64 import Quick64
from unweave.runs.config import Train
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule


def demo() -> Train:
    """Return the default model: the best code that a few minutes on two cores give."""
    steps = 5000
    optimizer = Adam(2e-3, warmup_steps=200, decay_steps=steps)
    return Train(
        method=BetaTCVAE(beta=Schedule(12, 3, steps), optimizer=optimizer),
        architecture=Quick64(),
        data="dsprites",
        batch_size=128,
        steps=steps,
    )
