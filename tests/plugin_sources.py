"""Plugins as strangers write them: files, and packages with entry points."""

from pathlib import Path

METHOD = '''
"""Scaled VAE: the evidence bound times a number, arXiv:1312.6114.

A method of a stranger.
"""

from __future__ import annotations

from dataclasses import dataclass

from unweave.batches import Batch
from unweave.methods import GaussianVAE, Loss
from unweave.networks import Networks
from unweave.settings.schedules import Schedule, constant


@dataclass(frozen=True, kw_only=True)
class ScaledVAE(GaussianVAE):
    scale: float = 2.0
    """What the bound is multiplied with."""
    warm_up: Schedule = constant(1.0)
    """What it is multiplied with besides, and when."""

    main_knob = "scale"

    def loss(self, nets: Networks, batch: Batch, step: int) -> Loss:
        q = self.posterior(nets, batch.images)
        reconstruction = self.reconstruction(nets, q.sample(), batch.images)
        kl = q.kl_to_prior().sum(1).mean()
        scale = self.scale * self.warm_up.at(step)
        return Loss(scale * (reconstruction + kl), reconstruction=reconstruction, kl=kl)
'''

METRIC = '''
"""Row count: how many rows there are; a metric of a stranger, in no arXiv paper."""

from unweave.metrics import CODES, Score, choose_protocol, how_made, read_tables

PROTOCOLS = {"plain": "counted"}
NEEDS = CODES
HIGHER_IS_BETTER = True
RANGE = "1 to infinity"


def row_count(codes, factors, *, seed=0, protocol="plain"):
    choose_protocol(protocol, PROTOCOLS, "row_count")
    table, known = read_tables(codes, factors, metric="row_count")
    return Score("row_count", len(table), protocol, made=how_made(table, known, seed=seed))
'''

DATA = '''
"""stripes: black and white stripes, 64 images of 16×16; a data set of a stranger."""

import numpy as np

from unweave.data import from_arrays
from unweave.errors import DataError


def load(path, options):
    """Draw the set."""
    if path is not None:
        raise DataError(f"stripes takes no file, found {path}")
    period, shift = (axis.ravel() for axis in np.meshgrid(range(8), range(8), indexing="ij"))
    columns = np.arange(16)
    lines = (columns + shift[:, None]) % (2 * period[:, None] + 2) <= period[:, None]
    images = np.repeat(lines[:, None, :], 16, axis=1).astype(np.uint8) * 255
    return from_arrays(images, {"period": period, "shift": shift}, name="stripes")
'''

NETWORK = '''
"""narrow: one linear layer each way; an architecture of a stranger."""

from dataclasses import dataclass
from math import prod

from torch import nn

from unweave.networks import Architecture


@dataclass(frozen=True, kw_only=True)
class Narrow(Architecture):
    def encoder(self, image_shape, outputs):
        return nn.Sequential(nn.Flatten(), nn.Linear(prod(image_shape), outputs))

    def decoder(self, inputs, image_shape):
        return nn.Sequential(nn.Linear(inputs, prod(image_shape)), nn.Unflatten(1, image_shape))
'''


def write(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def install(folder: Path, name: str, version: str, points: dict[str, dict[str, str]]) -> None:
    """Write what pip leaves of a package beside its modules."""
    place = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    write(place, "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, entries in points.items():
        lines += [f"[unweave.{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    write(place, "entry_points.txt", "\n".join(lines) + "\n")
