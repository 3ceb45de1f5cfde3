"""Optimizers as settings, built for the parameters of one player.

All share the learning rate with its warm-up and decay, weight decay, and limits of the
gradient. `Optimizer` is any of them; a setting says which by its `kind`: adam, sgd,
rmsprop or adagrad.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from unweave.errors import ConfigError

Groups = list[dict[str, Any]]
"""Groups of parameters as torch takes them."""


@dataclass(frozen=True)
class Descent(ABC):
    """What all optimizers have: a linear warm-up, an optional cosine decay, limits."""

    learning_rate: float = 1e-4
    """Step size after the warm-up."""
    _: KW_ONLY
    weight_decay: float = 0.0
    """Weight decay: apart from the gradient in Adam (AdamW), added to it in the others."""
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
        if self.learning_rate <= 0:
            raise ConfigError(
                f"{type(self).__name__} needs a learning rate above 0, found {self.learning_rate}"
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

    @abstractmethod
    def of_torch(self, groups: Groups, devices: set[str]) -> torch.optim.Optimizer:
        """Return torch's optimizer of groups on kinds of devices, with fused kernels if it can."""

    def build(self, *groups: Iterable[Parameter]) -> torch.optim.Optimizer:
        """Return the optimizer of groups of weights.

        Each of its groups knows by `part` which of the given ones it is of.
        """
        parameters: Groups = []
        for part, group in enumerate(groups):
            decaying, others = list(group), []
            if not self.decay_biases:
                others = [p for p in decaying if p.ndim <= 1]
                decaying = [p for p in decaying if p.ndim > 1]
            parameters += [{"params": decaying, "part": part}] if decaying else []
            parameters += [{"params": others, "part": part, "weight_decay": 0.0}] if others else []
        return self.of_torch(parameters, {p.device.type for g in parameters for p in g["params"]})

    def kept_per_weight(self) -> dict[str, Tensor]:
        """Return what the optimizer keeps for a weight of two numbers, after a step.

        Torch is asked, since names differ with settings and versions.
        """
        weight = Parameter(torch.zeros(2))
        optimizer = self.build([weight])
        weight.grad = torch.zeros(2)
        optimizer.step()
        return {name: torch.as_tensor(v) for name, v in optimizer.state[weight].items()}

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

    def _check_shares(self, **shares: float) -> None:
        """Refuse what is no share of the past: 0 or more, and below 1."""
        for name, value in shares.items():
            if not 0 <= value < 1:
                raise ConfigError(f"{type(self).__name__} needs {name} in [0, 1), found {value}")

    def _check_eps(self, eps: float) -> None:
        if eps <= 0:
            raise ConfigError(f"{type(self).__name__} needs an eps above 0, found {eps}")


@dataclass(frozen=True)
class Adam(Descent):
    """Adam, and with a weight decay AdamW."""

    betas: tuple[float, float] = (0.9, 0.999)
    """Decay of the running means of the gradient and of its square."""
    _: KW_ONLY
    eps: float = 1e-8
    """What is added to the root of the mean square."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_shares(**{f"beta {i + 1}": beta for i, beta in enumerate(self.betas)})
        self._check_eps(self.eps)

    def of_torch(self, groups: Groups, devices: set[str]) -> torch.optim.Optimizer:
        kind = torch.optim.AdamW if self.weight_decay else torch.optim.Adam
        return kind(
            groups,
            lr=self.learning_rate,
            betas=self.betas,
            eps=self.eps,
            weight_decay=self.weight_decay,
            fused=devices <= {"cpu", "cuda"},
        )


@dataclass(frozen=True)
class SGD(Descent):
    """Steps along the gradient, with momentum on wish."""

    learning_rate: float = 1e-2
    """Step size after the warm-up."""
    _: KW_ONLY
    momentum: float = 0.0
    """Share of the last step that is made once more."""
    nesterov: bool = False
    """Whether the gradient is taken where the momentum leads (Nesterov)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_shares(momentum=self.momentum)
        if self.nesterov and not self.momentum:
            raise ConfigError("SGD needs a momentum above 0 to take Nesterov's steps")

    def of_torch(self, groups: Groups, devices: set[str]) -> torch.optim.Optimizer:
        return torch.optim.SGD(
            groups,
            lr=self.learning_rate,
            momentum=self.momentum,
            nesterov=self.nesterov,
            weight_decay=self.weight_decay,
            fused=devices <= {"cpu", "cuda"},
        )


@dataclass(frozen=True)
class RMSProp(Descent):
    """Steps along the gradient, divided by the root of its mean square."""

    learning_rate: float = 1e-3
    """Step size after the warm-up."""
    _: KW_ONLY
    smoothing: float = 0.99
    """Decay of the running mean of the squared gradient."""
    momentum: float = 0.0
    """Share of the last step that is made once more."""
    centered: bool = False
    """Whether the variance of the gradient is taken instead of its mean square."""
    eps: float = 1e-8
    """What is added to the root."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_shares(smoothing=self.smoothing, momentum=self.momentum)
        self._check_eps(self.eps)

    def of_torch(self, groups: Groups, devices: set[str]) -> torch.optim.Optimizer:
        return torch.optim.RMSprop(
            groups,
            lr=self.learning_rate,
            alpha=self.smoothing,
            eps=self.eps,
            weight_decay=self.weight_decay,
            momentum=self.momentum,
            centered=self.centered,
        )


@dataclass(frozen=True)
class Adagrad(Descent):
    """Steps along the gradient, divided by the root of the sum of its squares so far."""

    learning_rate: float = 1e-2
    """Step size after the warm-up."""
    _: KW_ONLY
    initial_sum: float = 0.0
    """What the sum of squares begins with. TensorFlow: 0.1."""
    eps: float = 1e-10
    """What is added to the root."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_eps(self.eps)
        if self.initial_sum < 0:
            raise ConfigError(f"initial_sum must be 0 or more, found {self.initial_sum}")

    def of_torch(self, groups: Groups, devices: set[str]) -> torch.optim.Optimizer:
        return torch.optim.Adagrad(
            groups,
            lr=self.learning_rate,
            initial_accumulator_value=self.initial_sum,
            eps=self.eps,
            weight_decay=self.weight_decay,
            fused=devices <= {"cpu"},
        )


Optimizer = Adam | SGD | RMSProp | Adagrad
"""Any optimizer: the type of a setting that says how networks are updated."""
