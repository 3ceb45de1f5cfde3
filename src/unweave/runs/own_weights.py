"""Weights of a network of the user's own, from a file. Nothing in it is executed."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from unweave.errors import ConfigError, DataError, first_line

INSIDE = ("state_dict", "model_state_dict", "model", "network", "weights")
"""Where checkpoints keep weights beside other things."""


def load_weights(module: nn.Module, path: str | Path) -> None:
    """Load a .safetensors file, or weights that torch.save wrote, into a network."""
    weights = _read(Path(path))
    if not isinstance(module, nn.DataParallel) and all(n.startswith("module.") for n in weights):
        weights = {name.removeprefix("module."): value for name, value in weights.items()}
    own = module.state_dict()
    absent, unknown = sorted(set(own) - set(weights)), sorted(set(weights) - set(own))
    if absent or unknown:
        raise DataError(
            f"{path} is not of this network: it lacks {_few(absent)} and has {_few(unknown)} beyond"
        )
    for name, value in own.items():
        if value.shape != weights[name].shape:
            raise DataError(
                f"{path} is not of this network: {name} has shape {tuple(weights[name].shape)}, "
                f"expected {tuple(value.shape)}"
            )
    module.load_state_dict(weights)


def _read(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise DataError(f"no file at {path}. Check the path.")
    try:
        if path.suffix.lower() == ".safetensors":
            return load_file(path)
        with warnings.catch_warnings():  # of files that torch did not write; they are refused
            warnings.simplefilter("ignore")
            content = torch.load(path, map_location="cpu", weights_only=True)
    except SafetensorError as error:
        raise DataError(f"{path} is damaged or not a safetensors file: {error}") from error
    except Exception as error:  # torch raises many kinds for damaged and for unsafe files
        raise ConfigError(
            f"{path} holds no plain weights ({first_line(error)}). Save them alone: "
            "torch.save(model.state_dict(), FILE), or as safetensors"
        ) from error
    for _ in range(2):
        if _are_weights(content):
            return dict(content)
        name = next((n for n in INSIDE if isinstance(content, dict) and n in content), None)
        if name is None:
            break
        content = content[name]
    raise DataError(
        f"{path} holds {type(content).__name__}; expected weights by name, as model.state_dict() "
        "gives them"
    )


def _are_weights(content: Any) -> bool:
    return (
        isinstance(content, Mapping)
        and bool(content)
        and all(isinstance(value, Tensor) for value in content.values())
    )


def _few(names: list[str]) -> str:
    return (
        ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "") or "none"
    )
