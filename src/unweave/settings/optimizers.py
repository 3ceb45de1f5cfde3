"""Optimizers as settings, built for the parameters of one player."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import Parameter

from unweave.errors import ConfigError


@dataclass(frozen=True)
class Adam:
    """Adam, with a linear warm-up of the learning rate and an optional cosine decay."""

    learning_rate: float = 1e-4
    """Step size after the warm-up."""
    betas: tuple[float, float] = (0.9, 0.999)
    """Decay of the running means of the gradient and of its square."""
    weight_decay: float = 0.0
    """Decoupled weight decay (AdamW)."""
    decay_biases: bool = True
    """Whether biases and scales, which have one axis, decay as well."""
    warmup_steps: int = 0
    """Steps over which the learning rate rises from 0."""
    decay_steps: int = 0
    """Steps after which a half-cosine has brought the learning rate to 0; 0 for no decay."""
    decay_after: int = 0
    """Steps before the half-cosine begins."""
    clip_value: float = 0.0
    """Largest size of an entry of the gradient; a larger one is cut to it; 0 for any."""
    clip_norm: float = 0.0
    """Largest norm of the gradient; a larger one is scaled down to it; 0 for any."""
    skip_norm: float = 0.0
    """Norm of the gradient above which an update is not made at all; 0 for any."""

    def __post_init__(self) -> None:
        if self.learning_rate <= 0 or not all(0 <= beta < 1 for beta in self.betas):
            raise ConfigError(
                f"Adam needs a learning rate above 0 and betas in [0, 1), found {self}"
            )
        if not 0 <= self.decay_after <= max(self.decay_steps - 1, 0):
            raise ConfigError(
                f"decay_after must lie in [0, decay_steps), found {self.decay_after} of "
                f"{self.decay_steps}"
            )
        if self.clip_norm < 0 or self.skip_norm < 0:
            raise ConfigError("clip_norm and skip_norm must be 0 or more")
        if self.weight_decay < 0 or self.clip_value < 0:
            raise ConfigError("weight_decay and clip_value must be 0 or more")

    def build(self, *groups: Iterable[Parameter]) -> torch.optim.Optimizer:
        """Return the optimizer of groups of weights; fused kernels where the device has them.

        Each of its groups knows by `part` which of the given ones it is of.
        """
        parameters: list[dict[str, Any]] = []
        for part, group in enumerate(groups):
            decaying, others = list(group), []
            if not self.decay_biases:
                others = [p for p in decaying if p.ndim <= 1]
                decaying = [p for p in decaying if p.ndim > 1]
            parameters += [{"params": decaying, "part": part}] if decaying else []
            parameters += [{"params": others, "part": part, "weight_decay": 0.0}] if others else []
        fused = all(p.device.type in ("cpu", "cuda") for g in parameters for p in g["params"])
        kind = torch.optim.AdamW if self.weight_decay else torch.optim.Adam
        return kind(
            parameters,
            lr=self.learning_rate,
            betas=self.betas,
            weight_decay=self.weight_decay,
            fused=fused,
        )

    def rate_at(self, step: int) -> float:
        """Return the learning rate at a step, counted from 0."""
        rate = self.learning_rate
        if step < self.warmup_steps:
            rate *= (step + 1) / self.warmup_steps
        if self.decay_steps:
            progress = (step - self.decay_after) / (self.decay_steps - self.decay_after)
            progress = min(max(progress, 0.0), 1.0)
            rate *= 0.5 * (1 + math.cos(math.pi * progress))
        return rate

    def tame(self, parameters: Sequence[Parameter]) -> bool:
        """Clip the gradients; return whether the update should be made."""
        if self.clip_value:
            torch.nn.utils.clip_grad_value_(parameters, self.clip_value)
        if not (self.clip_norm or self.skip_norm):
            return True
        norm = torch.nn.utils.clip_grad_norm_(parameters, self.clip_norm or math.inf)
        return bool(norm.isfinite() & (norm <= (self.skip_norm or math.inf)))
