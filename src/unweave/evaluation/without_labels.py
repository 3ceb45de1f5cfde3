"""Choose among runs without labels: UDR among seeds, ModelCentrality among any.

UDR: S. Duan et al., ICLR 2020, arXiv:1905.12614; see `metrics/udr.py`. A run is
compared with others of the same settings.

ModelCentrality: Z. Lin et al., "InfoGAN-CR and ModelCentrality", ICML 2020,
arXiv:1906.06034. Model j draws groups of images that share one dimension of its
code; A_ij is the FactorVAE score that the encoder of model i reaches on them:

    B = (A + Aᵀ) / 2,    score_i = mean over j ≠ i of B_ij

Models that disentangle alike agree; each that fails does so in its own way.

Differs from the paper: groups are fewer and smaller by default, since every pair
of models costs an encoding (paper: 100 groups of 100 images per dimension); codes
that hardly vary (deviation < 0.05) cast no vote, and no groups share a dimension that the
generator itself does not read off its images: such groups share nothing that can be seen, and
would lower the agreement of every model that leaves dimensions unused, as VAEs do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave import metrics
from unweave.errors import DataError
from unweave.runs.run import Run

Numbers = NDArray[np.float64]

DEAD = 0.05  # deviation below which a code casts no vote, as in the FactorVAE score


class Model(Protocol):
    """What ModelCentrality asks of a model."""

    @property
    def latent_dim(self) -> int: ...
    def encode(self, images: Any) -> NDArray[Any]: ...
    def decode(self, codes: Any) -> NDArray[Any]: ...
    def prior(self, count: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw codes to generate from."""
        ...


@dataclass(frozen=True)
class RunModel:
    """A run as a model."""

    run: Run

    @property
    def latent_dim(self) -> int:
        return self.run.latent_dim

    def encode(self, images: Any) -> NDArray[Any]:
        return self.run.encode(images)

    def decode(self, codes: Any) -> NDArray[Any]:
        return self.run.decode(codes)

    def prior(self, count: int, rng: np.random.Generator) -> NDArray[Any]:
        return self.run.prior_codes(count, int(rng.integers(2**63)))


@dataclass(frozen=True)
class Centrality:
    """How central each model is among the others."""

    scores: Numbers
    agreement: Numbers
    """B, symmetric: (model, model)."""

    @property
    def chosen(self) -> int:
        """Return the model that agrees with the others most."""
        return int(self.scores.argmax())


def model_centrality(
    models: Sequence[Model], *, groups: int = 20, size: int = 32, seed: int = 0
) -> Centrality:
    """Score how central each model is; `groups` of `size` images per dimension of a code."""
    if len(models) < 2:
        raise DataError(
            f"model_centrality compares models and needs 2 or more; {len(models)} given"
        )
    if groups < 1 or size < 2:
        raise DataError(f"expected 1 group of 2 images or more, found {groups} of {size}")
    count = len(models)
    reached = np.ones((count, count))
    for j, generator in enumerate(models):
        rng = np.random.default_rng((seed, j))
        free = generator.decode(generator.prior(groups * size, rng))
        alive = np.flatnonzero(generator.encode(free).std(axis=0) >= DEAD)
        if len(alive) == 0:
            alive = np.arange(generator.latent_dim)
        shared = generator.decode(_alike(generator, alive, groups, size, rng))
        for i, model in enumerate(models):
            if i != j:
                codes = model.encode(shared).reshape(len(alive), groups, size, -1)
                reached[i, j] = vote_score(codes, model.encode(free))
    agreement = (reached + reached.T) / 2
    others = agreement.sum(axis=1) - agreement.diagonal()
    return Centrality(others / (count - 1), agreement)


def _alike(
    model: Model, alive: NDArray[np.int64], groups: int, size: int, rng: np.random.Generator
) -> NDArray[Any]:
    """Draw codes, group by group, that share one of these dimensions, in their order."""
    dims = model.latent_dim
    codes = model.prior(len(alive) * groups * size, rng).reshape(len(alive), groups, size, dims)
    for place, k in enumerate(alive):
        codes[place, :, :, k] = codes[place, :, :1, k]
    return codes.reshape(-1, dims)


def vote_score(codes: Numbers, free: Numbers) -> float:
    """Return the FactorVAE score of codes (shared dimension, group, image, code).

    The code that varies least within a group votes for the dimension that is shared;
    `free` are codes of images that share nothing.
    """
    deviation = free.std(axis=0)
    alive = deviation >= DEAD
    if not alive.any():
        return 0.0
    spread = codes[..., alive].std(axis=2) / deviation[alive]
    winners = spread.argmin(axis=-1)  # (shared dimension, group)
    votes = np.zeros((int(alive.sum()), len(codes)))
    for k, of_groups in enumerate(winners):
        np.add.at(votes[:, k], of_groups, 1)
    return float(votes.max(axis=1).sum() / votes.sum())


def udr_of_runs(runs: Sequence[Run], images: NDArray[Any], protocol: str = "lasso") -> list[float]:
    """Return the UDR of each of several runs that differ by their seed, on some images."""
    codes, kls = [], []
    for run in runs:
        posterior = run.posterior(images)
        codes.append(run.encode(images))
        if posterior is not None:
            mean, logvar = posterior
            kl = run.code_prior.kl(mean, logvar, np.exp(logvar)).mean(axis=0)
            kls.append(kl - run.code_prior.least_kl)  # what a dead latent costs says nothing
    score = metrics.udr(codes, kls=kls if len(kls) == len(codes) else None, protocol=protocol)
    return [float(value) for value in score.details["score_per_model"]]
