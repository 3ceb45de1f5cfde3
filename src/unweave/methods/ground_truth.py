"""Ground truth: the factors themselves are the code; a baseline.

A baseline of the β-VAE paper, openreview:Sy2fzU9gl, and the most a metric can give.
Codes are read off the rows of the data set, by index or value as they are stored
there; there is no encoder of images, no decoder and no step.

Use it to see the best that a metric can give on a data set. Not as a method: it reads the
answers.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from unweave.batches import Unsupervised
from unweave.data import DataSummary, FactorImages
from unweave.errors import DataError
from unweave.methods._baseline import Baseline
from unweave.methods._code import Part
from unweave.networks import Architecture, Networks
from unweave.tensors import Latents


class EveryFactor(Unsupervised):
    """All factors of every image."""


class FactorCount(nn.Module):
    """How many factors the data set has, kept with the run."""

    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))


@dataclass(frozen=True, kw_only=True)
class GroundTruth(Baseline):
    latent_dim: int = 10
    """Not used: the code has as many dimensions as the data set has factors."""

    supervision = EveryFactor()
    codes_from = "rows"
    decodes = False

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.factors = FactorCount()
        return nets

    def fit(self, nets: Networks, data: FactorImages, seed: int) -> None:
        if not data.factor_names:
            raise DataError(
                f"ground_truth needs factors, and {data.name} has none; give a CSV of them with "
                "--factors, or take another method"
            )
        nets.factors.count.fill_(len(data.factor_names))

    def encode_rows(self, nets: Networks, data: FactorImages, rows: np.ndarray) -> Latents:
        return torch.from_numpy(data.factors(rows).astype(np.float32))

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        count = int(nets.factors.count)  # 0 before the fit
        return (Part(count),) if count else ()
