"""What rules of methods with few labels share: encoders that have the labels and nothing else."""

from collections.abc import Callable

import numpy as np
import torch

from rules._training import NETWORK
from unweave.data import FactorImages
from unweave.networks import Architecture

LABELS = 100


def labels_alone(
    data: FactorImages,
    rows: np.ndarray,
    outputs: int,
    loss: Callable,
    *,
    seed: int,
    steps: int,
    network: Architecture = NETWORK,
) -> Callable[[np.ndarray], np.ndarray]:
    """Return an encoder that learns from labelled images alone, as a function of images.

    `loss` is asked for what to lower, of outputs and of which lines of `rows` they are.
    """
    images = torch.from_numpy(data.images(rows))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = network.encoder(data.image_shape, outputs)
        optimizer = torch.optim.Adam(net.parameters(), 1e-3)
        for _ in range(steps):
            chosen = torch.randperm(len(rows))[:64]
            optimizer.zero_grad()
            loss(net(images[chosen]), chosen).backward()
            optimizer.step()

    def encode(images: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return net(torch.from_numpy(images)).numpy()

    return encode
