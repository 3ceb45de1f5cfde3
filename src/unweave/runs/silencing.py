"""Silence latents that carry nothing: their posterior becomes the same for every image.

The mean of a latent that is off still varies a little with the image. No decoder reads it,
but a histogram does, and scores such as MIG count what it finds. Silencing sets the
weights of the encoder's last layer that make the latent to 0: its posterior is the
resting one of the prior, and its KL the least there is. The networks as they were are
kept beside the silenced ones, so that it can be undone.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from unweave.errors import ConfigError, DataError
from unweave.files import tensor_files
from unweave.networks import GaussianEncoder
from unweave.runs.model import in_parts
from unweave.runs.run import Run

ROWS = 2_000
NATS = 0.1
"""A latent is dead whose KL lies less than this above the least possible."""


@dataclass(frozen=True)
class Silenced:
    """Which latents of a run were silenced, and why."""

    latents: tuple[int, ...]
    kl: tuple[float, ...]
    """Mean KL of each latent of the code before, in nats."""
    below: float
    """KL in nats below which a latent was silenced."""

    def __str__(self) -> str:
        if not self.latents:
            return f"no latent has a KL below {self.below:.2f} nats: none is silenced"
        named = ", ".join(f"z{latent}" for latent in self.latents)
        return f"silenced {named}: KL below {self.below:.2f} nats"


def silence(run: Run, nats: float = NATS) -> Silenced:
    """Silence the dead latents of a run, in memory and in its folder."""
    last = _last_layer(run)
    if run.folder is not None and run.folder.silenced() is not None:
        raise ConfigError(f"{run.name} is silenced already; undo that first")
    if run.folder is not None and not run.folder.networks_file.is_file():
        raise ConfigError(f"{run.name} is not finished; `unweave resume` it first")
    kl = _mean_kl(run)
    below = run.code_prior.least_kl + nats
    dead = np.flatnonzero(kl < below)
    found = Silenced(tuple(map(int, dead)), tuple(map(float, kl)), below)
    with torch.no_grad():
        for latent in found.latents:
            for output, value in (
                (latent, 0.0),
                (latent + run.latent_dim, run.code_prior.resting_logvar),
            ):
                last.weight[output] = 0.0
                last.bias[output] = value
    if run.folder is not None:
        facts = {"latents": list(found.latents), "kl": list(found.kl), "below": below}
        run.folder.keep_silenced(run.nets, run.step, facts)
    return found


def undo(run: Run) -> None:
    """Give silenced latents their voice back, in memory and in the run's folder."""
    if run.folder is None or run.folder.silenced() is None:
        raise ConfigError(f"{run.name} has no latents that were silenced")
    run.folder.undo_silenced()
    tensors, _ = run.folder.trained_tensors()
    if problem := tensor_files.misfit(tensors, run.nets.state_dict()):
        raise DataError(f"{run.name}: the networks of before do not fit: {problem}")
    run.nets.load_state_dict(tensors)


def _last_layer(run: Run) -> nn.Linear:
    encoder = getattr(run.nets, "encoder", None)
    if isinstance(encoder, GaussianEncoder):
        last = list(encoder.trunk.children())[-1]
        if isinstance(last, nn.Linear) and last.out_features == 2 * run.latent_dim:
            return last
    raise ConfigError(f"{run.name} has no encoder to a Gaussian posterior that could be silenced")


def _mean_kl(run: Run) -> np.ndarray:
    """Return the mean KL of each latent over rows of the data, in nats."""
    data, rng = run.data, np.random.default_rng((run.config.seed, 0x51E))
    rows = np.sort(rng.choice(len(data), size=min(ROWS, len(data)), replace=False))
    total = np.zeros(run.latent_dim)
    for part in in_parts(rows):
        posterior = run.posterior(data.images(part, rng))
        assert posterior is not None, "a Gaussian encoder has one"
        mean, logvar = (half.astype(np.float64) for half in posterior)
        total += run.code_prior.kl(mean, logvar, np.exp(logvar)).sum(axis=0)
    kl: np.ndarray = total / len(rows)
    return kl
