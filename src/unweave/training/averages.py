"""Running averages of weights: copies of networks that follow those that are trained.

A copy takes part in no turn; codes, pictures and scores are made with it.
"""

import copy
from collections.abc import Mapping

import torch
from torch import Tensor

from unweave.errors import UnweaveError
from unweave.methods import Player
from unweave.networks import Networks


class RunningAverages:
    """Averages of the weights of some networks over the steps."""

    def __init__(self, players: Mapping[str, Player], nets: Networks, batch_size: int):
        self.half_lives = _half_lives(players)
        self.batch_size = batch_size
        self.copies = {name: copy.deepcopy(getattr(nets, name)) for name in self.half_lives}
        self.shown = self._shown(nets)
        """The networks to look at: an average where there is one, else what is trained."""
        self._weights = {
            name: (list(mean.parameters()), list(getattr(nets, name).parameters()))
            for name, mean in self.copies.items()
        }
        self._buffers = [
            (mine, trained)
            for name, mean in self.copies.items()
            for mine, trained in zip(mean.buffers(), getattr(nets, name).buffers(), strict=True)
        ]

    def _shown(self, nets: Networks) -> Networks:
        if not self.copies:
            return nets
        shown = Networks()
        for name, network in nets.named_children():
            shown.add_module(name, self.copies.get(name, network))
        return shown

    @torch.no_grad()
    def follow(self, step: int) -> None:
        """Take the weights after a step into the averages.

        In the first steps it is their plain mean, so that the weights a run begins with do
        not count for long. Statistics, such as those of batch normalisation, are taken over
        as they are.
        """
        for name, (means, weights) in self._weights.items():
            share = 1 - 0.5 ** (self.batch_size / self.half_lives[name])
            torch._foreach_lerp_(means, weights, max(share, 1 / (step + 1)))
        for mine, trained in self._buffers:
            mine.copy_(trained)

    def start_afresh(self, name: str, nets: Networks) -> None:
        """Begin the average of a network again, if there is one, at what the network is now."""
        if name in self.copies:
            self.copies[name].load_state_dict(getattr(nets, name).state_dict())

    def tensors(self) -> dict[str, Tensor]:
        """Return the averages by the names of the weights."""
        return {
            f"{name}.{key}": value
            for name, mean in self.copies.items()
            for key, value in mean.state_dict().items()
        }

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over averages; a RuntimeError says what does not fit."""
        torch.nn.ModuleDict(self.copies).load_state_dict(tensors)


def _half_lives(players: Mapping[str, Player]) -> dict[str, float]:
    found: dict[str, float] = {}
    for player_name, player in players.items():
        for name, half_life in player.average.items():
            if name not in player.owns or half_life <= 0:
                raise UnweaveError(
                    f"player {player_name!r} averages {name!r} with a half-life of {half_life} "
                    f"images; expected one of {player.owns} and a number above 0"
                )
            found[name] = half_life
    return found
