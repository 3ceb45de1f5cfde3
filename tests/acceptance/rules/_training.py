"""Training on small data, as the method says or with something taken away."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from unweave.data import Column, DataOptions, FactorImages, toy_shapes, toy_xys
from unweave.methods import Method
from unweave.networks import Architecture
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam
from unweave.training import loop

QUIET = Machine(evaluations=0, threads=1, checkpoint_seconds=1e9)
# With relu a decoder converges several times sooner than with the paper's tanh.
NETWORK = MLP64(hidden=256, decoder_activation="relu")
TANH = MLP64(hidden=256)
FAST = {"latent_dim": 6, "optimizer": Adam(1e-3)}
DISCRIMINATOR = {
    "discriminator_width": 256,
    "discriminator_depth": 2,
    "discriminator_optimizer": Adam(1e-3, betas=(0.5, 0.9)),
}


@cache
def squares() -> FactorImages:
    """Return toy_xys."""
    return toy_xys.load(None, DataOptions())


@cache
def shapes() -> FactorImages:
    """Return toy_shapes."""
    return toy_shapes.load(None, DataOptions())


def all_images(data: FactorImages) -> np.ndarray:
    """Return every image of a set."""
    return data.images(np.arange(len(data)))


def train(
    method: Method,
    *,
    seed: int,
    data: FactorImages | None = None,
    network: Architecture = NETWORK,
    steps: int = 1500,
    batch_size: int = 64,
) -> Run:
    """Train a method, by default on toy_xys, and return the run, of which no file is left."""
    data = squares() if data is None else data
    config = Train(
        method=method,
        data=data.name,
        architecture=network,
        steps=steps,
        batch_size=batch_size,
        seed=seed,
    )
    with tempfile.TemporaryDirectory() as folder:
        return loop.start(config, data, Path(folder) / "run", QUIET)


def untrained(
    method: Method,
    *,
    seed: int,
    data: FactorImages | None = None,
    network: Architecture = NETWORK,
    steps: int = 1500,
) -> Run:
    """Return the run that `train` would begin with."""
    data = squares() if data is None else data
    config = Train(method=method, data=data.name, architecture=network, steps=steps, seed=seed)
    config = loop.resolved(config, data)
    nets = loop.make_networks(config, data)
    config.method.fit(nets, data, seed)
    return Run(config, data.summary, nets, step=0, data=data)


def shuffled(data: FactorImages, seed: int) -> FactorImages:
    """Return the same images with the factors and columns of others.

    Pairs and groups drawn by them share nothing, and labels say nothing.
    """
    order = np.random.default_rng((seed, 0x5AB)).permutation(len(data))
    columns = [Column(c.factor, c.values[order]) for c in data.columns.values()]
    return FactorImages(
        data.name, data.pixels, data.factor_list, data.factors()[order], columns=columns
    )


def shuffled_columns(data: FactorImages, seed: int) -> FactorImages:
    """Return the same images and factors with the columns beside them of others."""
    order = np.random.default_rng((seed, 0x5AB)).permutation(len(data))
    columns = [Column(c.factor, c.values[order]) for c in data.columns.values()]
    return FactorImages(data.name, data.pixels, data.factor_list, data.factors(), columns=columns)


def judged_on(run: Run, data: FactorImages) -> Run:
    """Return a run that was trained on other data as one of this data."""
    return Run(run.config, run.summary, run.nets, step=run.step, data=data)
