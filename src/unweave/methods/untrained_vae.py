"""Untrained VAE: the means of an encoder with random weights; a baseline.

A baseline of the β-VAE paper, openreview:Sy2fzU9gl. It shows what a network gives
by its form alone, before it has learnt anything. There are no steps.

Use it to see what a metric gives for nothing but an architecture. Not as a code.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unweave.methods._gaussian_vae import GaussianAutoencoder
from unweave.methods._method import Player, Turn
from unweave.networks import Networks


@dataclass(frozen=True, kw_only=True)
class UntrainedVAE(GaussianAutoencoder):
    main_knob = "latent_dim"

    @property
    def players(self) -> dict[str, Player]:
        return {}

    def turns(self, nets: Networks, batch: Any, step: int) -> Iterator[Turn]:
        return iter(())
