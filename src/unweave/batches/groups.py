"""Groups of images that share something: a class, an identity, any factor or column."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from unweave import catalog
from unweave.batches._batch import Batch, Supervision, draw_rows, lacks, remembered, tensor_of
from unweave.batches._rows import ValueGroups, rows_by_value
from unweave.data import FactorImages

EXAMPLE = "file,group\nanna_1.png,anna   (images with the same group share their content)"
TURNS_EXAMPLE = "file,shape,color\n001.png,star,red   (several images have each value)"
COLUMNS = ("group", "label")
"""What rows are grouped by if nothing is named and there is such a column."""


@dataclass(frozen=True)
class GroupBatch(Batch):
    """Images of which each `group_size` in a row share a value."""

    group_size: int
    groups: Tensor
    """(image,): number of the group each image is in: 0, 0, …, 1, 1, …"""
    values: Tensor
    """(image,): the value it shares with its group; two groups may share it."""


@dataclass(frozen=True)
class Groups(Supervision):
    """Groups of images that share a factor's value."""

    column: str = ""
    """Factor or column whose value they share; see `shared_column` for what "" means."""
    size: int = 5
    """Images of a group."""
    vary_size: bool = False
    """Whether each step draws the size of its groups, from 1 to `size`."""
    distinct: bool = False
    """Whether no two groups of a batch share a value; a batch may then be smaller."""

    def check(self, data: FactorImages) -> None:
        if len(self._groups(data)) < 2 and self.distinct:
            name = self.class_column(data)
            raise lacks(data, f"has two images of one value of {name!r} only", EXAMPLE)

    def class_column(self, data: FactorImages) -> str:
        return shared_column(data, self.column)

    def draw(self, data: FactorImages, size: int, rng: Generator) -> GroupBatch:
        """Draw as many whole groups as there is room for, at least one."""
        groups = self._groups(data)
        members = int(rng.integers(1, self.size + 1)) if self.vary_size else self.size
        count = max(size // members, 1)
        if self.distinct:
            chosen = groups.draw_distinct(min(count, len(groups)), rng)
        else:
            chosen = draw_rows(len(groups), count, rng, groups.reached_by_groups)
        rows = groups.draw_apart(chosen, members, rng).reshape(-1)
        return GroupBatch(
            tensor_of(data, rows, rng),
            len(data),
            group_size=members,
            groups=torch.arange(len(chosen)).repeat_interleave(members),
            values=torch.from_numpy(np.repeat(groups.values[chosen], members)),
        )

    def _groups(self, data: FactorImages) -> ValueGroups:
        name = self.class_column(data)
        groups = remembered(data, ("group", name), lambda: rows_by_value(data, name, least=2))
        if len(groups) == 0:
            raise lacks(data, f"has no two images with the same {name!r}", EXAMPLE)
        return groups


@dataclass(frozen=True)
class FactorGroupBatch(GroupBatch):
    """Groups of images that share the value of the factor whose turn it is."""

    factor: int
    """Which of the factors it is, counted as `GroupsInTurn.names` has them."""


@dataclass(frozen=True)
class GroupsInTurn(Supervision):
    """Groups of images that share a factor's value; each step has the next factor."""

    columns: tuple[str, ...] = ()
    """Factors or columns that take turns; by default every factor with a list of values."""
    size: int = 5
    """Images of a group. No two groups of a batch share a value."""
    turn: int = 0
    """Whose turn it is, counted on without end."""

    def names(self, data: FactorImages) -> tuple[str, ...]:
        """Return the factors that take turns."""
        return self.columns or tuple(f.name for f in data.factor_list if f.size > 1)

    def check(self, data: FactorImages) -> None:
        names = self.names(data)
        if not names:
            raise lacks(data, "has no factors that could take turns", TURNS_EXAMPLE)
        for name in names:
            self._groups_of(name).check(data)

    def at(self, step: int) -> "GroupsInTurn":
        return replace(self, turn=step)

    def draw(self, data: FactorImages, size: int, rng: Generator) -> FactorGroupBatch:
        names = self.names(data)
        factor = self.turn % len(names)
        batch = self._groups_of(names[factor]).draw(data, size, rng)
        return FactorGroupBatch(**vars(batch), factor=factor)

    def _groups_of(self, name: str) -> Groups:
        return Groups(name, self.size, distinct=True)


def shared_column(data: FactorImages, name: str = "") -> str:
    """Return what images are grouped by: `name`, or else the first of these that there is.

    A column called group, one called label, the first factor whose values have no
    order (shape, digit, person), the factor with fewest values.
    """
    if name:
        catalog.check_name(name, (*data.factor_names, *data.columns), f"column of {data.name}")
    else:
        name = _default_column(data)
    factor = (
        next((f for f in data.factor_list if f.name == name), None) or data.columns[name].factor
    )
    if factor.continuous:
        raise lacks(data, f"has no groups in {name!r}, which is continuous", EXAMPLE)
    return name


def _default_column(data: FactorImages) -> str:
    known = (*data.factor_names, *data.columns)
    for name in COLUMNS:
        if name in known:
            return name
    discrete = [factor for factor in data.factor_list if factor.size > 1]
    if not discrete:
        raise lacks(data, "has neither a column 'group' nor a factor to group by", EXAMPLE)
    categorical = [factor for factor in discrete if factor.categorical]
    return (categorical or sorted(discrete, key=lambda factor: factor.size))[0].name
