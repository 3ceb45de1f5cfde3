"""Semi-supervised twins: hold the first dimensions of any method's code to a few labels.

F. Locatello et al., "Disentangling Factors of Variation Using Few Labels", ICLR 2020,
arXiv:1905.01258. To the loss of another method is added, on labelled images x' with
labels y of K columns,

    γ L(code(x')_1..K, y),   L = Σ_k BCE(code_k, y_k / n_k) by default

Dimension k is held to label k. `semi_supervised+factor_vae` is the twin of
`factor_vae`; its settings are those of factor_vae and the ones below. A bare
`semi_supervised` is the twin of `beta_vae`. In Python, the twin of any method is
SemiSupervised(method, labels=100, …).

Where several players take turns, the loss joins the first turn of the one that owns
the encoder. γ = 0 is the method itself, to the last bit.

Differs from the paper: L is averaged over the labelled images of a step instead of
summed, so that a γ of the paper's code is multiplied by its batch of 64. A step sees
at most as many labelled images as others.

Use it if some images have the values of factors: it holds a dimension to each, whatever the
method inside. Not for classes without order, which one number tells badly (`m2`), and not if the
labelled images are of another kind than the rest.
"""

import copy
import dataclasses
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from unweave import catalog
from unweave.batches import Corruption, FewLabels, LabelledBatch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods import method_named
from unweave.methods._code import Part
from unweave.methods._label_losses import HEADS, LEARNING, LabelLoss
from unweave.methods._method import Method, Player
from unweave.methods._play import Loss, Move, turns_of, with_loss_of
from unweave.networks import Architecture, Networks
from unweave.settings.plain import field_types
from unweave.settings.schedules import Schedule, constant

M = TypeVar("M", bound=Method)


@dataclass(frozen=True, kw_only=True)
class Twin(Method):
    """What is added to a method; `around` makes the class that is both.

    In that class `super()` is the method.
    """

    labels: int = 100
    """How many images have labels, drawn once by label_seed; where columns have gaps, those
    that have a value are taken instead. Paper: 100 or 1000."""
    label_columns: tuple[str, ...] = ()
    """Factors or columns that are the labels, the first for the first dimension; by default
    every column whose name begins with label or, without any, every factor."""
    label_loss: LabelLoss = "xent"
    """L: xent, l2 to labels (of a multiple that is learnt), sigmoid_l2 to y/n, covariance
    of each dimension with other labels, or the likelihood of y by its distance on the line to
    learnt places of the values (embedding; ordered_embedding at equal distances). The paper's
    γ is for sums over the batch in xent and l2, and for means in the others."""
    label_weight: Schedule = constant(640.0)
    """Weight γ of the labels; 640 is 10 summed over a batch of 64. 0:640:5000 ramps it up."""
    label_start: int = 0
    """First step at which labels count; later ones leave them to fine-tune what was learnt."""
    label_seed: int = 0
    """Decides which images have labels and how these are corrupted."""
    corruption: Corruption = Corruption()
    """What is wrong with the labels, to see how much of it a method bears."""

    main_knob = "labels"

    @classmethod
    def around(cls, inner: str) -> type[Method]:
        return twin_of(method_named(inner or "beta_vae"))

    def __post_init__(self) -> None:
        super().__post_init__()
        owner_of_encoder(self.players)
        if self.label_start < 0:
            raise ConfigError(f"label_start must be 0 or more, found {self.label_start}")
        _ = self.supervision  # refuses what no labels could be drawn by

    @property
    def supervision(self) -> FewLabels:
        return FewLabels(
            self.label_columns,
            self.labels,
            self.label_seed,
            self.corruption,
            unlabelled=super().supervision,
        )

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)  # type: ignore[safe-super]
        names = self.supervision.names_among(data.column_sizes)
        size = sum(part.size for part in super().code_parts(nets, data))
        if size != self.latent_dim:
            raise ConfigError(
                f"{catalog.name_of(self)}: labels need a code of latent_dim = {self.latent_dim} "
                f"numbers, and this one has {size}"
            )
        if len(names) > size:
            raise ConfigError(
                f"{len(names)} labels ({', '.join(names)}) need a latent_dim of {len(names)} or "
                f"more, found {size}; fewer labels are named by label_columns"
            )
        sizes = self.supervision.sizes_among(data.column_sizes)
        nets.label_head = HEADS[self.label_loss](sizes)
        return nets

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        """Return the parts of the method's code, the first dimensions held to the labels."""
        names = self.supervision.names_among(data.column_sizes)
        held = [Part(1, factor=name) for name in names]
        rest = self.latent_dim - len(held)
        return (*held, Part(rest)) if rest else tuple(held)

    @property
    def players(self) -> dict[str, Player]:
        players = super().players  # type: ignore[safe-super]
        if self.label_loss not in LEARNING:
            return players
        name = owner_of_encoder(players)
        owner = players[name]
        return players | {name: owner._replace(owns=(*owner.owns, "label_head"))}

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Move]:
        owner = owner_of_encoder(self.players)
        waiting = step >= self.label_start
        moves = super().turns(nets, batch.unlabelled, step)  # type: ignore[safe-super]
        for move in moves:
            if waiting and owner in {turn.player for turn in turns_of(move)}:
                waiting = False
                move = with_loss_of(owner, move, lambda loss: self.guided(loss, nets, batch, step))
            yield move

    def guided(self, loss: Loss, nets: Networks, batch: LabelledBatch, step: int) -> Loss:
        """Return a loss with that of the labels added."""
        codes = self.encode(nets, batch.images).float()
        labels = nets.label_head(codes, batch.labels)
        weight = self.label_weight.at(step - self.label_start)
        return loss.plus(weight * labels, labels=labels)


def owner_of_encoder(players: dict[str, Player]) -> str:
    """Return the name of the player that trains the encoder."""
    for name, player in players.items():
        if "encoder" in player.owns:
            return name
    raise ConfigError("nobody trains an encoder in this method that labels could guide")


@functools.cache
def twin_of(method: type[Method]) -> type[Method]:
    """Return the class with the settings and formulas of a method and of its labels."""
    inner, types = dataclasses.fields(method), field_types(method)
    shared = {field.name for field in dataclasses.fields(Method)}
    for field in dataclasses.fields(Twin):
        if field.name not in shared and field.name in {f.name for f in inner}:
            raise ConfigError(
                f"{catalog.name_of(method)} has labels of its own (its setting {field.name}) "
                f"and cannot be given others"
            )
    # The method's fields once more, so that its own defaults go before those of Method.
    kind = dataclasses.make_dataclass(
        f"SemiSupervised{method.__name__}",
        [(field.name, types[field.name], copy.copy(field)) for field in inner],
        bases=(Twin, method),
        namespace={"catalog_name": f"semi_supervised+{catalog.name_of(method)}"},
        frozen=True,
        kw_only=True,
    )
    kind.__doc__ = method.__doc__
    return kind


def SemiSupervised(method: M, **settings: Any) -> M:  # noqa: N802 (stands for a class)
    """Return the twin of a method, with the settings of `Twin`.

    >>> SemiSupervised(BetaVAE(beta=4), labels=100)  # doctest: +SKIP
    """
    values = {field.name: getattr(method, field.name) for field in dataclasses.fields(method)}
    twin: Any = twin_of(type(method))
    return cast(M, twin(**values, **settings))
