"""Saving and continuing a run: weights and optimizer states, without pickle.

Random numbers need no state here: those of a step are drawn from generators
seeded by (seed, step), so that a run continued at a step is the same run.
"""

import os
from collections.abc import Mapping

import torch
from torch import Tensor

from unweave.errors import DataError
from unweave.files import tensor_files
from unweave.files.writing import flush_folder, write_atomically
from unweave.runs.folder import AVERAGES, NETWORKS, RunFolder, part_of
from unweave.training.game import Game

STATES = "optimizers."
"""How names of optimizer states begin."""


def save(folder: RunFolder, step: int, game: Game) -> None:
    """Write the state after `step` steps; the checkpoint before it is kept as well."""
    tensors = _weights(game)
    for player, optimizer in _optimizers(game).items():
        for index, parameter in enumerate(_parameters(optimizer)):
            for name, value in optimizer.state.get(parameter, {}).items():
                tensors[f"{_state_prefix(player, index)}{name}"] = torch.as_tensor(value)
    content = tensor_files.to_bytes(tensors, {"step": step})
    write_atomically(folder.next_checkpoint_file, content)
    # Between these two renames the newest whole file is the previous one.
    if folder.checkpoint_file.is_file():
        os.replace(folder.checkpoint_file, folder.previous_checkpoint_file)
    os.replace(folder.next_checkpoint_file, folder.checkpoint_file)
    flush_folder(folder.path)


def restore(folder: RunFolder, game: Game) -> tuple[int, str | None]:
    """Load the newest whole checkpoint; return its step and a warning, if there is one."""
    tensors, facts = folder.read_checkpoint()
    if problem := _misfit(tensors, game):
        raise DataError(f"{folder.path}: the checkpoint does not fit the settings: {problem}")
    game.nets.load_state_dict(part_of(tensors, NETWORKS))
    game.averages.load(part_of(tensors, AVERAGES))
    for player, optimizer in _optimizers(game).items():
        for index, parameter in enumerate(_parameters(optimizer)):
            state = part_of(tensors, _state_prefix(player, index))
            if state:
                optimizer.state[parameter] = {
                    name: _placed(name, value, parameter, optimizer)
                    for name, value in state.items()
                }
    return facts["step"], facts.get("warning")


def _misfit(tensors: Mapping[str, Tensor], game: Game) -> str | None:
    """Say what of a checkpoint is not as the run needs it, before any of it is used.

    Fused optimizers read states by address, whatever their size: a state of another shape
    would end the process. A weight that was never updated has no states at all.
    """
    needed = _weights(game)
    for player, optimizer in game.optimizers.items():
        kept = optimizer.settings.kept_per_weight()
        for index, parameter in enumerate(_parameters(optimizer.optimizer)):
            prefix = _state_prefix(player, index)
            if any(f"{prefix}{name}" in tensors for name in kept):
                for name, example in kept.items():
                    like = parameter if example.ndim else example
                    needed[f"{prefix}{name}"] = torch.empty_like(like, device="meta")
    if problem := tensor_files.misfit(tensors, needed):
        return problem
    for name, value in tensors.items():
        if name.startswith(STATES) and name.endswith(".step"):
            count = float(value)
            if not (count >= 0 and count.is_integer()):
                return f"{name!r} is {count}; expected how many updates were made"
    return None


def _weights(game: Game) -> dict[str, Tensor]:
    """Return the weights and their running averages by the names they have in checkpoints."""
    weights = {f"{NETWORKS}{k}": v for k, v in game.nets.state_dict().items()}
    return weights | {f"{AVERAGES}{k}": v for k, v in game.averages.tensors().items()}


def _state_prefix(player: str, index: int) -> str:
    return f"{STATES}{player}.{index}."


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
    return torch.empty_like(parameter, dtype=value.dtype, requires_grad=False).copy_(value)
