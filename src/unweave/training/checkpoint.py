"""Saving and continuing a run: weights and optimizer states, without pickle.

Random numbers need no state here: those of a step are drawn from generators
seeded by (seed, step), so that a run continued at a step is the same run.
"""

import os

import torch
from torch import Tensor

from unweave.errors import DataError
from unweave.files import tensor_files
from unweave.files.writing import write_atomically
from unweave.runs.folder import AVERAGES, NETWORKS, RunFolder, part_of
from unweave.training.game import Game


def save(folder: RunFolder, step: int, game: Game) -> None:
    """Write the state after `step` steps; the checkpoint before it is kept as well."""
    tensors: dict[str, Tensor] = {f"{NETWORKS}{k}": v for k, v in game.nets.state_dict().items()}
    tensors |= {f"{AVERAGES}{k}": v for k, v in game.averages.tensors().items()}
    for player, optimizer in _optimizers(game).items():
        for index, parameter in enumerate(_parameters(optimizer)):
            for name, value in optimizer.state.get(parameter, {}).items():
                tensors[f"optimizers.{player}.{index}.{name}"] = torch.as_tensor(value)
    content = tensor_files.to_bytes(tensors, {"step": step})
    fresh = folder.checkpoint_file.with_name("checkpoint.next.safetensors")
    write_atomically(fresh, content)
    # Between these two renames the newest whole file is the previous one.
    if folder.checkpoint_file.is_file():
        os.replace(folder.checkpoint_file, folder.previous_checkpoint_file)
    os.replace(fresh, folder.checkpoint_file)


def restore(folder: RunFolder, game: Game) -> tuple[int, str | None]:
    """Load the newest whole checkpoint; return its step and a warning, if there is one."""
    tensors, facts = folder.read_checkpoint()
    try:
        game.nets.load_state_dict(part_of(tensors, NETWORKS))
        game.averages.load(part_of(tensors, AVERAGES))
    except RuntimeError as error:
        raise DataError(
            f"{folder.path}: the checkpoint does not fit the settings: {error}"
        ) from None
    for player, optimizer in _optimizers(game).items():
        for index, parameter in enumerate(_parameters(optimizer)):
            state = part_of(tensors, f"optimizers.{player}.{index}.")
            if state:
                optimizer.state[parameter] = {
                    name: _placed(name, value, parameter, optimizer)
                    for name, value in state.items()
                }
    return int(facts["step"]), facts.get("warning")


def _optimizers(game: Game) -> dict[str, torch.optim.Optimizer]:
    return {name: player.optimizer for name, player in game.optimizers.items()}


def _parameters(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _placed(
    name: str, value: Tensor, parameter: Tensor, optimizer: torch.optim.Optimizer
) -> Tensor:
    """Give a state the device and memory layout of the weight it belongs to.

    Fused kernels walk weight and state by address: another layout would be read
    in the wrong order, without an error. Only they count steps on the device.
    """
    if name == "step":
        return value.to(parameter.device) if optimizer.defaults.get("fused") else value
    if value.shape != parameter.shape:
        return value.to(parameter.device)
    return torch.empty_like(parameter, dtype=value.dtype, requires_grad=False).copy_(value)
