"""What happens in a step of training: players, and the moves that `turns` yields.

A move is one of three things:

    yield Turn("encoder", loss)                     one update of one player
    yield Turn("one", loss), Turn("other", loss)    both gradients first, then both updates
    yield Restart("critic")                         weights and optimizer of a player, afresh
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from unweave.settings.optimizers import Optimizer
from unweave.tensors import Scalar


class Loss:
    """The total a player lowers, and the terms it is made of (batch means)."""

    def __init__(self, total: Scalar, **terms: Scalar):
        self.total, self.terms = total, terms

    def plus(self, extra: Scalar, **terms: Scalar) -> "Loss":
        """Return the loss with something added."""
        return Loss(self.total + extra, **self.terms, **terms)


class Turn(NamedTuple):
    """One update of one player."""

    player: str
    loss: Loss


class Restart(NamedTuple):
    """Give a player's networks new weights, drawn from (seed, step), and a new optimizer.

    Schedules, such as the warm-up of the learning rate, go on: they count the run's steps.
    """

    player: str


Move = Turn | tuple[Turn, ...] | Restart
"""What `turns` yields; turns in a tuple may share a graph, and no weight moves between them."""


def turns_of(move: Move) -> tuple[Turn, ...]:
    """Return the turns of a move."""
    if isinstance(move, Turn):
        return (move,)
    return () if isinstance(move, Restart) else move


def with_loss_of(player: str, move: Move, change: Callable[[Loss], Loss]) -> Move:
    """Return the move with the loss of a player's turn changed."""
    if isinstance(move, Restart):
        return move
    if isinstance(move, Turn):
        return move._replace(loss=change(move.loss)) if move.player == player else move
    return tuple(
        turn._replace(loss=change(turn.loss)) if turn.player == player else turn for turn in move
    )


class Player(NamedTuple):
    """One side of the game: the networks it may change, and how."""

    owns: tuple[str, ...]
    optimizer: Optimizer
    speed: Mapping[str, float] = MappingProxyType({})
    """How many times faster than the others some of the networks learn, by name."""
    average: Mapping[str, float] = MappingProxyType({})
    """Which networks have a running average of their weights, by name: how many images it
    takes until a weight counts half. Codes, pictures and scores are of the averages."""
