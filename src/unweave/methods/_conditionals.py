"""Distributions of variables that depend on each other, and values of them.

Values are (line, size): a latent's numbers, a class as probabilities or one-hot, a labelled number
by itself. What an image shows stands among them, under `image`, as its features.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from unweave.methods._dependencies import IMAGE, Dependencies, Variable
from unweave.probability.gaussian import DiagonalGaussian

EVEN = math.sqrt(3)
"""Numbers spread evenly from -√3 to √3 have deviation 1, as their prior has."""
NARROWEST = math.log(0.1**2)
"""Log-variance below which no number is known: few labels would make it vanish."""

Values = dict[str, Tensor]
"""Values by the names of variables."""


class Conditionals(nn.Module):
    """q or p of each variable: the parameters of its distribution, from what it depends on."""

    among: Dependencies

    def __init__(
        self,
        among: Dependencies,
        depends_on: Mapping[str, Sequence[str]],
        features: int,
        hidden: int,
    ):
        super().__init__()
        self.among, self.depends_on = among, dict(depends_on)
        self.layers = nn.ModuleList()
        for variable in among.variables:
            names = self.depends_on[variable.name]
            inputs = sum(features if name == IMAGE else among[name].size for name in names)
            self.layers.append(_layers(variable, inputs, hidden) if names else nn.Identity())

    def forward(self, variable: Variable, values: Values) -> Tensor | None:
        """Return the parameters of a variable; None where it depends on nothing."""
        names = self.depends_on[variable.name]
        if not names:
            return None
        layers = self.layers[self.among.names.index(variable.name)]
        parameters: Tensor = layers(torch.cat([values[name] for name in names], dim=1)).float()
        return parameters


def _layers(variable: Variable, inputs: int, hidden: int) -> nn.Module:
    outputs = variable.size if variable.kind == "class" else 2 * variable.size
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(inplace=True), nn.Linear(hidden, outputs)
    )


def gaussian(variable: Variable, parameters: Tensor) -> DiagonalGaussian:
    """Return the Gaussian of a latent or a number."""
    found = DiagonalGaussian.from_outputs(parameters)
    if variable.kind == "latent":
        return found
    return DiagonalGaussian(found.mean, found.logvar.clamp_min(NARROWEST))


def log_density(variable: Variable, parameters: Tensor | None, value: Tensor) -> Tensor:
    """Return log q or log p of values, (line,); without parameters that of the prior."""
    if variable.kind == "class":
        if parameters is None:
            return value.sum(1) * -math.log(variable.size)
        return (value * parameters.log_softmax(1)).sum(1)
    if parameters is None:
        zero = torch.zeros_like(value)
        return DiagonalGaussian(zero, zero).log_density(value).sum(1)
    return gaussian(variable, parameters).log_density(value).sum(1)


def divergence_of(variable: Variable, q: Tensor, p: Tensor | None) -> Tensor:
    """Return KL(q ‖ p) of a variable by parameters, (line,); without those of p, to the prior."""
    if variable.kind == "class":
        log_q = q.log_softmax(1)
        log_p = p.log_softmax(1) if p is not None else -math.log(variable.size)
        return (log_q.exp() * (log_q - log_p)).sum(1)
    found = gaussian(variable, q)
    kl = found.kl_to_prior() if p is None else found.kl_to(gaussian(variable, p))
    return kl.sum(1)


def every_combination(variables: list[Variable], times: int, device: torch.device) -> Values:
    """Return lines with all combinations of classes, the whole list repeated so many times."""
    grid = torch.cartesian_prod(*(torch.arange(v.size) for v in variables)) if variables else None
    if grid is None:
        return {}
    columns = grid.view(-1, len(variables)).repeat(times, 1).T.to(device)
    return {
        v.name: one_hot(column, v.size).float()
        for v, column in zip(variables, columns, strict=True)
    }


def by_what_is_told(
    among: Dependencies, names: Sequence[str], labels: Tensor
) -> Iterator[tuple[Tensor, Values]]:
    """Yield the rows that have the same labels missing, and the values of the others by name.

    `labels` (row, name) are counted from 0, or in [0, 1], and not a number where missing.
    """
    patterns, pattern_of_row = (~labels.isnan()).unique(dim=0, return_inverse=True)
    for index, known in enumerate(patterns):
        rows = torch.nonzero(pattern_of_row == index)[:, 0]
        yield (
            rows,
            {
                name: told_value(among[name], labels[rows, column])
                for column, name in enumerate(names)
                if known[column]
            },
        )


def told_value(variable: Variable, labels: Tensor) -> Tensor:
    """Return labels as values of a variable, (row, size)."""
    if variable.kind == "class":
        return one_hot(labels.long(), variable.size).float()
    share = labels / max(variable.values - 1, 1)
    return (EVEN * (2 * share - 1))[:, None]
