"""All that the steps of a run change: networks, optimizers, running averages."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from torch.autograd.graph import increment_version

from unweave.data import DataSummary
from unweave.errors import UnweaveError
from unweave.methods import Loss, Move, Player, Restart, Turn, turns_of
from unweave.networks import Networks, architecture_for, within_memory
from unweave.runs.config import Train
from unweave.training.averages import RunningAverages

OUTDATED = ("modified by an inplace operation", "backward through the graph a second time")
"""What torch says of a graph whose weights have moved, or that has been used up."""


class PlayerOptimizer:
    """Lowers one player's loss; cannot reach another player's networks."""

    def __init__(self, player: Player, nets: Networks):
        self.settings = player.optimizer
        self.groups = [list(getattr(nets, name).parameters()) for name in player.owns]
        self.parameters = [parameter for group in self.groups for parameter in group]
        self.speeds = [player.speed.get(name, 1.0) for name in player.owns]
        self.optimizer = self.settings.build(*self.groups)

    def start_afresh(self) -> None:
        """Forget what the optimizer has gathered."""
        self.optimizer = self.settings.build(*self.groups)

    def lower(self, loss: Loss, step: int) -> None:
        """Make one update, unless the settings say to skip it."""
        self.differentiate(loss)
        self.update(loss, step)

    def differentiate(self, loss: Loss, *, keep_graph: bool = False) -> None:
        """Set the gradients of the player's weights; none reaches other networks."""
        self.optimizer.zero_grad(set_to_none=True)
        loss.total.backward(inputs=self.parameters, retain_graph=keep_graph)

    def update(self, loss: Loss, step: int) -> None:
        """Move the weights along their gradients, unless the settings say to skip it."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.speeds[group["part"]] * self.settings.rate_at(step)
        if self.settings.tame(self.parameters):
            self.optimizer.step()
            # Fused kernels leave this out. Without it a loss that was computed before the
            # update would be differentiated with the weights after it, without an error.
            increment_version(self.parameters)
        else:
            loss.terms["skipped"] = loss.total.new_ones(())  # so that the record tells

    def take_gradients(self) -> list[Tensor | None]:
        """Take the gradients away, so that others can be computed meanwhile."""
        taken = [parameter.grad for parameter in self.parameters]
        self.optimizer.zero_grad(set_to_none=True)
        return taken

    def put_gradients(self, gradients: list[Tensor | None]) -> None:
        """Put gradients back that were taken."""
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient


class Game:
    """The networks of a run, what updates them, and their running averages."""

    def __init__(self, config: Train, summary: DataSummary, nets: Networks):
        self.config, self.summary, self.nets = config, summary, nets
        self.players: Mapping[str, Player] = config.method.players
        self.optimizers = {
            name: PlayerOptimizer(player, nets) for name, player in self.players.items()
        }
        self.averages = RunningAverages(self.players, nets, config.batch_size)

    def play(self, move: Move, step: int) -> tuple[Turn, ...]:
        """Make a move; return its turns."""
        if isinstance(move, Restart):
            self.restart(self._known(move.player), step)
            return ()
        turns = turns_of(move)
        if len(turns) == 1:
            (turn,) = turns
            self._differentiate(turn, keep_graph=False)
            self.optimizers[turn.player].update(turn.loss, step)
            return turns
        gradients = []
        for index, turn in enumerate(turns):
            self._differentiate(turn, keep_graph=index + 1 < len(turns))
            gradients.append(self.optimizers[turn.player].take_gradients())
        for turn, taken in zip(turns, gradients, strict=True):
            optimizer = self.optimizers[turn.player]
            optimizer.put_gradients(taken)
            optimizer.update(turn.loss, step)
        return turns

    def restart(self, player: str, step: int) -> None:
        """Give a player's networks the weights that (seed, step) give, and a new optimizer."""
        seed = np.random.default_rng((self.config.seed, step, 0x2E5E7)).integers(2**63)
        fresh = fresh_networks(self.config, self.summary, int(seed))
        for name in self.players[player].owns:
            getattr(self.nets, name).load_state_dict(getattr(fresh, name).state_dict())
            self.averages.start_afresh(name, self.nets)
        self.optimizers[player].start_afresh()

    def _known(self, player: str) -> str:
        if player not in self.players:
            raise UnweaveError(f"{self.config.method} yielded a turn of {player!r}, not a player")
        return player

    def _differentiate(self, turn: Turn, *, keep_graph: bool) -> None:
        """Compute the gradients of a turn, or say in a line what is wrong with its loss."""
        optimizer = self.optimizers[self._known(turn.player)]
        blind = not turn.loss.total.requires_grad
        if not blind:
            try:
                optimizer.differentiate(turn.loss, keep_graph=keep_graph)
            except RuntimeError as error:
                if not any(sign in str(error) for sign in OUTDATED):
                    raise
                raise UnweaveError(
                    f"the loss of {turn.player!r} was computed before an update of this step and "
                    f"needs the weights or the graph as they were: compute it after that `yield`, "
                    f"or yield both turns at once: `yield Turn(…), Turn(…)`"
                ) from error
            blind = all(parameter.grad is None for parameter in optimizer.parameters)
        if blind:
            owned = ", ".join(self.players[turn.player].owns)
            raise UnweaveError(
                f"the loss of {turn.player!r} depends on no weight of its networks ({owned}); "
                f"look for a detach, or yield no turn of it"
            )


def fresh_networks(config: Train, summary: DataSummary, seed: int) -> Networks:
    """Return networks of a run with the weights that a seed gives, on the CPU."""
    architecture = config.architecture or architecture_for(summary.image_shape)

    def make() -> Networks:
        torch.default_generator.manual_seed(seed)
        return config.method.networks(architecture, summary)

    with torch.random.fork_rng(devices=[]):
        return within_memory(make)
