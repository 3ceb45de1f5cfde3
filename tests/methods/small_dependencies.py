"""Small models of generalised M2, far from uniform, for its tests."""

import torch

from unweave.data import DataSummary
from unweave.methods.generalised_m2 import GeneralisedM2
from unweave.networks.mlp64 import MLP64

SUMMARY = DataSummary((1, 8, 8), 50, {"a": 3, "b": 2, "n": 5, "c": 0})
IMAGES = torch.rand(6, 1, 8, 8, generator=torch.Generator().manual_seed(0))
B = torch.tensor([0, 1, 1, 0, 1, 0])


def made(structure: str, **settings):
    names = tuple(name for name in SUMMARY.column_sizes if f"q({name}" in structure)
    method = GeneralisedM2(structure=structure, observed=names, latent_dim=2, hidden=16, **settings)
    torch.manual_seed(0)
    nets = method.networks(MLP64(hidden=16), SUMMARY)
    for layers in (*nets.recognised.layers, *nets.made.layers):
        for p in layers.parameters():
            p.data.mul_(3)  # far from uniform, so that weights are far from even
    return method, nets


def one_hot(classes: torch.Tensor, size: int) -> torch.Tensor:
    return torch.nn.functional.one_hot(classes, size).float()


def told(b: torch.Tensor = B):
    return {"b": one_hot(b, 2)}
