"""FactorVAE: another discriminator finds less total correlation, and images are kept."""

from unittest import mock

import numpy as np
import torch

from rules._measures import evidence, traversals
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import DISCRIMINATOR, all_images, train, untrained
from unweave.methods import factor_vae
from unweave.methods.factor_vae import FactorVAE
from unweave.networks import code_discriminator
from unweave.probability.adversarial import discriminator_loss
from unweave.probability.total_correlation import permute_dimensions
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam
from unweave.tensors import Latents

STEPS = 3000
# The discriminator learns faster than the encoder, so that it keeps up.
SETTINGS = DISCRIMINATOR | {
    "latent_dim": 6,
    "optimizer": Adam(3e-4, decay_steps=STEPS),
    "discriminator_optimizer": Adam(2e-3, betas=(0.5, 0.9), decay_steps=STEPS),
}


def correlation_found(run: Run, steps: int = 2500) -> float:
    """Return the total correlation that a discriminator trained on fixed codes finds.

    Noise is drawn anew for every step and for the judgement, so it has no codes to know by heart.
    """
    found = run.posterior(all_images(run.data))
    assert found is not None
    mean, variance = torch.from_numpy(found[0]), torch.from_numpy(found[1]).exp()

    def draw(count: int) -> Latents:
        rows = torch.randint(len(mean), (count,))
        return mean[rows] + variance[rows].sqrt() * torch.randn(count, mean.shape[1])

    with torch.random.fork_rng():
        torch.manual_seed(0)
        judge = code_discriminator(mean.shape[1], 256, 2)
        optimizer = torch.optim.Adam(judge.parameters(), lr=1e-3)
        decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        for _ in range(steps):
            optimizer.zero_grad()
            discriminator_loss(judge(draw(256)), judge(permute_dimensions(draw(256)))).backward()
            optimizer.step()
            decay.step()
        with torch.no_grad():
            return judge(draw(20_000)).mean().item()


def finding(run: Run) -> Finding:
    return Finding({"TC": correlation_found(run)} | evidence(run), traversals(run))


def trained(gamma: float) -> Measure:
    method = FactorVAE(gamma=gamma, **SETTINGS)
    return lambda seed: finding(train(method, seed=seed, steps=STEPS))


def permute_rows(z: Latents) -> Latents:
    return z[torch.randperm(len(z))]


def blind(seed: int) -> Finding:
    """Show the discriminator rows in another order, from which there is nothing to learn."""
    with mock.patch.object(factor_vae, "permute_dimensions", permute_rows):
        return finding(train(FactorVAE(gamma=30, **SETTINGS), seed=seed, steps=STEPS))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    plain = others["γ = 0"]
    return {
        "TC < half of γ = 0": bool((own["TC"] < plain["TC"] / 2).all()),
        "R < 40": bool((own["R"] < 40).all()),
        "KL > 8": bool(np.all(own["KL"] > 8)),
    }


RULE = Rule(
    covers=("factor_vae",),
    claim="γ = 30, each seed: total correlation found by a fresh discriminator below half of that "
    "with γ = 0, R < 40 nats and KL > 8 nats",
    method=trained(30),
    saboteurs={
        "whole rows permuted": blind,
        "γ = 0": trained(0),
        "untrained": lambda seed: finding(untrained(FactorVAE(**SETTINGS), seed=seed)),
    },
    references={"γ = 0": trained(0)},
    checks=checks,
    picture="Traversals, one line for each latent.",
)
